// netlib's level-3 testers and LAPACK's tester of linear equations (Debian: libblas-test, liblapack-test), as they
// stand, with the drop-in preloaded: at their default thresholds and our default settings, where every call is small
// and must be passed on unharmed, and again with levels forced from size 2 on.
//
// The testers judge each element by itself, as a classical product may be judged. Sums of a fast algorithm mix
// elements, so that with forced levels the ratio may be larger by a factor per level; it is bounded by what is stated
// here. With 65 x 65 as the largest size, ratios up to 20 (one level), 20 (two) and 65 (three) were seen.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "api/blas/preloaded.hpp"

namespace {

using heptad::blas_testing::count;
using heptad::blas_testing::Outcome;
using heptad::blas_testing::preloaded;
using heptad::blas_testing::run_in;

const std::filesystem::path kTesters = HEPTAD_LIBRARY_FOLDER "/blas", kLapackTesters = HEPTAD_LIBRARY_FOLDER "/lapack";

std::filesystem::path work_folder() {
    return std::filesystem::temp_directory_path() / ("heptad_netlib_" + std::to_string(getpid()));
}

std::string contents(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

struct Forced {
    int levels;
    const char* threshold;
};

/// The tester's own input; with other sizes and threshold where levels are forced.
std::string input_of(const std::string& name, bool is_complex, const Forced* forced) {
    std::string text = contents(kTesters / name);
    if (forced != nullptr) {
        text = std::regex_replace(text, std::regex("16\\.0"), forced->threshold);
        text = std::regex_replace(text, std::regex("\n6 +NUMBER OF VALUES OF N\n"),
                                  is_complex ? "\n4 NUMBER OF VALUES OF N\n" : "$&");  // three times the cases
        text = std::regex_replace(text, std::regex("\n[0-9 ]+VALUES OF N\n"),
                                  is_complex ? "\n1 9 33 65 VALUES OF N\n" : "\n1 2 9 32 33 65 VALUES OF N\n");
    }
    return text;
}

void run_level_3(const std::string& tester, const std::string& input, const std::string& settings, char type,
                 const Forced* forced) {
    if (!std::filesystem::exists(kTesters / tester)) {
        GTEST_SKIP() << "netlib's testers are not here (Debian: libblas-test)";
    }
    const std::filesystem::path folder = work_folder();
    std::filesystem::create_directories(folder);
    const bool is_cblas = tester.find("cblat") != std::string::npos, is_complex = type == 'c' || type == 'z';
    std::ofstream(folder / "input") << input_of(input, is_complex, forced);
    // The Fortran ones write their summary to a file, those of CBLAS to standard output.
    const Outcome run =
        run_in(folder, settings + (kTesters / tester).string() + " < input && cat *.out 2>/dev/null; true");
    std::filesystem::remove_all(folder);
    const std::size_t routines = is_complex ? 9 : 6;
    EXPECT_EQ(count(run.text, "PASSED THE TESTS OF ERROR-EXITS"), routines) << run.text;
    EXPECT_EQ(count(run.text, "PASSED THE") - count(run.text, "PASSED THE TESTS OF ERROR-EXITS"),
              is_cblas ? 2 * routines : routines)
        << run.text;
    EXPECT_EQ(count(run.text, "SUSPECT") + count(run.text, "FAILED"), 0U) << run.text;
}

class netlib_testers : public ::testing::TestWithParam<char> {};

std::string name_of(const ::testing::TestParamInfo<char>& info) {
    return {info.param};
}

INSTANTIATE_TEST_SUITE_P(all_types, netlib_testers, ::testing::Values('s', 'd', 'c', 'z'), name_of);

/// CBLAS's are linked so that only netlib's own library can serve them. There cblas_dgemm calls dgemm_ by name.
const char* const kNetlibsOwn = "LD_LIBRARY_PATH=" HEPTAD_LIBRARY_FOLDER "/blas ";

}  // namespace

TEST_P(netlib_testers, fortran_at_default_settings) {
    run_level_3(std::string("xblat3") + GetParam(), std::string(1, GetParam()) + "blat3.in", preloaded(""), GetParam(),
                nullptr);
}

TEST_P(netlib_testers, cblas_at_default_settings) {
    if (!std::filesystem::exists(kTesters / "libblas.so.3")) {
        GTEST_SKIP() << "netlib's own BLAS is not here (Debian: libblas3)";
    }
    run_level_3(std::string("x") + GetParam() + "cblat3", std::string(1, GetParam()) + "in3",
                kNetlibsOwn + preloaded(""), GetParam(), nullptr);
}

TEST_P(netlib_testers, fortran_and_cblas_with_forced_levels) {
    const bool has_netlib = std::filesystem::exists(kTesters / "libblas.so.3");
    for (const Forced& forced : {Forced{1, "64.0"}, Forced{2, "96.0"}, Forced{3, "192.0"}}) {
        const std::string settings =
            preloaded("HEPTAD_MIN_SIZE=2 HEPTAD_THREADS=1 HEPTAD_LEVELS=" + std::to_string(forced.levels));
        run_level_3(std::string("xblat3") + GetParam(), std::string(1, GetParam()) + "blat3.in", settings, GetParam(),
                    &forced);
        if (has_netlib && forced.levels == 2 && !IsSkipped()) {  // other entries of the same products
            run_level_3(std::string("x") + GetParam() + "cblat3", std::string(1, GetParam()) + "in3",
                        kNetlibsOwn + settings, GetParam(), &forced);
        }
    }
}

TEST(lapack_tester, linear_equations_of_all_groups_with_and_without_forced_levels) {
    const auto tester = kLapackTesters / "xlintstd";
    if (!std::filesystem::exists(tester)) {
        GTEST_SKIP() << "LAPACK's testers are not here (Debian: liblapack-test)";
    }
    const auto passed = [&](std::string settings) {
        settings += " OPENBLAS_NUM_THREADS=1 ";  // more would wait for each other on a busy machine
        const Outcome run =
            run_in(work_folder(), settings + tester.string() + " < " + (kLapackTesters / "dtest.in").string());
        std::filesystem::remove_all(work_folder());
        EXPECT_EQ(run.exit_code, 0) << settings;
        EXPECT_EQ(count(run.text, "failed to pass"), 0U) << settings << run.text;
        return count(run.text, "passed the threshold") + count(run.text, "passed the tests of the error exits");
    };
    const std::size_t groups = passed("");
    EXPECT_GT(groups, 50U);
    EXPECT_EQ(passed(preloaded("")), groups);
    EXPECT_EQ(passed(preloaded("HEPTAD_MIN_SIZE=16 HEPTAD_LEVELS=1")), groups);
}
