// heptad stays within what is free: its plans without --memory, and products under a limit of address space.
#include <sys/resource.h>

#include <cmath>
#include <fstream>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

class Memory : public HeptadProcess {};

std::int64_t available_bytes() {
    std::ifstream file("/proc/meminfo");
    std::int64_t kibibytes = 0;
    for (std::string word; file >> word;) {
        if (word == "MemAvailable:" && file >> kibibytes) {
            return kibibytes * 1024;
        }
    }
    return 0;
}

TEST_F(Memory, a_plan_without_a_limit_leaves_half_of_what_is_free_beside_the_matrices) {
    const auto available = static_cast<double>(available_bytes());
    for (const double part : {0.1, 0.4, 0.7}) {
        const auto n = static_cast<std::int64_t>(std::sqrt(part * available / 24)) / 16 * 16;
        const std::string size = std::to_string(n);
        const nlohmann::json plan =
            heptad_json({"plan", size, size, size, "--type", "f64", "--levels", "2", "--mode", "parallel"});
        const double left = available * 1.05 - static_cast<double>(24 * n * n);  // others may free some meanwhile
        EXPECT_LE(plan["workspace_bytes"].get<double>(), left / 2) << n;
    }
}

TEST_F(Memory, a_plan_for_matrices_that_do_not_fit_here_is_one_for_another_machine) {
    const nlohmann::json plan =
        heptad_json({"plan", "2000000", "2000000", "2000000", "--type", "f64", "--levels", "1"});
    EXPECT_EQ(plan["levels"], 1);
}

#ifndef HEPTAD_REDUCED_TESTS  // the sanitizers reserve address space of their own

TEST_F(Memory, a_product_in_little_address_space_makes_do_with_it_and_tells_so) {
    const TestMatrix a = integers(600, 600, 1), b = integers(600, 600, 2);
    write_matrix("A.npy", a);
    write_matrix("B.npy", b);
    const std::vector<std::string> words{"mul", "A.npy",  "B.npy",    "-o",        "C.npy", "--levels",
                                         "2",   "--mode", "parallel", "--threads", "1",     "--verify"};
    const nlohmann::json roomy = heptad_json(words);
    ASSERT_EQ(roomy["levels"], 2);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    constexpr rlim_t kLittle = rlim_t{400} << 20;  // not enough for a library's buffers, let alone for workspace
    const rlimit little{kLittle, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
    const nlohmann::json tight = heptad_json(words);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_LT(tight["workspace_bytes"].get<std::int64_t>(), roomy["workspace_bytes"].get<std::int64_t>());
    EXPECT_LT(tight["levels"].get<int>(), 2);
    EXPECT_EQ(read_matrix("C.npy"), product(a, b));
}

#endif

}  // namespace
}  // namespace heptad::testing
