// Contests of real products: who takes part has turns, and a machine with a contest plans and prints. Nothing here
// depends on how long anything takes.
#include "tune/tune_contests.hpp"

#include <gtest/gtest.h>

#include "base/thread_pool.hpp"
#include "io/machine_file.hpp"
#include "plan/search/planner.hpp"
#include "tune/tune.hpp"

namespace heptad {
namespace {

/// All leaves seem to be equally fast and passes cost nothing, so that everybody takes part.
Machine hopeful_machine(const cpu::CpuBackend& backend) {
    Machine machine;
    machine.threads = backend.threads();
    machine.combine_bytes_per_s = machine.scan_bytes_per_s = 1e13;
    for (const std::string& leaf : backend.leaves(Type::f32)) {
        machine.leaves.push_back({leaf, Type::f32, machine.threads, {{256, 256, 256, 1e-3}}});
    }
    return machine;
}

TEST(tune_contests, a_contest_has_a_classical_product_first_and_three_turns_at_least) {
    cpu::CpuBackend backend(shared_pool(2));
    Machine machine = hopeful_machine(backend);
    const Operands operands(Type::f32, 256);
    const std::optional<Contest> contest =
        hold_contest(backend, operands, Type::f32, {256, 256, 256}, {3, 3}, {5, 1e6}, machine);
    ASSERT_TRUE(contest);
    EXPECT_EQ(contest->type, Type::f32);
    EXPECT_TRUE(contest->trials.front().plan.algorithms.empty());
    EXPECT_GE(contest->trials.front().turns, kFewestTurns);
    EXPECT_GE(contest->trials.size(), 2U);
    EXPECT_GT(contest->first_trial_s, 0);
    machine.contests = {*contest};
    machine = parse_machine(print_machine(machine));
    ASSERT_EQ(machine.contests.size(), 1U);
    EXPECT_EQ(machine.contests.front(), *contest);
    EXPECT_NO_THROW(check_plan(make_plan({256, 256, 256, Type::f32, 2, {}}, machine)));
}

TEST(tune_contests, no_time_no_contest) {
    cpu::CpuBackend backend(shared_pool(1));
    const Operands operands(Type::f64, 64);
    EXPECT_FALSE(hold_contest(backend, operands, Type::f64, {64, 64, 64}, {3, 3}, {5, 0}, default_machine(1)));
}

}  // namespace
}  // namespace heptad
