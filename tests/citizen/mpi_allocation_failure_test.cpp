// heptad-mpi, one of whose ranks is short of memory at some allocation: the job gives the right result, or it ends with
// exit code 4 and a sentence of that rank, and no rank hangs.
#include <random>

#include "citizen/counts.hpp"
#include "cli/mpi_process.hpp"

namespace heptad::testing {
namespace {

constexpr std::int64_t kSample = 6, kFull = 200;

class JobShortOfMemory : public Mpi {
protected:
    static Words job(const Words& environment, const Words& more) {
        Words words = launcher();
        words.insert(words.end(), {"-n", "3", "/usr/bin/env"});
        words.insert(words.end(), environment.begin(), environment.end());
        words.emplace_back(HEPTAD_MPI_BINARY);
        for (const std::string& word : mul(more)) {
            words.push_back(word);
        }
        return words;
    }

    void expect_survives(const Words& more) {
        const TestMatrix a = integers(40, 36, 1), b = integers(36, 44, 2), expected = product(a, b);
        write_matrix("A.npy", a);
        write_matrix("B.npy", b);
        const std::string preload = std::string("LD_PRELOAD=") + HEPTAD_SHIM;
        const Words libraries{"HEPTAD_OPENBLAS=none", "HEPTAD_BLIS=none", "HEPTAD_MKL=none"};
        const auto with_shim = [&](const Words& settings) {
            Words all = libraries;
            all.push_back(preload);
            all.insert(all.end(), settings.begin(), settings.end());
            return job(all, more);
        };
        const Outcome whole = heptad(with_shim({"HEPTAD_SHIM_RANK=1", "HEPTAD_SHIM_COUNT_FILE=count"}));
        ASSERT_EQ(whole.exit_code, 0) << whole.err;
        const std::int64_t allocations = std::stoll(read("count"));
        ASSERT_GT(allocations, 100);
        std::mt19937_64 random(citizen::seed());
        int failures = 0;
        for (std::int64_t i = 0; i < citizen::repetitions(kSample, kFull); ++i) {
            const std::int64_t number = std::uniform_int_distribution<std::int64_t>(1, allocations)(random);
            const std::string rank = std::to_string(i % 3);
            SCOPED_TRACE("rank " + rank + ", allocation " + std::to_string(number) + " of " +
                         std::to_string(allocations));
            std::filesystem::remove(folder_ / "C.npy");
            Words settings{"HEPTAD_SHIM_RANK=" + rank, "HEPTAD_SHIM_FAIL_AT=" + std::to_string(number)};
            if (i % 2 == 1) {
                settings.emplace_back("HEPTAD_SHIM_FOR_GOOD=1");
            }
            const Outcome outcome = heptad(with_shim(settings));
            if (outcome.exit_code == 0) {
                ASSERT_TRUE(read_matrix("C.npy") == expected);
                continue;
            }
            ++failures;
            ASSERT_EQ(outcome.exit_code, 4) << outcome.err;
            ASSERT_NE(outcome.err.find("heptad: "), std::string::npos) << outcome.err;
            // A rank may run out of memory when all is done; what has the final name is whole.
            ASSERT_TRUE(!std::filesystem::exists(folder_ / "C.npy") || read_matrix("C.npy") == expected);
        }
        EXPECT_GT(failures, 0);
    }
};

TEST_F(JobShortOfMemory, product_is_right_or_the_job_ends_with_4) {
    expect_survives({"--threads", "1"});
}

TEST_F(JobShortOfMemory, verified_product_from_scratch_files_is_right_or_the_job_ends_with_4) {
    expect_survives({"--threads", "1", "--verify", "--scatter", "--scratch", "."});
}

}  // namespace
}  // namespace heptad::testing
