// What the environment asks of the drop-in (docs/drop-in.md), which is read at the first call of a process: each in a
// child that has made none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "api/blas/made_up_blas.hpp"
#include "citizen/child.hpp"

namespace {

using Settings = std::vector<std::pair<const char*, const char*>>;

/// How the child ended: 0 if `large` of the two calls, 16 and 64 wide, were the library's; 100 if a result is wrong.
std::string calls_passed_on(const Settings& settings) {
    return heptad::citizen::in_child([&] {
        setenv("HEPTAD_MIN_SIZE", "32", 1);
        made_up_calls.threads = 1;
        for (const auto& [name, value] : settings) {
            setenv(name, value, 1);
        }
        for (const int n : {16, 64}) {
            const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
            const std::vector<double> a(size, 2), b(size, 3);
            std::vector<double> c(size);
            const double one = 1, zero = 0;
            dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, c.data(), &n, 1, 1);
            if (c != std::vector<double>(size, 6.0 * n)) {
                return 100;
            }
        }
        return made_up_calls.dgemm.load();
    });
}

std::string contents(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

}  // namespace

TEST(knobs, large_calls_are_ours_from_the_smallest_size_on) {
    EXPECT_EQ(calls_passed_on({}), "exit 1");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_MIN_SIZE", "16"}}), "exit 0");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_MIN_SIZE", "65"}}), "exit 2");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_MIN_SIZE", ""}}), "exit 2") << "the table's sizes";
}

TEST(knobs, off_strict_no_levels_and_no_workspace_pass_everything_on) {
    EXPECT_EQ(calls_passed_on({{"HEPTAD_OFF", "1"}}), "exit 2");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_OFF", "0"}}), "exit 1");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_ACCURACY", "strict"}}), "exit 2");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_ACCURACY", "fast"}}), "exit 1");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_LEVELS", "0"}}), "exit 2");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_WORKSPACE", "0"}}), "exit 2");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_WORKSPACE", "64M"}}), "exit 1");
}

TEST(knobs, complex_calls_are_ours_and_passed_on_alike) {
    const auto passed_on = [](const char* name, const char* value) {
        return heptad::citizen::in_child([&] {
            setenv("HEPTAD_MIN_SIZE", "32", 1);
            setenv(name, value, 1);
            const int n = 32;
            const std::complex<double> one = 1, zero = 0;
            const std::vector<std::complex<double>> a(32 * 32, {1, 2});
            std::vector<std::complex<double>> c(a.size());
            zgemm_("N", "C", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n, 1, 1);
            return c == std::vector<std::complex<double>>(a.size(), 5.0 * n) ? made_up_calls.zgemm.load() : 100;
        });
    };
    EXPECT_EQ(passed_on("HEPTAD_ACCURACY", "balanced"), "exit 0");
    EXPECT_EQ(passed_on("HEPTAD_MIN_SIZE", "33"), "exit 1");
    EXPECT_EQ(passed_on("HEPTAD_MIN_SIZE", ""), "exit 1") << "the table's size";
    EXPECT_EQ(passed_on("HEPTAD_OFF", "1"), "exit 1");
    EXPECT_EQ(passed_on("HEPTAD_ACCURACY", "strict"), "exit 1");
    EXPECT_EQ(passed_on("HEPTAD_LEVELS", "0"), "exit 1");
    EXPECT_EQ(passed_on("HEPTAD_WORKSPACE", "0"), "exit 1");
}

