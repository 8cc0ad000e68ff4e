// Which plans run beside the library when a machine is measured, on a CPU and on a device.
#include "tune/plan_candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/predict/error_bound.hpp"
#include "plan/predict/predict.hpp"

namespace heptad {
namespace {

using Names = std::vector<std::string>;

/// Leaves of one rate at all sizes; how fast passes are makes levels look good or hopeless.
Machine machine_with(double bytes_per_s, const Names& leaves, double flops_per_s) {
    Machine machine;
    machine.measured = true;
    machine.combine_bytes_per_s = machine.scan_bytes_per_s = bytes_per_s;
    machine.call_s = 1e-6;
    for (const std::string& leaf : leaves) {
        LeafProfile profile{leaf, Type::f64, 1, {}};
        for (std::int64_t n = 16; n <= 16384; n *= 2) {
            const auto size = static_cast<double>(n);
            profile.samples.push_back({n, n, n, 2 * size * size * size / flops_per_s});
        }
        machine.leaves.push_back(profile);
    }
    return machine;
}

Problem square(std::int64_t n, const std::string& device = "cpu") {
    Problem problem{n, n, n, Type::f64, 1, {}};
    problem.options.device = device;
    problem.options.accuracy = Accuracy::fast;
    return problem;
}

constexpr double kFast = 1e13, kSlow = 1e5;
Machine cpu_with(double bytes_per_s) {
    return machine_with(bytes_per_s, {"openblas", "openblas-mt", "blis-mt", "heptad"}, 1e11);
}

void measure(Machine& machine, std::int64_t n, const PlanShape& shape, double relative_time) {
    const double modelled_time = model_seconds(plan_with_shape(square(n), machine, shape), machine) /
                                 model_seconds(plan_with_shape(square(n), machine, {{}, "blis-mt"}), machine);
    machine.measured_plans = {{Type::f64, n, n, n, shape, relative_time, 0.01, 5, modelled_time}};
}

TEST(plan_candidates, every_library_is_one_and_of_the_others_the_most_hopeful) {
    const Machine machine = cpu_with(kFast);
    const std::vector<PlanShape> candidates = plan_candidates(square(1024), machine, {3, 3});
    ASSERT_EQ(candidates.size(), 5U);
    EXPECT_EQ(candidates[0], (PlanShape{{}, "openblas-mt"}));
    EXPECT_EQ(candidates[1], (PlanShape{{}, "blis-mt"}));
    for (std::size_t i = 2; i < candidates.size(); ++i) {
        EXPECT_FALSE(candidates[i].levels.empty());  // passes are nearly free there
        EXPECT_FALSE(is_whole_call(candidates[i].leaf));
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(candidates[i], candidates[j]);
        }
    }
    EXPECT_EQ(plan_candidates(square(1024), machine, {1, 3}).size(), 4U);
    EXPECT_EQ(plan_candidates(square(1024), machine, {1, 0}), std::vector<PlanShape>{candidates[0]});
    const std::vector<PlanShape> without_levels = plan_candidates(square(1024), cpu_with(kSlow), {3, 3});
    ASSERT_EQ(without_levels.size(), 4U);
    EXPECT_EQ(without_levels[2], (PlanShape{{}, "openblas"}));
    EXPECT_EQ(without_levels[3], (PlanShape{{}, "heptad"}));
}

TEST(plan_candidates, one_of_them_is_for_the_usual_accuracy) {
    const std::vector<PlanShape> candidates = plan_candidates(square(4096), cpu_with(kFast), {3, 2});
    ASSERT_EQ(candidates.size(), 4U);
    const auto growth = [&](const PlanShape& plan) {
        return expected_growth(plan_with_shape(square(4096), cpu_with(kFast), plan).levels);
    };
    EXPECT_GT(growth(candidates[2]), PlannerLimits{}.balanced_growth);
    EXPECT_LE(growth(candidates[3]), PlannerLimits{}.balanced_growth);
    EXPECT_FALSE(candidates[3].levels.empty());
}

TEST(plan_candidates, one_level_less_and_one_more_come_right_behind_the_first) {
    for (const double bytes_per_s : {kFast, kSlow}) {
        const Machine machine = cpu_with(bytes_per_s);
        const std::vector<PlanShape> all = plan_candidates(square(4096), machine, {1, 20, false});
        const std::vector<PlanShape> candidates = plan_candidates(square(4096), machine, {1, 20, false, true});
        ASSERT_EQ(candidates.size(), all.size());
        ASSERT_GE(candidates.size(), 2U);
        EXPECT_EQ(candidates[1], all[1]);
        std::vector<PlanShape> neighbours;
        for (const PlanShape& plan : all) {
            const auto difference = static_cast<int>(plan.levels.size()) - static_cast<int>(all[1].levels.size());
            if (plan.leaf == all[1].leaf && !plan.levels.empty() && std::abs(difference) == 1) {
                neighbours.push_back(plan);
            }
        }
        EXPECT_EQ(std::vector<PlanShape>(candidates.begin() + 2,
                                         candidates.begin() + 2 + static_cast<std::ptrdiff_t>(neighbours.size())),
                  neighbours);
        EXPECT_TRUE(bytes_per_s == kSlow || !neighbours.empty());
        EXPECT_TRUE(std::is_permutation(candidates.begin(), candidates.end(), all.begin()));
    }
}

TEST(plan_candidates, thin_problems_are_not_cut) {
    Problem thin = square(4096);
    thin.k = 64;
    const std::vector<PlanShape> candidates = plan_candidates(thin, cpu_with(kFast), {3, 4});
    EXPECT_EQ(candidates.size(), 4U);
    for (const PlanShape& plan : candidates) {
        EXPECT_TRUE(plan.levels.empty());
    }
    EXPECT_TRUE(plan_candidates(square(64), Machine{}, {3, 4}).empty());
}

TEST(plan_candidates, a_halving_on_top_of_what_was_measured_is_one) {
    Machine machine = cpu_with(kFast);
    measure(machine, 1024, {{"3x3x3-23"}, "openblas"}, 0.8);
    const std::vector<PlanShape> candidates = plan_candidates(square(2048), machine, {3, 20});
    const PlanShape expected{{"winograd", "3x3x3-23"}, "openblas"};
    EXPECT_NE(std::find(candidates.begin(), candidates.end(), expected), candidates.end());
}

TEST(plan_candidates, without_the_planners_choice_they_halve_up_to_three_times_or_follow_from_measured_plans) {
    Machine machine = cpu_with(kFast);
    const auto others = [&](bool has_planned) {
        std::vector<PlanShape> candidates = plan_candidates(square(4096), machine, {3, 20, has_planned});
        std::erase_if(candidates, [](const PlanShape& plan) {
            return plan.levels.size() <= 3 && std::all_of(plan.levels.begin(), plan.levels.end(),
                                                          [](const std::string& name) { return name == kHalving; });
        });
        return candidates;
    };
    EXPECT_EQ(others(true).size(), 1U);
    EXPECT_TRUE(others(false).empty());
    measure(machine, 2048, {{"3x3x3-23"}, "openblas"}, 0.8);
    EXPECT_EQ(others(false), (std::vector<PlanShape>{{{"winograd", "3x3x3-23"}, "openblas"}}));
}

TEST(plan_candidates, without_a_library_one_place_is_for_a_classical_product) {
    const Machine machine = machine_with(kFast, {"heptad"}, 1e11);
    for (std::size_t places = 2; places <= 4; ++places) {
        const std::vector<PlanShape> candidates = plan_candidates(square(4096), machine, {3, places});
        ASSERT_EQ(candidates.size(), places);
        const auto is_classical = [](const PlanShape& plan) { return plan.levels.empty(); };
        EXPECT_EQ(std::count_if(candidates.begin(), candidates.end(), is_classical), 1);
        EXPECT_TRUE(std::any_of(candidates.begin(), candidates.end(), [&](const PlanShape& plan) {
            return is_balanced(plan_with_shape(square(4096), machine, plan), machine, {});
        }));
    }
}

const Names kLeaves{"cublas", "cublas-batched", "cublaslt-batched", "cublaslt"};

constexpr double kTooSlow = 1e9;
Machine device_with(double bytes_per_s, const Names& leaves = kLeaves) {
    return machine_with(bytes_per_s, leaves, 60e12);
}

TEST(device_plan_candidates, the_library_comes_first_and_again_with_a_kernel_of_our_choice) {
    const Machine machine = device_with(kFast);
    const std::vector<PlanShape> candidates = device_plan_candidates(square(8192, "cuda"), machine, machine, 4);
    ASSERT_EQ(candidates.size(), 6U);
    EXPECT_EQ(candidates[0], (PlanShape{{}, "cublas"}));
    EXPECT_EQ(candidates[1], (PlanShape{{}, "cublaslt"}));
    for (std::size_t i = 2; i < candidates.size(); ++i) {
        EXPECT_FALSE(candidates[i].levels.empty());
        EXPECT_EQ(std::count(candidates.begin(), candidates.end(), candidates[i]), 1);
    }
    EXPECT_EQ(device_plan_candidates(square(8192, "cuda"), device_with(kFast, {"cublas"}), machine, 0).size(), 1U);
}

TEST(device_plan_candidates, levels_that_are_far_behind_stay_away_unless_they_are_the_usual_choice) {
    const Machine hopeless = device_with(kTooSlow), hopeful = device_with(kFast);
    EXPECT_EQ(device_plan_candidates(square(4096, "cuda"), hopeless, hopeless, 4).size(), 2U);
    const ProductPlan usual = make_plan(square(4096, "cuda"), hopeful, device_limits());
    ASSERT_FALSE(usual.levels.empty());
    const std::vector<PlanShape> candidates = device_plan_candidates(square(4096, "cuda"), hopeless, hopeful, 4);
    ASSERT_EQ(candidates.size(), 3U);
    EXPECT_EQ(candidates[2].leaf, usual.leaf);
    EXPECT_EQ(candidates[2].levels.size(), usual.levels.size());
}

TEST(device_plan_candidates, however_few_the_places_one_is_for_the_usual_accuracy) {
    const Machine machine = device_with(kFast);
    const auto balanced_at = [&](std::int64_t n, std::size_t places) {
        const std::vector<PlanShape> candidates = device_plan_candidates(square(n, "cuda"), machine, machine, places);
        EXPECT_EQ(candidates.size(), 2 + places);
        return std::count_if(candidates.begin(), candidates.end(), [&](const PlanShape& plan) {
            return is_balanced(plan_with_shape(square(n, "cuda"), machine, plan), machine, device_limits());
        });
    };
    for (std::int64_t n = 8192; n <= 32768; n *= 2) {
        for (std::size_t places = 1; places <= 6; ++places) {
            EXPECT_GE(balanced_at(n, places), 1) << n << " with " << places << " places";
        }
    }
    // It takes the last place only: the most hopeful ones are there too, and they are none for `balanced`.
    const std::vector<PlanShape> candidates = device_plan_candidates(square(16384, "cuda"), machine, machine, 2);
    EXPECT_FALSE(is_balanced(plan_with_shape(square(16384, "cuda"), machine, candidates[2]), machine, device_limits()));
}

TEST(device_plan_candidates, types_whose_levels_balanced_never_takes_as_measured_keep_no_place) {
    Machine machine = device_with(kFast);
    for (LeafProfile& profile : machine.leaves) {
        profile.type = Type::tf32;
    }
    Problem problem = square(16384, "cuda");
    problem.type = Type::tf32;
    for (const PlanShape& plan : device_plan_candidates(problem, machine, machine, 2)) {
        EXPECT_FALSE(is_balanced(plan_with_shape(problem, machine, plan), machine, device_limits()));
    }
}

TEST(device_plan_candidates, blocks_are_not_cut_below_what_fills_a_device) {
    const Machine machine = device_with(kFast);
    for (const PlanShape& candidate : device_plan_candidates(square(1024, "cuda"), machine, machine, 20)) {
        EXPECT_LE(candidate.levels.size(), 1U);
        EXPECT_EQ(std::count(candidate.levels.begin(), candidate.levels.end(), "winograd*winograd"), 0);
    }
}

}  // namespace
}  // namespace heptad
