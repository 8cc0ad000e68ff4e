// What measured plans on a device decide, and what they leave to the cost model. But for the last test their times are
// made up and no device is needed.
#include "tune/device_tuning.hpp"

#include <gtest/gtest.h>

#include "io/device_machine.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_matrix.hpp"

namespace heptad::test {
namespace {

using Names = std::vector<std::string>;

const PlanShape kLibrary{{}, "cublas"}, kTwice{{"winograd*winograd"}, "cublaslt-batched"}, kOurKernel{{}, "cublaslt"};

/// As on a chip whose residues nobody has measured.
Machine usual_machine() {
    Machine machine = default_device_machine();
    std::erase_if(machine.leaves, [](const LeafProfile& profile) { return leaf_traits(profile.leaf).by_residues; });
    return machine;
}

Problem square(std::int64_t n, Type type, Accuracy accuracy = Accuracy::fast) {
    Problem problem{n, n, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = accuracy;
    return problem;
}

void measure(Machine& machine, Type type, std::int64_t n, const PlanShape& shape, double relative_time) {
    Machine alone = machine;
    alone.measured_plans.clear();
    const auto modelled_s = [&](const PlanShape& of) {
        return plan_with_shape(square(n, type), alone, of).predicted_s;
    };
    machine.measured_plans.push_back({type, n, n, n, kLibrary, 1, 0, 5, 1});
    machine.measured_plans.push_back(
        {type, n, n, n, shape, relative_time, 0.005, 5, modelled_s(shape) / modelled_s(kLibrary)});
}

Machine machine_with(Type type, std::int64_t n, const PlanShape& shape, double relative_time) {
    Machine machine = usual_machine();
    measure(machine, type, n, shape, relative_time);
    return machine;
}

ProductPlan plan_for(const Problem& problem, const Machine& machine) {
    ProductPlan plan = make_plan(problem, machine, device_limits());
    EXPECT_NO_THROW(check_plan(plan)) << to_string(plan);
    EXPECT_EQ(parse_plan(to_string(plan)), plan);
    return plan;
}

TEST(tune_device_plans, the_fastest_is_taken_and_the_library_where_nobody_was_faster) {
    const Problem problem = square(8192, Type::tf32);
    const ProductPlan fast = plan_for(problem, machine_with(Type::tf32, 8192, kTwice, 0.9));
    ASSERT_EQ(fast.levels.size(), 1U);
    EXPECT_EQ(fast.levels.front().algorithm, "winograd*winograd");
    EXPECT_EQ(fast.leaf, "cublaslt-batched");
    EXPECT_NEAR(fast.predicted_s / plan_with_shape(problem, usual_machine(), kLibrary).predicted_s, 0.9, 1e-3);
    const Problem large = square(16384, Type::f32);
    ASSERT_FALSE(plan_for(large, usual_machine()).levels.empty());
    Machine lost = machine_with(Type::f32, 16384, kTwice, 1.1);
    measure(lost, Type::f32, 16384, {{"winograd", "winograd*winograd"}, "cublas-batched"}, 1.15);
    measure(lost, Type::f32, 16384, {{"winograd*winograd", "winograd*winograd"}, "cublas-batched"}, 1.2);
    measure(lost, Type::f32, 16384, {{"winograd"}, "cublas-batched"}, 1.05);
    EXPECT_TRUE(plan_for(large, lost).levels.empty()) << to_string(plan_for(large, lost));
}

TEST(tune_device_plans, a_kernel_of_our_choice_is_taken_but_never_where_the_library_itself_is_asked_for) {
    const Machine machine = machine_with(Type::tf32, 8192, kOurKernel, 0.98);
    const ProductPlan chosen = plan_for(square(8192, Type::tf32), machine);
    EXPECT_TRUE(chosen.levels.empty());
    EXPECT_EQ(chosen.leaf, "cublaslt");
    EXPECT_EQ(chosen.fringe_leaf, "cublas");
    EXPECT_EQ(plan_for(square(8192, Type::tf32, Accuracy::balanced), machine).leaf, "cublaslt");
    EXPECT_EQ(plan_for(square(8192, Type::tf32, Accuracy::strict), machine).leaf, "cublas");
}

TEST(tune_device_plans, other_types_and_other_ways_to_keep_sums_are_left_to_the_cost_model) {
    const Machine machine = machine_with(Type::bf16, 8192, kTwice, 0.9), usual = usual_machine();
    ASSERT_FALSE(plan_for(square(8192, Type::bf16), machine).levels.empty());
    for (const Problem& other : {square(8192, Type::f16), square(8192, Type::bf16, Accuracy::balanced)}) {
        EXPECT_EQ(to_string(plan_for(other, machine)), to_string(plan_for(other, usual)));
    }
    Problem added = square(32768, Type::f16);
    added.options.accumulate = true;  // its sums cannot be scaled, so it has no levels
    const ProductPlan plan = plan_for(added, machine_with(Type::f16, 32768, kTwice, 0.9));
    EXPECT_TRUE(plan.levels.empty());
    EXPECT_EQ(plan.leaf, "cublas");
    Problem small = square(8192, Type::bf16);
    small.options.workspace_limit_bytes = 0;
    EXPECT_TRUE(plan_for(small, machine).levels.empty());
}

TEST(tune_device_plans, odd_sizes_are_extended_to_the_plan_that_was_faster) {
    const Machine machine = machine_with(Type::tf32, 8192, kTwice, 0.9);
    const ProductPlan plan = plan_for(square(8191, Type::tf32), machine);
    EXPECT_TRUE(plan.padded) << to_string(plan);
    ASSERT_EQ(plan.levels.size(), 1U);
    EXPECT_EQ(plan.leaf, "cublaslt-batched");
    const double library_s = plan_with_shape(square(8192, Type::tf32), machine, kLibrary).predicted_s;
    EXPECT_GT(plan.predicted_s, 0.9 * library_s);
    EXPECT_LT(plan.predicted_s, 1.1 * library_s);
}

TEST(tune_device_plans, what_they_say_of_levels_corrects_the_cost_model_between_them) {
    Machine machine = usual_machine();
    const Problem between = square(12288, Type::f32);
    const ProductPlan before = plan_for(between, machine);
    ASSERT_FALSE(before.levels.empty());
    for (const std::int64_t n : {8192, 16384}) {
        measure(machine, Type::f32, n, kTwice, 1.1);
        measure(machine, Type::f32, n, {{"winograd", "winograd*winograd"}, "cublas-batched"}, 1.15);
        measure(machine, Type::f32, n, {{"winograd"}, "cublas-batched"}, 1.05);
    }
    EXPECT_GT(plan_with_levels(between, machine, before.levels).predicted_s, 1.15 * before.predicted_s);
    EXPECT_TRUE(plan_for(between, machine).levels.empty()) << to_string(plan_for(between, machine));
}

TEST(tune_device_plans, everybody_is_compared_with_the_library) {
    HEPTAD_NEEDS_DEVICE();
    constexpr std::int64_t kSide = 1024, kBytes = 3 * kSide * kSide * 8;
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    const cuda::DeviceMemory memory(0, kBytes, stream.handle());
    cuda::fill_bytes(memory.data(), 0, kBytes, stream.handle());
    Machine machine = usual_machine();
    machine.combine_bytes_per_s = 1e15;  // so that levels look good enough to take part
    machine.call_s = 1e-7;
    machine.leaves.push_back({"cublaslt", Type::f64, 1, {{kSide, kSide, kSide, 1e-3}}});
    LoadWatch watch(load_rules(1, 10));
    const Machine usual = machine;
    const DeviceGround ground{backend, stream, static_cast<std::byte*>(memory.data()), kBytes, watch, usual};
    ASSERT_TRUE(measure_device_plans_on(Type::f64, kSide, ground, usual, machine));
    const std::vector<MeasuredPlan>& rows = machine.measured_plans;
    ASSERT_GE(rows.size(), 3U);
    EXPECT_EQ(rows.front().plan, kLibrary);
    EXPECT_EQ(rows.front().relative_time, 1);
    EXPECT_GE(rows.front().rounds, kFewestRounds);
    for (const MeasuredPlan& row : rows) {
        EXPECT_GE(row.rounds, 1);
        EXPECT_GT(row.relative_time, 0.2);
        EXPECT_LT(row.relative_time, 50);
    }
    const DeviceGround too_small{backend, stream, static_cast<std::byte*>(memory.data()), kBytes - 1, watch, usual};
    EXPECT_FALSE(measure_device_plans_on(Type::f64, kSide, too_small, usual, machine));
}

}  // namespace
}  // namespace heptad::test