TEST(knobs, values_that_mean_nothing_are_told_and_left_out) {
    for (const auto& [name, value] : Settings{{"HEPTAD_ACCURACY", "good"},
                                              {"HEPTAD_THREADS", "many"},
                                              {"HEPTAD_MIN_SIZE", "32x"},
                                              {"HEPTAD_LEVELS", "-1"},
                                              {"HEPTAD_WORKSPACE", "8Q"},
                                              {"HEPTAD_ALGORITHM", "coppersmith"},
                                              {"HEPTAD_ALGORITHM", "chaining"},  // over GF(2)
                                              {"HEPTAD_DEVICE", "tpu"},
                                              {"HEPTAD_TUNE_FILE", "/no/such/file"},
                                              {"HEPTAD_TUNE_FILE", "/proc/self/status"}}) {  // holds something else
        const auto file = std::filesystem::temp_directory_path() / ("heptad_knobs_" + std::to_string(getpid()));
        const std::string ended = heptad::citizen::in_child([&, name = name, value = value] {
            if (std::freopen(file.c_str(), "w", stderr) == nullptr) {
                return 99;
            }
            setenv(name, value, 1);
            const int n = 8;
            const std::vector<double> a(64, 1);
            std::vector<double> c(64);
            const double one = 1;
            dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &one, c.data(), &n, 1, 1);
            return c[0] == 8 ? 0 : 1;
        });
        const std::string said = contents(file);
        std::filesystem::remove(file);
        EXPECT_EQ(ended, "exit 0");
        EXPECT_NE(said.find(std::string("heptad: ") + name + " is '" + value + "', which is ignored; set it to "),
                  std::string::npos)
            << said;
    }
}

TEST(knobs, without_the_tune_file_that_is_named_large_calls_are_ours_by_the_built_in_figures) {
    EXPECT_EQ(calls_passed_on({{"HEPTAD_TUNE_FILE", "/no/such/file"}}), "exit 1");
    EXPECT_EQ(calls_passed_on({{"HEPTAD_TUNE_FILE", "/proc/self/status"}, {"HEPTAD_LEVELS", "2"}}), "exit 1");
}

TEST(knobs, openblas_with_openmp_has_as_many_threads_as_openmp_says_now) {
    for (const bool is_of_openmp : {false, true}) {
        EXPECT_EQ(heptad::citizen::in_child([&] {
                      setenv("HEPTAD_MIN_SIZE", "32", 1);
                      made_up_calls.threads = 1;
                      made_up_calls.build = is_of_openmp ? 2 : 1;
                      const int n = 32;
                      const std::vector<double> a(32 * 32, 1);
                      std::vector<double> c(a.size());
                      const double one = 1, zero = 0;
                      dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n, 1, 1);
                      return 10 * made_up_calls.openmp_threads_asked + made_up_calls.threads_asked;
                  }),
                  is_of_openmp ? "exit 10" : "exit 1");
    }
}

TEST(knobs, the_log_has_a_line_per_shape_with_its_calls_and_plan) {
    const auto file = std::filesystem::temp_directory_path() / ("heptad_log_" + std::to_string(getpid()));
    EXPECT_EQ(calls_passed_on({{"HEPTAD_LOG", file.c_str()},
                               {"HEPTAD_LEVELS", "2"},
                               {"HEPTAD_THREADS", "3"},
                               {"HEPTAD_ALGORITHM", "strassen"}}),
              "exit 3")
        << "two more calls: the library is timed";
    const std::string said = contents(file);
    std::filesystem::remove(file);
    EXPECT_EQ(said.find("heptad: dgemm_ 64x64x64: 1 call, cpu threads=3 levels=strassen,strassen leaf=heptad, "), 0U)
        << said;
    EXPECT_NE(said.find(", saved "), std::string::npos) << said;
    EXPECT_EQ(said.find("16x16"), std::string::npos) << said;
}

TEST(knobs, a_log_that_cannot_be_written_is_told) {
    const auto file = std::filesystem::temp_directory_path() / ("heptad_knobs_" + std::to_string(getpid()));
    EXPECT_EQ(heptad::citizen::in_child([&] {
                  if (std::freopen(file.c_str(), "w", stderr) == nullptr) {
                      return 99;
                  }
                  setenv("HEPTAD_MIN_SIZE", "32", 1);
                  setenv("HEPTAD_LOG", "/no/such/folder/log", 1);
                  const int n = 32;
                  const std::vector<double> a(32 * 32, 1);
                  std::vector<double> c(a.size());
                  const double one = 1;
                  dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &one, c.data(), &n, 1, 1);
                  return c[0] == 32 ? 0 : 1;
              }),
              "exit 0");
    const std::string said = contents(file);
    std::filesystem::remove(file);
    EXPECT_NE(said.find("heptad: HEPTAD_LOG is '/no/such/folder/log', which cannot be written"), std::string::npos)
        << said;
}

