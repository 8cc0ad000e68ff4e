// Real products in rounds: what was measured is recorded, and such a machine plans and prints. Nothing here
// depends on how long anything takes.
#include "tune/tune_plans.hpp"

#include <gtest/gtest.h>

#include "base/thread_pool.hpp"
#include "io/machine_file.hpp"
#include "plan/search/planner.hpp"
#include "tune/tune.hpp"

namespace heptad {
namespace {

/// All leaves seem to be equally fast and passes cost nothing, so that everybody runs. Where ours is the only leaf, as
/// beside libraries with slow kernels, levels run too: products are large enough for them.
Machine hopeful_machine(const cpu::CpuBackend& backend) {
    Machine machine;
    machine.threads = backend.threads();
    machine.combine_bytes_per_s = machine.scan_bytes_per_s = 1e13;
    for (const std::string& leaf : backend.leaves(Type::f32)) {
        machine.leaves.push_back({leaf, Type::f32, machine.threads, {{256, 256, 256, 1e-3}}});
    }
    return machine;
}

/// Clocks that stand still: whatever else this machine does, nobody is in the way.
LoadRules undisturbed() {
    LoadRules rules;
    rules.wall_s = rules.ours_s = rules.all_s = [] { return 0.0; };
    rules.sleep = [](double) {};
    return rules;
}

TEST(tune_plans, a_problem_has_a_classical_product_first_and_three_rounds_at_least) {
    cpu::CpuBackend backend(shared_pool(2));
    Machine machine = hopeful_machine(backend);
    const Operands operands(Type::f32, 512);
    LoadWatch watch(undisturbed());
    const Machine none;
    const TuneGround ground{backend, operands, watch, none};
    ASSERT_TRUE(measure_plans_on(ground, Type::f32, {512, 512, 512}, {3, 3}, {5, 1e6}, machine));
    const std::vector<MeasuredPlan> rows = machine.measured_plans;
    ASSERT_GE(rows.size(), 2U);
    EXPECT_EQ(rows.front().type, Type::f32);
    EXPECT_TRUE(rows.front().plan.levels.empty());
    EXPECT_EQ(rows.front().relative_time, 1);
    EXPECT_GE(rows.front().rounds, kFewestRounds);
    for (const MeasuredPlan& row : rows) {
        EXPECT_EQ(row.error_growth > 0, !row.plan.levels.empty());
        EXPECT_LT(row.error_growth, 100);
    }
    machine = parse_machine(print_machine(machine));
    EXPECT_EQ(machine.measured_plans, rows);
    EXPECT_NO_THROW(check_plan(make_plan({512, 512, 512, Type::f32, 2, {}}, machine)));
}

TEST(tune_plans, no_time_no_rounds) {
    cpu::CpuBackend backend(shared_pool(1));
    const Operands operands(Type::f64, 64);
    Machine machine = default_machine(1);
    LoadWatch watch(undisturbed());
    EXPECT_FALSE(
        measure_plans_on({backend, operands, watch, machine}, Type::f64, {64, 64, 64}, {3, 3}, {5, 0}, machine));
    EXPECT_TRUE(machine.measured_plans.empty());
}

TEST(tune_plans, beside_others_the_rows_before_stay) {
    cpu::CpuBackend backend(shared_pool(2));
    Machine machine = hopeful_machine(backend), before;
    before.measured_plans = {{Type::f32, 512, 512, 512, {{}, "heptad"}, 1, 0, 5, 1},
                             {Type::f32, 256, 256, 256, {{}, "heptad"}, 1, 0, 5, 1}};
    const std::vector<LeafProfile> leaves = machine.leaves;
    const Operands operands(Type::f32, 512);
    LoadRules rules = undisturbed();
    rules.wall_s = [now = 0.0]() mutable { return ++now; };  // and we had none of it
    rules.ours_s = [] { return 0.0; };
    LoadWatch watch(rules);
    ASSERT_TRUE(
        measure_plans_on({backend, operands, watch, before}, Type::f32, {512, 512, 512}, {3, 3}, {5, 1e6}, machine));
    ASSERT_EQ(machine.measured_plans.size(), 1U);
    EXPECT_EQ(machine.measured_plans.front(), before.measured_plans.front());
    EXPECT_FALSE(watch.stored_something());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        EXPECT_EQ(machine.leaves[i].samples.size(), leaves[i].samples.size());
        EXPECT_EQ(machine.leaves[i].samples.front().seconds, leaves[i].samples.front().seconds);
    }
}

}  // namespace
}  // namespace heptad
