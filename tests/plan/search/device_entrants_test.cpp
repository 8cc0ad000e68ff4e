// Who takes part in contests on a device.
#include "plan/search/device_entrants.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/predict/contest_choice.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

using Names = std::vector<std::string>;

/// Leaves of one rate at all sizes; how fast passes are makes levels look good or hopeless.
Machine machine_with(double bytes_per_s, const Names& leaves) {
    Machine machine;
    machine.measured = true;
    machine.combine_bytes_per_s = machine.scan_bytes_per_s = bytes_per_s;
    machine.call_s = 1e-6;
    for (const std::string& leaf : leaves) {
        LeafProfile profile{leaf, Type::f64, 1, {}};
        for (std::int64_t n = 128; n <= 16384; n *= 2) {
            const auto size = static_cast<double>(n);
            profile.samples.push_back({n, n, n, 2 * size * size * size / 60e12});
        }
        machine.leaves.push_back(profile);
    }
    return machine;
}
constexpr double kFast = 1e13, kSlow = 1e9;
const Names kLeaves{"cublas", "cublas-batched", "cublaslt-batched", "cublaslt"};

Problem square(std::int64_t n) {
    Problem problem{n, n, n, Type::f64, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = Accuracy::fast;
    return problem;
}

TEST(device_entrants, the_library_comes_first_and_again_with_a_kernel_of_our_choice) {
    const Machine machine = machine_with(kFast, kLeaves);
    const std::vector<ContestPlan> entrants = device_entrants(square(8192), machine, machine, 4);
    ASSERT_EQ(entrants.size(), 6U);
    EXPECT_EQ(entrants[0], (ContestPlan{{}, "cublas"}));
    EXPECT_EQ(entrants[1], (ContestPlan{{}, "cublaslt"}));
    for (std::size_t i = 2; i < entrants.size(); ++i) {
        EXPECT_FALSE(entrants[i].algorithms.empty());
        EXPECT_EQ(std::count(entrants.begin(), entrants.end(), entrants[i]), 1);
    }
    EXPECT_EQ(device_entrants(square(8192), machine_with(kFast, {"cublas"}), machine, 0).size(), 1U);
}

TEST(device_entrants, levels_that_are_far_behind_stay_away_unless_they_are_the_usual_choice) {
    const Machine hopeless = machine_with(kSlow, kLeaves), hopeful = machine_with(kFast, kLeaves);
    EXPECT_EQ(device_entrants(square(4096), hopeless, hopeless, 4).size(), 2U);
    const ProductPlan usual = make_plan(square(4096), hopeful, device_limits());
    ASSERT_FALSE(usual.levels.empty());
    const std::vector<ContestPlan> entrants = device_entrants(square(4096), hopeless, hopeful, 4);
    ASSERT_EQ(entrants.size(), 3U);
    EXPECT_EQ(entrants[2].leaf, usual.leaf);
    EXPECT_EQ(entrants[2].algorithms.size(), usual.levels.size());
}

TEST(device_entrants, however_few_the_places_one_is_for_the_usual_accuracy) {
    const Machine machine = machine_with(kFast, kLeaves);
    const auto balanced_at = [&](std::int64_t n, std::size_t places) {
        const std::vector<ContestPlan> entrants = device_entrants(square(n), machine, machine, places);
        EXPECT_EQ(entrants.size(), 2 + places);
        return std::count_if(entrants.begin(), entrants.end(), [&](const ContestPlan& plan) {
            return is_balanced(plan_of(plan, square(n), machine).levels, device_limits());
        });
    };
    for (std::int64_t n = 8192; n <= 32768; n *= 2) {
        for (std::size_t places = 1; places <= 6; ++places) {
            EXPECT_GE(balanced_at(n, places), 1) << n << " with " << places << " places";
        }
    }
    // It takes the last place only: the most hopeful ones are there too, and they are none for `balanced`.
    const std::vector<ContestPlan> entrants = device_entrants(square(16384), machine, machine, 2);
    EXPECT_FALSE(is_balanced(plan_of(entrants[2], square(16384), machine).levels, device_limits()));
}

TEST(device_entrants, types_whose_levels_balanced_never_takes_from_contests_keep_no_place) {
    Machine machine = machine_with(kFast, kLeaves);
    for (LeafProfile& profile : machine.leaves) {
        profile.type = Type::tf32;
    }
    Problem problem = square(16384);
    problem.type = Type::tf32;
    for (const ContestPlan& plan : device_entrants(problem, machine, machine, 2)) {
        EXPECT_FALSE(is_balanced(plan_of(plan, problem, machine).levels, device_limits()));
    }
}

TEST(device_entrants, blocks_are_not_cut_below_what_fills_a_device) {
    const Machine machine = machine_with(kFast, kLeaves);
    for (const ContestPlan& entrant : device_entrants(square(1024), machine, machine, 20)) {
        EXPECT_LE(entrant.algorithms.size(), 1U);
        EXPECT_EQ(std::count(entrant.algorithms.begin(), entrant.algorithms.end(), "winograd*winograd"), 0);
    }
}

}  // namespace
}  // namespace heptad
