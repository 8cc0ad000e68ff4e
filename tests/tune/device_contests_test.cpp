// What contests on a device decide, and what they leave to the cost model. But for the last test their times are made
// up and no device is needed.
#include "tune/device_contests.hpp"

#include <gtest/gtest.h>

#include "io/device_machine.hpp"
#include "plan/predict/contest_factor.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_matrix.hpp"

namespace heptad::test {
namespace {

using Names = std::vector<std::string>;

Contest contest(Type type, std::int64_t n, const ContestTrial& other) {
    return {type, n, n, n, 0.02, {{{{}, "cublas"}, 5, 1, 0}, other}, 0.985, 0.15};
}
const ContestTrial kTwiceWins{{{"winograd*winograd"}, "cublaslt-batched"}, 5, 0.9, 0.01};
const ContestTrial kTwiceLoses{{{"winograd*winograd"}, "cublaslt-batched"}, 5, 1.1, 0.01};
const ContestTrial kKernelWins{{{}, "cublaslt"}, 5, 0.98, 0.005};

Machine machine_with(const Contest& contest) {
    Machine machine = default_device_machine();
    machine.contests = {contest};
    return machine;
}

Problem square(std::int64_t n, Type type, Accuracy accuracy = Accuracy::fast) {
    Problem problem{n, n, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = accuracy;
    return problem;
}

ProductPlan plan_for(const Problem& problem, const Machine& machine) {
    ProductPlan plan = make_plan(problem, machine, device_limits());
    EXPECT_NO_THROW(check_plan(plan)) << to_string(plan);
    EXPECT_EQ(parse_plan(to_string(plan)), plan);
    return plan;
}

TEST(device_contests, the_winner_is_taken_and_the_library_where_nobody_won) {
    const Problem problem = square(8192, Type::tf32);
    const ProductPlan fast = plan_for(problem, machine_with(contest(Type::tf32, 8192, kTwiceWins)));
    ASSERT_EQ(fast.levels.size(), 1U);
    EXPECT_EQ(fast.levels.front().algorithm, "winograd*winograd");
    EXPECT_EQ(fast.leaf, "cublaslt-batched");
    EXPECT_NEAR(fast.predicted_s, 0.9 * 0.02, 1e-6);
    const Problem large = square(16384, Type::f32);
    ASSERT_FALSE(plan_for(large, default_device_machine()).levels.empty());
    EXPECT_TRUE(plan_for(large, machine_with(contest(Type::f32, 16384, kTwiceLoses))).levels.empty());
}

TEST(device_contests, a_kernel_of_our_choice_is_taken_but_never_where_the_library_itself_is_asked_for) {
    const Machine machine = machine_with(contest(Type::tf32, 8192, kKernelWins));
    const ProductPlan chosen = plan_for(square(8192, Type::tf32), machine);
    EXPECT_TRUE(chosen.levels.empty());
    EXPECT_EQ(chosen.leaf, "cublaslt");
    EXPECT_EQ(chosen.fringe_leaf, "cublas");
    EXPECT_EQ(plan_for(square(8192, Type::tf32, Accuracy::balanced), machine).leaf, "cublaslt");
    EXPECT_EQ(plan_for(square(8192, Type::tf32, Accuracy::strict), machine).leaf, "cublas");
}

TEST(device_contests, other_sizes_types_and_ways_to_keep_sums_are_left_to_the_cost_model) {
    const Machine machine = machine_with(contest(Type::bf16, 8192, kTwiceWins)), usual = default_device_machine();
    ASSERT_FALSE(plan_for(square(8192, Type::bf16), machine).levels.empty());
    for (const Problem& other : {square(10240, Type::bf16), square(6144, Type::bf16), square(8192, Type::f16),
                                 square(8192, Type::bf16, Accuracy::balanced)}) {
        EXPECT_EQ(to_string(plan_for(other, machine)), to_string(plan_for(other, usual)));
    }
    Problem added = square(32768, Type::f16);
    added.options.accumulate = true;  // its sums cannot be scaled, so it has no levels
    const ProductPlan plan = plan_for(added, machine_with(contest(Type::f16, 32768, kTwiceWins)));
    EXPECT_TRUE(plan.levels.empty());
    EXPECT_EQ(plan.leaf, "cublas");
    Problem small = square(8192, Type::bf16);
    small.options.workspace_limit_bytes = 0;
    EXPECT_TRUE(plan_for(small, machine).levels.empty());
}

TEST(device_contests, odd_sizes_are_extended_to_the_plan_that_won) {
    const ProductPlan plan = plan_for(square(8191, Type::tf32), machine_with(contest(Type::tf32, 8192, kTwiceWins)));
    EXPECT_TRUE(plan.extended) << to_string(plan);
    ASSERT_EQ(plan.levels.size(), 1U);
    EXPECT_EQ(plan.leaf, "cublaslt-batched");
    EXPECT_GT(plan.predicted_s, 0.9 * 0.02);
    EXPECT_LT(plan.predicted_s, 1.1 * 0.02);
}

TEST(device_contests, what_they_say_of_levels_corrects_the_cost_model_between_them) {
    Machine machine = default_device_machine();
    const Problem between = square(12288, Type::f32);
    ASSERT_FALSE(plan_for(between, machine).levels.empty());
    for (const std::int64_t n : {8192, 16384}) {
        const Contest lost = contest(Type::f32, n, kTwiceLoses);
        const auto factor = level_factor_of(lost, machine, "cuda");
        ASSERT_TRUE(factor);
        EXPECT_GT(factor->halved_more, 1.2);
        machine.level_factors.push_back(*factor);
    }
    EXPECT_TRUE(plan_for(between, machine).levels.empty());
}

TEST(device_contests, one_that_is_held_compares_everybody_with_the_library) {
    HEPTAD_NEEDS_DEVICE();
    constexpr std::int64_t kSide = 1024, kBytes = 3 * kSide * kSide * 8;
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    const cuda::DeviceMemory memory(0, kBytes, stream.handle());
    cuda::fill_bytes(memory.data(), 0, kBytes, stream.handle());
    Machine machine = default_device_machine();
    machine.combine_bytes_per_s = 1e15;  // so that levels look good enough to take part
    machine.call_s = 1e-7;
    machine.leaves.push_back({"cublaslt", Type::f64, 1, {{kSide, kSide, kSide, 1e-3}}});
    const ContestGround ground{backend, stream, static_cast<std::byte*>(memory.data()), kBytes};
    const std::optional<Contest> held = hold_device_contest(Type::f64, kSide, ground, machine, machine);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->trials.front().plan, (ContestPlan{{}, "cublas"}));
    EXPECT_EQ(held->trials.front().relative_time, 1);
    EXPECT_GE(held->trials.front().turns, kFewestTurns);
    EXPECT_GT(held->first_trial_s, 0);
    EXPECT_GE(held->trials.size(), 3U);
    for (const ContestTrial& trial : held->trials) {
        EXPECT_GE(trial.turns, 1);
        EXPECT_GT(trial.relative_time, 0.2);
        EXPECT_LT(trial.relative_time, 50);
    }
    const ContestGround too_small{backend, stream, static_cast<std::byte*>(memory.data()), kBytes - 1};
    EXPECT_FALSE(hold_device_contest(Type::f64, kSide, too_small, machine, machine));
}

}  // namespace
}  // namespace heptad::test
