// The built heptad, one of whose allocations fails: it ends with exit code 4 and one sentence, or it does what was
// asked. A library that is preloaded (failing_shim.cpp) lets them fail.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

#include "citizen/counts.hpp"
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using Words = std::vector<std::string>;
constexpr std::int64_t kSample = 10, kFull = 600;

class CommandShortOfMemory : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        write_matrix("A.npy", a_);
        write_matrix("B.npy", b_);
        expected_ = product(a_, b_);
        for (const char* const name : {"HEPTAD_OPENBLAS", "HEPTAD_BLIS", "HEPTAD_MKL"}) {
            ::setenv(name, "none", 1);
        }
    }
    void TearDown() override {
        disarm();
        HeptadProcess::TearDown();
    }

    static void disarm() {
        for (const char* const name :
             {"LD_PRELOAD", "HEPTAD_SHIM_FAIL_AT", "HEPTAD_SHIM_FOR_GOOD", "HEPTAD_SHIM_COUNT_FILE"}) {
            ::unsetenv(name);
        }
    }

    Outcome short_of_memory(const Words& words, std::int64_t number, bool for_good) {
        ::setenv("LD_PRELOAD", HEPTAD_SHIM, 1);
        ::setenv("HEPTAD_SHIM_FAIL_AT", std::to_string(number).c_str(), 1);
        if (for_good) {
            ::setenv("HEPTAD_SHIM_FOR_GOOD", "1", 1);
        }
        Outcome outcome = heptad(words);
        disarm();
        return outcome;
    }

    std::int64_t allocations_of(const Words& words) {
        const std::string count_file = folder_.string() + ".count";
        ::setenv("LD_PRELOAD", HEPTAD_SHIM, 1);
        ::setenv("HEPTAD_SHIM_COUNT_FILE", count_file.c_str(), 1);
        const Outcome outcome = heptad(words);
        disarm();
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        std::ifstream file(count_file);
        std::int64_t count = 0;
        file >> count;
        std::filesystem::remove(count_file);
        return count;
    }

    /// `made`: files that the command makes; others it may leave only where it says so.
    void expect_survives(const Words& words, const std::function<bool(const Outcome&)>& is_right, const Words& made) {
        const auto before = folder_contents();
        const std::int64_t allocations = allocations_of(words);
        ASSERT_GT(allocations, 100);
        std::mt19937_64 random(citizen::seed());
        std::int64_t failures = 0;
        for (std::int64_t i = 0; i < citizen::repetitions(kSample, kFull); ++i) {
            const std::int64_t number =
                i < kSample / 3 ? i + 1 : std::uniform_int_distribution<std::int64_t>(1, allocations)(random);
            SCOPED_TRACE(words[0] + ": allocation " + std::to_string(number) + " of " + std::to_string(allocations));
            for (const std::string& name : made) {
                std::filesystem::remove(folder_ / name);
            }
            const Outcome outcome = short_of_memory(words, number, i % 2 == 1);
            if (outcome.exit_code == 0) {
                ASSERT_TRUE(is_right(outcome)) << outcome.out << outcome.err;
                continue;
            }
            ++failures;
            ASSERT_EQ(outcome.exit_code, 4) << outcome.err;
            ASSERT_EQ(outcome.err.rfind("heptad: ", 0), 0U) << outcome.err;
            ASSERT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
        }
        EXPECT_GT(failures, 0);
        for (const std::string& name : made) {
            std::filesystem::remove(folder_ / name);
        }
        EXPECT_TRUE(folder_contents() == before) << "something stayed behind";
    }

    const TestMatrix a_ = integers(40, 36, 1), b_ = integers(36, 44, 2);
    TestMatrix expected_;
};

TEST_F(CommandShortOfMemory, mul_in_memory_is_right_or_exits_4) {
    expect_survives({"mul", "A.npy", "B.npy", "-o", "C.npy", "--levels", "1", "--accuracy", "fast", "--verify"},
                    [&](const Outcome&) { return read_matrix("C.npy") == expected_; }, {"C.npy"});
}

TEST_F(CommandShortOfMemory, mul_through_files_is_right_or_exits_4) {
    expect_survives({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "9K"},
                    [&](const Outcome&) { return read_matrix("C.npy") == expected_; },
                    {"C.npy", "C.npy.partial", "C.npy.journal"});
}

TEST_F(CommandShortOfMemory, verify_passes_what_is_right_or_exits_4) {
    write_matrix("C.npy", expected_);
    expect_survives({"verify", "A.npy", "B.npy", "C.npy"}, [](const Outcome&) { return true; }, {});
}

TEST_F(CommandShortOfMemory, closure_is_right_or_exits_4) {
    heptad_ok({"gen", "bits", "--shape", "80x80", "--density", "0.02", "--type", "bool", "-o", "G.pbm"});
    heptad_ok({"closure", "G.pbm", "-o", "expected.pbm"});
    expect_survives({"closure", "G.pbm", "-o", "R.pbm"},
                    [&](const Outcome&) { return read("R.pbm") == read("expected.pbm"); }, {"R.pbm"});
}

TEST_F(CommandShortOfMemory, plan_and_gen_are_right_or_exit_4) {
    const std::string plan = heptad_ok({"plan", "300", "300", "300", "--threads", "2"});
    expect_survives({"plan", "300", "300", "300", "--threads", "2"},
                    [&](const Outcome& outcome) { return outcome.out == plan; }, {});
    heptad_ok({"gen", "normal", "--shape", "30x20", "--seed", "5", "-o", "expected.npy"});
    expect_survives({"gen", "normal", "--shape", "30x20", "--seed", "5", "-o", "N.npy"},
                    [&](const Outcome&) { return read("N.npy") == read("expected.npy"); }, {"N.npy"});
}

}  // namespace
}  // namespace heptad::testing
