// Products from file to file that are killed at random moments and resumed.
#pragma once

#include <csignal>

#include <chrono>
#include <random>
#include <thread>

#include "cli/heptad_process.hpp"

namespace heptad::testing {

class RandomKills : public HeptadProcess {
protected:
    void random_inputs(int m, int k, int n) {
        heptad_ok({"gen", "uniform", "--shape", shape(m, k), "--seed", "1", "-o", "A.npy"});
        heptad_ok({"gen", "uniform", "--shape", shape(k, n), "--seed", "2", "-o", "B.npy"});
    }
    static std::string shape(int rows, int cols) { return std::to_string(rows) + "x" + std::to_string(cols); }
    /// A run that may be long enough to show its progress.
    std::string long_run(const std::vector<std::string>& words) {
        const Outcome outcome = heptad(words);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return outcome.out;
    }
    bool exists(const std::string& name) { return std::filesystem::exists(folder_ / name); }

    /// Starts a product, kills it after a random time, resumes it, and so on. A result that appears is always complete
    /// and has the bits of a run that nobody disturbed.
    void survive_kills(int kills, const std::vector<std::string>& besides = {}) {
        random_inputs(1500, 1500, 1500);
        std::vector<std::string> fresh{"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "1500K", "--threads", "1"};
        fresh.insert(fresh.end(), besides.begin(), besides.end());
        std::vector<std::string> resuming = fresh;
        resuming.emplace_back("--resume");
        const auto begin = std::chrono::steady_clock::now();
        long_run(fresh);
        const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
        const std::string expected = read("C.npy");
        std::mt19937 random(7);
        std::filesystem::remove(folder_ / "C.npy");
        for (int killed = 0; killed < kills;) {
            const double wait_s = whole.count() * std::uniform_real_distribution<>(0.02, 0.6)(random);
            const Outcome outcome = heptad(resuming, [&](int process) {
                std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
                kill(process, SIGKILL);
            });
            if (exists("C.npy")) {
                ASSERT_EQ(read("C.npy"), expected);
                std::filesystem::remove(folder_ / "C.npy");
            } else {
                ASSERT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.err;
                ++killed;
            }
        }
        const Outcome last = heptad(resuming);
        ASSERT_EQ(last.exit_code, 0) << last.err;
        EXPECT_EQ(read("C.npy"), expected);
        EXPECT_FALSE(exists("C.npy.partial"));
        EXPECT_FALSE(exists("C.npy.journal"));
        EXPECT_FALSE(exists("C.npy.products.partial"));
    }
};

}  // namespace heptad::testing
