// heptad-mpi under mpirun, several ranks on this machine.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "cli/heptad_process.hpp"

namespace heptad::testing {

using Words = std::vector<std::string>;

class Mpi : public HeptadProcess {
protected:
    /// The words of mpirun before the first program: as root, with more ranks than cores, and over the loopback, which
    /// every machine has, rather than through shared memory, of which containers may have little.
    static Words launcher() {
#if HEPTAD_OPEN_MPI
        return {"--oversubscribe",
                "--allow-run-as-root",
                "--bind-to",
                "none",
                "--mca",
                "mpi_yield_when_idle",
                "1",
                "--mca",
                "btl",
                "self,tcp",
                "--mca",
                "btl_tcp_if_include",
                "lo"};
#else  // MPICH asks for nothing of that
        return {};
#endif
    }
    static Words program(int ranks, const Words& words) {
        Words all{"-n", std::to_string(ranks), HEPTAD_MPI_BINARY};
        all.insert(all.end(), words.begin(), words.end());
        return all;
    }
    static Words started(int ranks, const Words& words) {
        Words all = launcher();
        const Words own = program(ranks, words);
        all.insert(all.end(), own.begin(), own.end());
        return all;
    }
    static Words mul(const Words& more = {}) {
        Words words{"mul", "A.npy", "B.npy", "-o", "C.npy"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    void expect_product(int ranks, const Words& more, const TestMatrix& expected) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks" + joined(more));
        const Outcome outcome = heptad(started(ranks, mul(more)));
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_TRUE(read_matrix("C.npy") == expected);
        std::filesystem::remove(folder_ / "C.npy");
    }
    nlohmann::json report(int ranks, Words more) {
        more.emplace_back("--json");
        const Outcome outcome = heptad(started(ranks, mul(more)));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out, nullptr, false);
    }
    /// Ends with this code, says the words, leaves no result and no part of one.
    void expect_failure(int exit_code, const Words& words, const Words& said) {
        SCOPED_TRACE(joined(words));
        const Outcome outcome = heptad(words);
        EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
        for (const std::string& part : said) {
            EXPECT_NE(outcome.err.find(part), std::string::npos) << part << "\n" << outcome.err;
        }
        EXPECT_FALSE(std::filesystem::exists(folder_ / "C.npy"));
        EXPECT_FALSE(std::filesystem::exists(folder_ / "C.npy.partial"));
    }
    void make_operands(std::int64_t m, std::int64_t k, std::int64_t n, const std::string& dtype = "<i4") {
        a_ = integers(m, k, 1);
        b_ = integers(k, n, 2);
        write_matrix("A.npy", a_, dtype);
        write_matrix("B.npy", b_, dtype);
    }
    static std::string joined(const Words& words) {
        std::string text;
        for (const std::string& word : words) {
            text += " " + word;
        }
        return text;
    }

    /// A full disk is played by a limit on the length of files.
    static bool limits_of_files_spare_mpi() {
        return HEPTAD_OPEN_MPI != 0;
    }

    enum class Victims { one, all };
    /// Starts a job and kills ranks of it when `due`, which is asked until then.
    Outcome killed(int count, const Words& words, Victims victims, const std::function<bool()>& due) {
        return heptad(started(count, words), [&](int launcher) {
            std::vector<int> ranks;
            while ((ranks = ranks_of(launcher)).size() < static_cast<std::size_t>(count) || !due()) {
                siginfo_t ended{};
                ASSERT_EQ(waitid(P_PID, static_cast<id_t>(launcher), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
                ASSERT_EQ(ended.si_pid, 0) << "the job ended before it could be disturbed";
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
            for (const int rank : ranks) {
                if (victims == Victims::all || rank == ranks.back()) {
                    kill(rank, SIGKILL);
                }
            }
        });
    }

    TestMatrix a_, b_;

private:
    /// The processes below this one that run the program under test.
    static std::vector<int> ranks_of(int ancestor) {
        std::vector<int> ranks;
        std::ifstream children("/proc/" + std::to_string(ancestor) + "/task/" + std::to_string(ancestor) + "/children");
        for (int child = 0; children >> child;) {
            std::error_code ignored;
            const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe", ignored);
            if (program.filename() == "heptad-mpi") {
                ranks.push_back(child);
            }
            const std::vector<int> below = ranks_of(child);
            ranks.insert(ranks.end(), below.begin(), below.end());
        }
        return ranks;
    }
};

}  // namespace heptad::testing
