// Ranks of heptad-mpi that die, or run out of memory, at any call they make to the system or to MPI: from the start of
// MPI over every stage to its end. The job ends within a minute, no process and no half result stays, and --resume
// makes the same bytes as a job that nothing disturbed. A few calls in `make test`, 750 in `make soak`.
#include <chrono>
#include <map>
#include <random>
#include <set>

#include "citizen/counts.hpp"
#include "cli/mpi_process.hpp"

namespace heptad::testing {
namespace {

constexpr int kRanks = 3;
constexpr std::chrono::seconds kLongest{60};  // from the death to the end

class RankDeath : public Mpi {
protected:
    void SetUp() override {
        Mpi::SetUp();
        make_operands(72, 60, 48);
        std::filesystem::create_directory(folder_ / "scratch");
    }

    struct Counts {
        std::int64_t calls = 0, requests = 0;
    };

    /// mpirun's words; `settings` are those of fail_at_call.cpp, in every rank's environment.
    static Words started_with(const std::string& setting, const Words& words) {
        Words all = launcher();
        all.insert(all.end(), {"-n", std::to_string(kRanks), "env", std::string("LD_PRELOAD=") + HEPTAD_FAIL_AT_CALL,
                               setting, HEPTAD_MPI_BINARY});
        all.insert(all.end(), words.begin(), words.end());
        return all;
    }
    /// How often each rank of a job that nothing disturbs calls, and asks for memory. Leaves the result.
    std::map<int, Counts> count(const Words& words) {
        const std::filesystem::path file = folder_.string() + ".count";
        const auto begin = std::chrono::steady_clock::now();
        const Outcome outcome = heptad(started_with("HEPTAD_TEST_COUNT=" + file.string(), words));
        longest_ = kLongest + 2 * (std::chrono::steady_clock::now() - begin);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        std::map<int, Counts> counts;
        std::ifstream lines(file);
        int rank = 0;
        for (Counts one; lines >> rank >> one.calls >> one.requests;) {
            counts[rank] = one;
        }
        EXPECT_EQ(counts.size(), static_cast<std::size_t>(kRanks));
        std::filesystem::remove(file);
        return counts;
    }
    std::set<std::string> names() {
        std::set<std::string> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
            all.insert(entry.path().lexically_relative(folder_));
        }
        return all;
    }
    /// Processes that still work in the folder.
    int processes_left() const {
        int left = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            std::error_code gone;
            const auto place = std::filesystem::read_symlink(entry.path() / "cwd", gone);
            left += !gone && place == folder_ ? 1 : 0;
        }
        return left;
    }
    /// What a job that was disturbed may leave: what the next one goes on with or replaces.
    static bool is_leftover(const std::string& name) {
        return name == "C.npy.partial" || name == "C.npy.lock" || name.starts_with("C.npy.part-") ||
               name.starts_with("scratch/C.npy.part-");
    }

    /// Runs the job with one failure and looks at what it leaves; then again, undisturbed, to the right result.
    Outcome fail_and_go_on(const std::string& failure, Words words, const std::string& expected) {
        SCOPED_TRACE(failure + joined(words));
        const auto begin = std::chrono::steady_clock::now();
        const Outcome outcome = heptad(started_with("HEPTAD_TEST_FAIL=" + failure, words));
        // The launcher may be gone a moment before the ranks that it ended.
        while (processes_left() > 0 && std::chrono::steady_clock::now() - begin < longest_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        EXPECT_EQ(processes_left(), 0);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, longest_);
        const bool complete = std::filesystem::exists(folder_ / "C.npy");
        // A rank may die when all is done.
        EXPECT_TRUE(outcome.exit_code != 0 || complete);
        EXPECT_TRUE(!complete || read("C.npy") == expected) << "a result that is not complete has its name";
        for (const std::string& name : names()) {
            EXPECT_TRUE(kAlways.contains(name) || (complete && name == "C.npy") || is_leftover(name)) << name;
        }
        std::filesystem::remove(folder_ / "C.npy");
        words.emplace_back("--resume");
        const Outcome resumed = heptad(started(kRanks, words));
        EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
        EXPECT_TRUE(read("C.npy") == expected);
        std::set<std::string> all = kAlways;
        all.insert("C.npy");
        EXPECT_EQ(names(), all);
        std::filesystem::remove(folder_ / "C.npy");
        return outcome;
    }

    /// Kills ranks at some of the calls that they make, and refuses them memory.
    void survive(Words job) {
        job.insert(job.end(), {"--threads", "1"});
        const Words words = mul(job);
        const std::map<int, Counts> counts = count(words);
        ASSERT_FALSE(HasFailure());
        const std::string expected = read("C.npy");
        std::filesystem::remove(folder_ / "C.npy");
        SCOPED_TRACE("seed " + std::to_string(citizen::seed()));
        std::mt19937_64 random(citizen::seed());
        const auto any_of = [&](const char* failure, std::int64_t Counts::*most) {
            const int rank = static_cast<int>(random() % kRanks);
            const std::uint64_t at = 1 + random() % static_cast<std::uint64_t>(counts.at(rank).*most);
            return failure + std::to_string(rank) + ":" + std::to_string(at);
        };
        for (std::int64_t i = 0; i < citizen::repetitions(2, 150) && !HasFailure(); ++i) {
            fail_and_go_on(any_of("die:", &Counts::calls), words, expected);
        }
        for (std::int64_t i = 0; i < citizen::repetitions(1, 100) && !HasFailure(); ++i) {
            const std::string failure = any_of("memory:", &Counts::requests);
            const Outcome outcome = fail_and_go_on(failure, words, expected);
            EXPECT_TRUE(outcome.exit_code == 4 || outcome.exit_code == 0) << failure << "\n" << outcome.err;
        }
    }

    std::chrono::steady_clock::duration longest_{};  // from the start: a job on a busy machine takes its time
    const std::set<std::string> kAlways{"A.npy", "B.npy", "scratch"};
};

TEST_F(RankDeath, blocks_of_rows_survive_it) {
    survive({"--algorithm", "pegmm", "--block", "12x20x24", "--verify"});
}
TEST_F(RankDeath, blocks_that_the_root_hands_out_survive_it) {
    survive({"--algorithm", "mod-pegmm", "--block", "12x20x8", "--scatter", "--scratch", "scratch"});
}
TEST_F(RankDeath, partial_sums_on_a_grid_survive_it) {
    survive({"--grid", "1x3x1", "--verify"});
}

}  // namespace
}  // namespace heptad::testing