TEST(knobs, a_device_that_is_not_there_is_left_out_and_the_log_says_why) {
    if (std::filesystem::exists("/dev/nvidiactl")) {
        GTEST_SKIP() << "there is one; device_test has the rest";
    }
    const auto file = std::filesystem::temp_directory_path() / ("heptad_log_" + std::to_string(getpid()));
    EXPECT_EQ(calls_passed_on({{"HEPTAD_LOG", file.c_str()}, {"HEPTAD_DEVICE", "cuda"}}), "exit 3");
    const std::string said = contents(file);
    std::filesystem::remove(file);
    EXPECT_EQ(said.find("heptad: HEPTAD_DEVICE=cuda has no effect: "), 0U) << said;
    EXPECT_EQ(said.find("no effect"), said.rfind("no effect")) << said;
    EXPECT_NE(said.find("heptad: dgemm_ 64x64x64: 1 call, cpu "), std::string::npos) << said;
}

TEST(knobs, what_was_measured_on_this_machine_decides_about_levels) {
    const auto folder = std::filesystem::temp_directory_path() / ("heptad_tuned_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    for (const int error_growth : {5, 24}) {
        std::ofstream(folder / (std::to_string(error_growth) + ".json"))
            << R"({"key": "any", "machines": [{"cpu": "any", "threads": 1, "measured": true,
        "combine_bytes_per_s": 1e10, "scan_bytes_per_s": 1e10, "call_s": 1e-6, "leaves": [], "measured_plans": [
        {"type": "f64", "m": 2048, "k": 2048, "n": 2048, "levels": [], "leaf": "openblas-mt", "relative_time": 1.0,
         "std_error": 0.0, "rounds": 7, "modelled_time": 1.0},
        {"type": "f64", "m": 2048, "k": 2048, "n": 2048, "levels": ["winograd", "winograd", "winograd"],
         "leaf": "heptad", "relative_time": 0.5, "std_error": 0.0, "rounds": 7, "modelled_time": 1.0,
         "error_growth": )"
            << error_growth << "}]}]}";
    }
    const auto levels_with = [&](const char* tune_file) {
        EXPECT_EQ(heptad::citizen::in_child([&] {
                      setenv("HEPTAD_MIN_SIZE", "2048", 1);         // whatever this processor's table says
                      setenv("XDG_CACHE_HOME", folder.c_str(), 1);  // where none is
                      *tune_file != '\0' ? setenv("HEPTAD_TUNE_FILE", tune_file, 1) : unsetenv("HEPTAD_TUNE_FILE");
                      setenv("HEPTAD_LOG", (folder / "log").c_str(), 1);
                      made_up_calls.threads = 1;
                      const int n = 2048;
                      const std::vector<double> a(std::size_t{2048} * 2048, 2);
                      std::vector<double> c(a.size());
                      const double one = 1, zero = 0;
                      dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n, 1, 1);
                      return c == std::vector<double>(a.size(), 4.0 * n) ? 0 : 1;
                  }),
                  "exit 0");
        const std::string said = contents(folder / "log");
        std::filesystem::remove(folder / "log");
        const std::size_t from = std::min(said.find("levels="), said.size());
        return said.substr(from, said.find(" leaf") - from);
    };
    const std::string by_table = levels_with("");
    EXPECT_EQ(levels_with((folder / "5.json").c_str()), "levels=2x2x2-7-accurate,2x2x2-7-accurate,2x2x2-7-accurate");
    EXPECT_NE(by_table, "levels=2x2x2-7-accurate,2x2x2-7-accurate,2x2x2-7-accurate");
    // Its error is beyond what balanced allows: so nothing is known of those that are not.
    EXPECT_EQ(levels_with((folder / "24.json").c_str()), by_table);
    std::filesystem::remove_all(folder);
}
