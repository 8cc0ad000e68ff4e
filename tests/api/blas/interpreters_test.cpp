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

/// The first of these that has the module: Debian's, or that of a virtual environment.
std::string python_with(const std::string& modules) {
    for (const char* python : {"python3", "/usr/bin/python3"}) {
        if (works(std::string(python) + " -c 'import " + modules + "'")) {
            return python;
        }
    }
    return "";
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
for dtype in (np.float32, np.float64):
    for m, k, n in ((64, 64, 64), (65, 130, 77), (200, 33, 96)):
        a = r.integers(-4, 5, (m, k)); b = r.integers(-4, 5, (k, n))
        x = a.astype(dtype); y = b.astype(dtype)
        assert np.array_equal(x @ y, a @ b)
        assert np.array_equal(np.asfortranarray(x) @ y, a @ b)
        assert np.array_equal(np.dot(y.T, x.T), (a @ b).T)
        assert np.array_equal(x @ x.T, a @ a.T)
        assert np.array_equal(x[::2, ::3] @ y[::3, ::2], a[::2, ::3] @ b[::3, ::2])
)";

}  // namespace

TEST(interpreters, numpy_multiplies_exactly_with_forced_levels) {
    const std::string python = python_with("numpy");
    if (python.empty()) {
        GTEST_SKIP() << "there is no NumPy (Debian: python3-numpy)";
    }
    const Outcome outcome = run(preloaded(kForced) + python + " -c '" + kNumpyProducts + "'");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
    EXPECT_GT(count(outcome.text, "levels=strassen,strassen"), 4U) << outcome.text;
}

TEST(interpreters, numpys_own_tests_of_products_and_linear_algebra_pass) {
    const std::string python = python_with("numpy, pytest, hypothesis");
    if (python.empty()) {
        GTEST_SKIP() << "there is no NumPy with pytest (Debian: python3-numpy python3-pytest python3-hypothesis)";
    }
    // From size 16 on: their tolerances for smaller ones are those of a classical product.
    for (const char* settings : {"", "HEPTAD_MIN_SIZE=16 HEPTAD_LEVELS=1"}) {
        passes_as_without_it(python, "numpy.linalg.tests.test_linalg", settings);
        passes_as_without_it(python, "numpy.core.tests.test_multiarray -k 'matmul or MatMul'", settings);
    }
}

TEST(interpreters, scipys_own_tests_of_blas_and_decompositions_pass) {
    const std::string python = python_with("scipy.linalg, pytest");
    if (python.empty()) {
        GTEST_SKIP() << "there is no SciPy with pytest (Debian: python3-scipy python3-pytest)";
    }
    passes_as_without_it(python,
                         "scipy.linalg.tests.test_blas scipy.linalg.tests.test_decomp_lu "
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
