// NumPy, SciPy, R and Octave with the drop-in preloaded: their own tests of products and of linear algebra where they
// have some, and their large products beside those they make without it.
#include <gtest/gtest.h>
#include <unistd.h>

#include "api/blas/preloaded.hpp"

namespace {

using heptad::blas_testing::count;
using heptad::blas_testing::Outcome;
using heptad::blas_testing::preloaded;
using heptad::blas_testing::run_in;

std::filesystem::path work_folder() {
    return std::filesystem::temp_directory_path() / ("heptad_interpreters_" + std::to_string(getpid()));
}

Outcome run(const std::string& command) {
    Outcome outcome = run_in(work_folder(), command);
    std::filesystem::remove_all(work_folder());
    return outcome;
}

bool works(const std::string& command) {
    return run(command).exit_code == 0;
}

/// Debian's packages, and the wheels of PyPI, which keep their BLAS to themselves under other names.
enum class Origin { debian, wheels };

/// Made at the first use, by one process; empty where PyPI cannot be reached.
std::string python_of_wheels() {
    const std::string folder = HEPTAD_WHEELS, python = folder + "/bin/python3";
    const std::string make =
        "python3 -m venv " + folder + " && " + python +
        " -m pip install --quiet --no-compile --retries 1 --disable-pip-version-check --only-binary :all: "
        "numpy scipy pytest hypothesis && touch " +
        folder + "/complete";
    return works("flock " + folder + ".lock sh -c 'test -e " + folder + "/complete || { " + make + "; }'") ? python
                                                                                                           : "";
}

/// Empty: there is none with these modules.
std::string python_with(Origin origin, const std::string& modules) {
    const std::string python = origin == Origin::wheels ? python_of_wheels() : "/usr/bin/python3";
    return !python.empty() && works(python + " -c 'import " + modules + "'") ? python : "";
}

/// Or fails in the same places.
void passes_as_without_it(const std::string& python, const std::string& tests, const std::string& settings) {
    const std::string command =
        "OPENBLAS_NUM_THREADS=1 " + python + " -m pytest -q -p no:cacheprovider --pyargs " + tests;
    const Outcome with = run(preloaded(settings) + command);
    EXPECT_NE(with.text.find(" passed"), std::string::npos) << with.text;
    if (with.exit_code != 0) {
        EXPECT_EQ(count(with.text, "\nFAILED"), count(run(command).text, "\nFAILED")) << with.text;
    }
}

const char* const kForced = "HEPTAD_MIN_SIZE=32 HEPTAD_LEVELS=2 HEPTAD_LOG=1";

/// Integers, so that every product is exact and equal to the definition; and the log says that it was ours.
const char* const kNumpyProducts = R"(
import numpy as np
r = np.random.default_rng(1)
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    for m, k, n in ((64, 64, 64), (65, 130, 77), (200, 33, 96)):
        a = r.integers(-4, 5, (m, k)); b = r.integers(-4, 5, (k, n))
        x = a.astype(dtype); y = b.astype(dtype)
        if dtype in (np.complex64, np.complex128):
            z = x - 2j * x[::-1]; w = a - 2j * a[::-1]
            assert np.array_equal(z @ y, w @ b) and np.array_equal(z @ z.conj().T, w @ w.conj().T)
        assert np.array_equal(x @ y, a @ b)
        assert np.array_equal(np.asfortranarray(x) @ y, a @ b)
        assert np.array_equal(np.dot(y.T, x.T), (a @ b).T)
        assert np.array_equal(x @ x.T, a @ a.T)
        assert np.array_equal(x[::2, ::3] @ y[::3, ::2], a[::2, ::3] @ b[::3, ::2])
)";

}  // namespace

class python_packages : public ::testing::TestWithParam<Origin> {
protected:
    std::string with(const std::string& modules) { return python_with(GetParam(), modules); }
    const char* packages() const {
        return GetParam() == Origin::wheels
                   ? "there are no wheels (python3-venv, and PyPI for numpy, scipy, pytest and hypothesis)"
                   : "there is no such Python (Debian: python3-numpy python3-scipy python3-pytest python3-hypothesis)";
    }
};

INSTANTIATE_TEST_SUITE_P(by, python_packages, ::testing::Values(Origin::debian, Origin::wheels),
                         [](const auto& of) { return of.param == Origin::wheels ? "wheels" : "debian"; });

TEST_P(python_packages, numpy_multiplies_exactly_with_forced_levels) {
    const std::string python = with("numpy");
    if (python.empty()) {
        GTEST_SKIP() << packages();
    }
    const Outcome outcome = run(preloaded(kForced) + python + " -c '" + kNumpyProducts + "'");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
    EXPECT_GT(count(outcome.text, "levels=strassen,strassen"), 8U) << outcome.text;
}

TEST_P(python_packages, numpys_own_tests_of_products_and_linear_algebra_pass) {
    const std::string python = with("numpy, pytest, hypothesis");
    if (python.empty()) {
        GTEST_SKIP() << packages();
    }
    const std::string core = works(python + " -c 'import numpy._core'") ? "numpy._core" : "numpy.core";
    // From size 16 on: their tolerances for smaller ones are those of a classical product. What is passed on is the
    // same in both, so that one of them is enough for it.
    for (const char* settings : {"HEPTAD_MIN_SIZE=16 HEPTAD_LEVELS=1", ""}) {
        if (GetParam() == Origin::wheels && *settings == '\0') {
            break;
        }
        passes_as_without_it(python, "numpy.linalg.tests.test_linalg", settings);
        passes_as_without_it(python, core + ".tests.test_multiarray -k 'matmul or MatMul'", settings);
    }
}

TEST_P(python_packages, scipys_own_tests_of_blas_and_decompositions_pass) {
    const std::string python = with("scipy.linalg, pytest, hypothesis");
    if (python.empty()) {
        GTEST_SKIP() << packages();
    }
    passes_as_without_it(python,
                         "scipy.linalg.tests.test_blas scipy.linalg.tests.test_decomp_ldl "
                         "scipy.linalg.tests.test_decomp_cholesky",
                         "");
}

TEST(interpreters, r_multiplies_as_without_it) {
    if (!works("R --version")) {
        GTEST_SKIP() << "there is no R";
    }
    const std::string program =
        "R --vanilla --slave -e 'set.seed(1); a <- matrix(sample(-4:4, 90000, TRUE), 300); options(matprod = "
        "\"blas\"); "
        "b <- a %*% t(a); cat(sum(b * row(b) * col(b)), \"\\n\")'";
    const Outcome without = run(program), with = run(preloaded("HEPTAD_MIN_SIZE=32 HEPTAD_LEVELS=2") + program);
    EXPECT_EQ(with.exit_code, 0) << with.text;
    EXPECT_EQ(with.text, without.text);
}

TEST(interpreters, octave_multiplies_as_without_it) {
    if (!works("octave-cli --version")) {
        GTEST_SKIP() << "there is no Octave";
    }
    const std::string program =
        "octave-cli --norc --eval 'a = mod(reshape(1:90000, 300, 300) * 7, 9) - 4; b = a * a(:, end:-1:1); "
        "printf(\"%.17g\\n\", sum(sum(b .* ((1:300)(:) * (1:300)))))'";
    const Outcome without = run(program), with = run(preloaded("HEPTAD_MIN_SIZE=32 HEPTAD_LEVELS=2") + program);
    EXPECT_EQ(with.exit_code, 0) << with.text;
    EXPECT_EQ(with.text, without.text);
}
