// Plans with a fused level: when the planner takes one, what it costs, how it prints; and the prediction behind it.
#include <gtest/gtest.h>

#include <cmath>

#include <algorithm>

#include "plan/predict/fused_prediction.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// A device whose kernels with sums inside multiply as fast as its library, at 50 Tflop/s.
Machine fusing_device() {
    Machine machine;
    machine.combine_bytes_per_s = machine.scan_bytes_per_s = 3.7e12;
    machine.call_s = 20e-6;
    LeafProfile library{"cublas", Type::f32, 1, {}};
    LeafProfile batched{"cublas-batched", Type::f32, 1, {}};
    for (const std::int64_t n : {512, 2048, 8192, 16384}) {
        const auto side = static_cast<double>(n);
        library.samples.push_back({n, n, n, 2 * side * side * side / 50e12});
        batched.samples.push_back({n, n, n, 2 * side * side * side / 50e12});
    }
    machine.leaves = {library, batched};
    machine.fused_device = {132, 3e-6};
    FusedProfile huge;
    huge.global_bytes_per_s = 5.5e12;
    huge.flops_per_s = 50e12;
    huge.addition_flops = 4;
    huge.update_flops = huge.atomic_flops = 20;
    FusedProfile small = huge;
    small.tile = FusedTile::large;
    small.tile_m = small.tile_n = 64;
    small.flops_per_s = 38e12;
    machine.fused = {huge, small};
    return machine;
}

Problem on_device(std::int64_t m, std::int64_t k, std::int64_t n) {
    Problem problem;
    problem.m = m;
    problem.k = k;
    problem.n = n;
    problem.type = Type::f32;
    problem.options.device = "cuda";
    return problem;
}

PlannerLimits limits() {
    PlannerLimits result;
    result.smallest_leaf = 512;
    result.min_gain = 1.02;
    return result;
}

/// The same with kernels for one level only.
Machine fusing_two_terms() {
    Machine machine = fusing_device();
    for (FusedProfile& profile : machine.fused) {
        profile.most_terms = 2;
    }
    return machine;
}

TEST(fused_prediction, updates_in_any_order_leave_no_half_empty_wave_where_tiles_can_be_shared) {
    const FusedDevice device{132, 3e-6};
    FusedProfile huge = fusing_device().fused.front();
    huge.tile_m = 128;
    huge.tile_n = 256;
    const FusedInstances& instances = fused_instances("strassen");
    const auto seconds = [&](FusedOrder order, std::int64_t n) {
        return fused_seconds(device, huge, order, instances, {n / 2, n / 2, n / 2});
    };
    // 224 tiles on 132 multiprocessors: two waves, or 1.7.
    EXPECT_DOUBLE_EQ(seconds(FusedOrder::atomic, 2048), seconds(FusedOrder::persistent, 2048));
    huge.regular = true;
    EXPECT_LT(seconds(FusedOrder::atomic, 2048), 0.95 * seconds(FusedOrder::persistent, 2048));
    EXPECT_GT(seconds(FusedOrder::atomic, 2048), 0.85 * seconds(FusedOrder::persistent, 2048));
    // 27.15 waves: hardly any difference.
    EXPECT_LE(seconds(FusedOrder::atomic, 8192), seconds(FusedOrder::persistent, 8192));
    EXPECT_GT(seconds(FusedOrder::atomic, 8192), 0.96 * seconds(FusedOrder::persistent, 8192));
}

TEST(fused_prediction, passes_of_a_device_are_started_while_it_works) {
    Machine machine = fusing_device();
    const auto predicted = [&](double call_s) {
        machine.call_s = call_s;
        return plan_with_levels(on_device(8192, 8192, 8192), machine, {{"winograd", LevelMode::parallel, ""}})
            .predicted_s;
    };
    EXPECT_NEAR(predicted(40e-6) - predicted(20e-6), 20e-6,
                1e-9);                  // one of the three passes has nothing to hide behind
    EXPECT_DOUBLE_EQ(predicted(1), 3);  // the device waits for the host
}

TEST(fused_plan, without_any_workspace_the_planner_takes_one_fused_level_or_two_at_once) {
    Problem problem = on_device(8192, 8192, 8192);
    problem.options.workspace_limit_bytes = 0;
    EXPECT_EQ(make_plan(problem, fusing_device(), limits()).levels.front().algorithm, "strassen*strassen");
    const ProductPlan plan = make_plan(problem, fusing_two_terms(), limits());
    ASSERT_EQ(plan.levels.size(), 1U) << to_string(plan);
    EXPECT_EQ(plan.levels.front().algorithm, "strassen");
    EXPECT_EQ(plan.levels.front().mode, LevelMode::fused);
    EXPECT_EQ(plan.levels.front().order, FusedOrder::persistent);
    EXPECT_EQ(plan.levels.front().tile, FusedTile::huge);
    EXPECT_EQ(plan.workspace_bytes, 0);
    const double classical = plan_with_levels(problem, fusing_device(), {}).predicted_s;
    EXPECT_GT(classical / plan.predicted_s, 1.05);
    EXPECT_LT(classical / plan.predicted_s, 8.0 / 7);
}

TEST(fused_plan, a_device_without_such_kernels_is_never_given_one) {
    Machine machine = fusing_device();
    machine.fused.clear();
    Problem problem = on_device(8192, 8192, 8192);
    problem.options.workspace_limit_bytes = 0;
    EXPECT_TRUE(make_plan(problem, machine, limits()).levels.empty());
    problem.options.mode = "fused";
    try {
        make_plan(problem, machine, limits());
        FAIL() << "planned";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find("set mode to auto"), std::string::npos) << error.what();
    }
    problem.options.device = "cpu";
    EXPECT_THROW(make_plan(problem, fusing_device(), limits()), Error);
    problem.options.device = "reference";
    problem.options.levels = 1;
    EXPECT_EQ(make_plan(problem, Machine{}, limits()).levels.front().mode, LevelMode::fused);
}

TEST(fused_plan, other_types_of_the_device_are_not_given_one_either) {
    Problem problem = on_device(8192, 8192, 8192);
    problem.type = Type::f64;
    problem.options.workspace_limit_bytes = 0;
    EXPECT_TRUE(make_plan(problem, fusing_device(), limits()).levels.empty());
}

TEST(fused_plan, a_kernel_for_two_terms_is_not_given_four) {
    Problem problem = on_device(8192, 8192, 8192);
    problem.options.workspace_limit_bytes = 0;
    problem.options.algorithm = "winograd";
    EXPECT_TRUE(make_plan(problem, fusing_two_terms(), limits()).levels.empty());
    problem.options.algorithm = "auto";
    EXPECT_EQ(make_plan(problem, fusing_two_terms(), limits()).levels.front().algorithm, "strassen");
}

TEST(fused_plan, a_kernel_for_regular_products_is_not_given_others) {
    Machine machine = fusing_two_terms();
    machine.fused.resize(1);
    machine.fused.push_back(machine.fused[0]);
    machine.fused[0].regular = true;
    machine.fused[1].flops_per_s /= 2;
    const auto levels_of = [&](std::int64_t k, std::int64_t n) {
        Problem problem = on_device(8192, k, n);
        problem.options.workspace_limit_bytes = 0;
        return make_plan(problem, machine, limits()).levels.size();
    };
    EXPECT_EQ(levels_of(8192, 8192), 1U);
    EXPECT_EQ(levels_of(8200, 8192), 0U);  // blocks of k = 4100
    EXPECT_EQ(levels_of(8192, 8198), 0U);  // blocks of n = 4099
}

TEST(fused_plan, forced_levels_are_parallel_above_one_fused_level) {
    Problem problem = on_device(4096, 4096, 4096);
    problem.options.mode = "fused";
    for (const int levels : {1, 2, 3}) {
        problem.options.levels = levels;
        const ProductPlan plan = make_plan(problem, fusing_device(), limits());
        ASSERT_EQ(plan.levels.size(), static_cast<std::size_t>(levels));
        for (int i = 0; i + 1 < levels; ++i) {
            EXPECT_EQ(plan.levels[static_cast<std::size_t>(i)].mode, LevelMode::parallel);
        }
        EXPECT_EQ(plan.levels.back().mode, LevelMode::fused);
        EXPECT_EQ(plan.levels.back().algorithm, "strassen");
        EXPECT_EQ(plan.vendor_workspace_bytes, 0);  // nothing calls the library
        EXPECT_EQ(plan.workspace_bytes > 0, levels > 1);
    }
    problem.options.levels = 2;
    problem.options.workspace_limit_bytes = 1000;
    EXPECT_EQ(make_plan(problem, fusing_device(), limits()).levels.size(), 1U);
}

TEST(fused_plan, automatic_levels_in_mode_fused_end_in_a_fused_one_or_are_none) {
    Problem problem = on_device(16384, 16384, 16384);
    problem.options.mode = "fused";
    problem.options.accuracy = Accuracy::fast;
    const ProductPlan plan = make_plan(problem, fusing_device(), limits());
    ASSERT_FALSE(plan.levels.empty());
    EXPECT_EQ(plan.levels.back().mode, LevelMode::fused);
    EXPECT_GT(plan.levels.size(), 1U) << to_string(plan);
}

TEST(fused_plan, the_atomic_order_is_never_chosen) {
    for (const std::int64_t n : {1024, 2048, 3072, 8192}) {
        Problem problem = on_device(n, n, n);
        problem.options.mode = "fused";
        const ProductPlan plan = make_plan(problem, fusing_device(), limits());
        if (!plan.levels.empty()) {
            EXPECT_NE(plan.levels.back().order, FusedOrder::atomic);
        }
    }
}

TEST(fused_plan, small_blocks_get_the_smaller_tile) {
    const auto tile_at = [](std::int64_t n) {
        return plan_with_levels(on_device(n, n, n), fusing_device(), {{"strassen", LevelMode::fused, ""}})
            .levels.back()
            .tile;
    };
    EXPECT_EQ(tile_at(512), FusedTile::large);
    EXPECT_EQ(tile_at(8192), FusedTile::huge);
}

TEST(fused_plan, odd_sizes_have_no_fringes) {
    const ProductPlan plan =
        plan_with_levels(on_device(4097, 4099, 4101), fusing_device(), {{"strassen", LevelMode::fused, ""}});
    EXPECT_EQ(plan.core_m, 4097);
    EXPECT_EQ(plan.core_k, 4099);
    EXPECT_EQ(plan.core_n, 4101);
    EXPECT_EQ(leaf_size(plan).m, 2052);
}

TEST(fused_plan, error_bound_is_the_one_of_the_same_algorithm_in_another_mode) {
    const Problem problem = on_device(4096, 4096, 4096);
    for (const char* algorithm : {"strassen", "strassen*strassen"}) {
        const double fused =
            plan_with_levels(problem, fusing_device(), {{algorithm, LevelMode::fused, ""}}).error_bound;
        const double parallel =
            plan_with_levels(problem, fusing_device(), {{algorithm, LevelMode::parallel, ""}}).error_bound;
        EXPECT_EQ(fused, parallel);
    }
}

TEST(fused_plan, orders_and_tiles_print_and_parse_back) {
    for (const FusedOrder order : fused_orders) {
        for (const FusedTile tile : fused_tiles) {
            const ProductPlan plan = plan_with_levels(on_device(1000, 1000, 1000), Machine{},
                                                      {{"strassen", LevelMode::fused, "", order, tile}});
            EXPECT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
            EXPECT_NO_THROW(check_plan(plan));
        }
    }
    const auto levels_of = [](const std::string& text) {
        return parse_plan("plan 8x8x8 f32 backend=cuda threads=1 levels=" + text +
                          " leaf=cublas fringe-leaf=cublas core=8x8x8 accumulate=no change-basis=no workspace-bytes=0 "
                          "predicted-s=0 error-bound=0")
            .levels;
    };
    EXPECT_EQ(levels_of("strassen:fused").front().order, FusedOrder::persistent);
    EXPECT_EQ(levels_of("strassen:fused:atomic").front().order, FusedOrder::atomic);
    EXPECT_EQ(levels_of("strassen:fused:two-streams:tall").front().tile, FusedTile::tall);
    for (const char* wrong : {"strassen:fused:sometimes", "strassen:fused:serial:vast", "strassen:fused:serial:huge:x",
                              "strassen:parallel:x:y", "strassen:fuse"}) {
        EXPECT_THROW(levels_of(wrong), Error) << wrong;
    }
}

TEST(fused_plan, a_fused_level_above_another_one_is_refused) {
    ProductPlan plan = plan_with_levels(on_device(1000, 1000, 1000), Machine{},
                                        {{"strassen", LevelMode::parallel, ""}, {"strassen", LevelMode::fused, ""}});
    ASSERT_NO_THROW(check_plan(plan));
    plan.levels.front().mode = LevelMode::fused;
    EXPECT_THROW(check_plan(plan), Error);
}

TEST(fused_plan, one_that_adds_to_c_keeps_no_copy_of_it) {
    Problem problem = on_device(4096, 4096, 4096);
    problem.options.accumulate = true;
    const ProductPlan plan = plan_with_levels(problem, Machine{}, {{"strassen", LevelMode::fused, ""}});
    EXPECT_EQ(plan.levels.front().mode, LevelMode::fused);
    EXPECT_EQ(plan.workspace_bytes, 0);
}

FusedProfile exact_profile() {
    FusedProfile profile;
    profile.global_bytes_per_s = 1e18;
    profile.flops_per_s = 1e12;
    return profile;
}

/// One block of 128 x 128 takes 2 * 128^2 k flops on one of 10 multiprocessors, additions and updates apart.
TEST(fused_prediction, waves_of_each_order_as_counted_by_hand) {
    const FusedDevice device{10, 1e-3};
    FusedProfile profile = exact_profile();
    profile.addition_flops = profile.update_flops = profile.atomic_flops = 1e-9;
    const FusedInstances& strassen = fused_instances("strassen");
    const FusedWork work{256, 1000, 256, 1};  // 4 blocks of each of 7 products
    const double block_s = 2.0 * 128 * 128 * 1000 / 1e11;
    const auto seconds = [&](FusedOrder order) { return fused_seconds(device, profile, order, strassen, work); };
    EXPECT_NEAR(seconds(FusedOrder::serial), 7 * block_s + 7e-3, 1e-9);
    EXPECT_NEAR(seconds(FusedOrder::two_streams), 4 * block_s + 4e-3, 1e-9);  // three pairs and one alone
    EXPECT_NEAR(seconds(FusedOrder::batched), 4 * block_s + 4e-3, 1e-9);
    EXPECT_NEAR(seconds(FusedOrder::persistent), 3 * block_s + 1e-3, 1e-9);  // 28 blocks on 10
    EXPECT_NEAR(seconds(FusedOrder::atomic), 3 * block_s + 1e-3, 1e-9);
    const FusedWork seven{256, 1000, 256, 7};  // below seven products of a level
    EXPECT_NEAR(fused_seconds(device, profile, FusedOrder::persistent, strassen, seven), 20 * block_s + 1e-3, 1e-9);
    EXPECT_NEAR(fused_seconds(device, profile, FusedOrder::serial, strassen, seven), 49 * block_s + 49e-3, 1e-9);
}

TEST(fused_prediction, updates_of_products_that_end_together_wait_for_each_other) {
    FusedProfile profile = exact_profile();
    profile.addition_flops = profile.update_flops = profile.atomic_flops = 1e-9;
    profile.turn_s = 0.5;
    const FusedInstances& strassen = fused_instances("strassen");  // groups of 2, 2, 2 and 1
    const auto waits = [&](int multiprocessors, int levels, FusedOrder order) {
        const FusedDevice device{multiprocessors, 1e-3};
        const FusedWork work{256, 1000, 256, levels};  // 4 blocks of each of 7 products
        FusedProfile without = profile;
        without.turn_s = 0;
        return (fused_seconds(device, profile, order, strassen, work) -
                fused_seconds(device, without, order, strassen, work)) /
               profile.turn_s;
    };
    EXPECT_NEAR(waits(4, 1, FusedOrder::persistent), 0, 1e-9);   // one product at a time
    EXPECT_NEAR(waits(8, 1, FusedOrder::persistent), 0, 1e-9);   // two, which have no common target
    EXPECT_NEAR(waits(16, 1, FusedOrder::persistent), 1, 1e-9);  // two groups
    EXPECT_NEAR(waits(28, 1, FusedOrder::persistent), 3, 1e-9);  // all four
    EXPECT_NEAR(waits(28, 7, FusedOrder::persistent), 0, 1e-9);  // one product of each of seven levels
    EXPECT_NEAR(waits(28, 1, FusedOrder::batched), 0, 1e-9);
    EXPECT_NEAR(waits(28, 1, FusedOrder::atomic), 0, 1e-9);
}

TEST(fused_prediction, tiles_at_the_edge_take_longer_and_end_last) {
    FusedProfile profile = exact_profile();
    profile.addition_flops = profile.update_flops = profile.atomic_flops = 1e-9;
    const FusedInstances& strassen = fused_instances("strassen");
    const FusedDevice device{10, 1e-3};
    const double block_s = 2.0 * 128 * 128 * 1000 / 1e11;
    const auto seconds = [&](std::int64_t n, double edge) {
        profile.edge = edge;
        return fused_seconds(device, profile, FusedOrder::persistent, strassen, {256, 1000, n, 1}) - 1e-3;
    };
    EXPECT_NEAR(seconds(256, 3), seconds(256, 1), 1e-9);  // whole tiles only
    EXPECT_NEAR(seconds(255, 1), 3 * block_s, 1e-9);
    // 14 whole tiles and 14 at the edge, three times as long, and half of one of those at the end.
    EXPECT_NEAR(seconds(255, 3), (14 + 14 * 3) / 10.0 * block_s + 1.5 * block_s, 1e-9);
    EXPECT_NEAR(seconds(100, 3), 2 * 3 * block_s, 1e-9);  // 14 tiles, all of them at the edge
}

TEST(fused_prediction, atomic_updates_have_a_cost_of_their_own) {
    const FusedDevice device{10, 1e-3};
    FusedProfile profile = exact_profile();
    const FusedWork work{256, 1000, 256, 1};
    const FusedInstances& strassen = fused_instances("strassen");
    const auto seconds = [&](FusedOrder order) { return fused_seconds(device, profile, order, strassen, work); };
    profile.atomic_flops = profile.update_flops;
    const double persistent_s = seconds(FusedOrder::persistent), atomic_s = seconds(FusedOrder::atomic);
    EXPECT_NEAR(atomic_s, persistent_s, 1e-9);
    profile.atomic_flops = 10 * profile.update_flops;
    EXPECT_GT(seconds(FusedOrder::atomic), atomic_s);
    EXPECT_EQ(seconds(FusedOrder::persistent), persistent_s);
}

/// 49 levels of 7 products of 4 blocks, of which a launch takes 64: five launches for 9 levels each, 252 blocks, and
/// one for 4, 112 blocks, on 10 multiprocessors.
TEST(fused_prediction, products_that_one_launch_does_not_take_are_several_launches) {
    const FusedDevice device{10, 1e-3};
    FusedProfile profile = exact_profile();
    profile.addition_flops = profile.update_flops = profile.atomic_flops = 1e-9;
    const FusedWork work{256, 1000, 256, 49};
    const double block_s = 2.0 * 128 * 128 * 1000 / 1e11;
    static_assert(kMostFusedInstances == 64);
    EXPECT_NEAR(fused_seconds(device, profile, FusedOrder::persistent, fused_instances("strassen"), work),
                (5 * 26 + 12) * block_s + 6e-3, 1e-9);
}

TEST(fused_prediction, every_launch_of_a_batched_order_has_all_its_room) {
    const FusedDevice device{10, 1e-3};
    FusedProfile profile = exact_profile();
    profile.addition_flops = profile.update_flops = profile.atomic_flops = 1e-9;
    // Strassen's groups have at most two instances: of 7 levels 14, far below what a launch takes.
    const FusedInstances& instances = fused_instances("strassen");
    const double together_s = fused_seconds(device, profile, FusedOrder::batched, instances, {256, 1000, 256, 7});
    const auto groups = static_cast<double>(instances.group_ends.size());
    double waves = 0;
    int before = 0;
    for (const int end : instances.group_ends) {
        waves += std::ceil((end - before) * 7 * 4 / 10.0);
        before = end;
    }
    EXPECT_NEAR(together_s, waves * 2.0 * 128 * 128 * 1000 / 1e11 + groups * 1e-3, 1e-9);
}

TEST(fused_prediction, a_last_wave_of_lone_blocks_runs_at_their_rate) {
    const FusedDevice device{10, 1e-9};
    FusedProfile profile = exact_profile();
    profile.addition_flops = profile.update_flops = profile.atomic_flops = 1e-9;
    profile.blocks_of_multiprocessor = 2;
    profile.alone = 0.8;
    const FusedInstances one = make_fused_instances([] {
        Algorithm classical;
        classical.u = classical.v = classical.w = identity_matrix(1);
        return classical;
    }());
    const double block_s = 2.0 * 128 * 128 * 1000 / 1e11;
    const auto seconds = [&](std::int64_t tiles) {
        return fused_seconds(device, profile, FusedOrder::persistent, one, {128 * tiles, 1000, 128, 1});
    };
    EXPECT_NEAR(seconds(10), block_s / 0.8, 1e-8);
    EXPECT_NEAR(seconds(11), 2 * block_s, 1e-8);
    EXPECT_NEAR(seconds(20), 2 * block_s, 1e-8);
    EXPECT_NEAR(seconds(25), 2 * block_s + block_s / 0.8, 1e-8);
    profile.blocks_of_multiprocessor = 8;
    profile.alone = 0.2;
    EXPECT_NEAR(seconds(30), 3 * block_s / 0.6, 1e-8);  // three on each, together at 0.6 of the rate of eight
    EXPECT_NEAR(seconds(60), 6 * block_s, 1e-8);
}

TEST(fused_prediction, memory_bounds_those_products_whose_terms_are_many) {
    const FusedDevice device{1, 1e-9};
    FusedProfile profile = exact_profile();
    profile.flops_per_s = 1e12;
    profile.addition_flops = profile.update_flops = profile.atomic_flops = 1e-9;
    const FusedInstances& two_levels = fused_instances("strassen*strassen");
    // Between the words of products with six terms and those with eight.
    profile.global_bytes_per_s = 1e12 * 4 * 7 * 128 * 1000 / (2.0 * 128 * 128 * 1000);
    double expected = 0;
    int bound = 0;
    for (const BlockProduct& instance : two_levels.instances) {
        const OperandCounts counts = operand_counts(instance);
        const double words = 128.0 * 1000 * (counts.a + counts.b) + 128.0 * 128 * counts.c;
        const double flop_s = 2.0 * 128 * 128 * 1000 / 1e12, memory_s = words * 4 / profile.global_bytes_per_s;
        expected += std::max(flop_s, memory_s);
        bound += memory_s > flop_s ? 1 : 0;
    }
    EXPECT_EQ(bound, 9);  // P2's variants 0, 5 and 6
    EXPECT_NEAR(fused_seconds(device, profile, FusedOrder::persistent, two_levels, {128, 1000, 128, 1}), expected,
                1e-8);
}

TEST(fused_machine, prints_and_parses_back_and_refuses_what_cannot_be) {
    const Machine machine = fusing_device();
    const std::string text = print_machine(machine);
    const Machine again = parse_machine(text);
    EXPECT_EQ(print_machine(again), text);
    ASSERT_EQ(again.fused.size(), 2U);
    EXPECT_EQ(again.fused.back().tile, FusedTile::large);
    EXPECT_EQ(again.fused_device.multiprocessors, 132);
    Machine wrong = machine;
    wrong.fused.front().flops_per_s = -1;
    EXPECT_THROW(parse_machine(print_machine(wrong)), Error);
    wrong = machine;
    wrong.fused.front().tile_m = 0;
    EXPECT_THROW(parse_machine(print_machine(wrong)), Error);
    wrong = machine;
    wrong.fused.front().edge = 0;
    EXPECT_THROW(parse_machine(print_machine(wrong)), Error);
    wrong = machine;
    wrong.fused.front().turn_s = -1e-6;
    EXPECT_THROW(parse_machine(print_machine(wrong)), Error);
    wrong = machine;
    wrong.fused_device.multiprocessors = 0;
    EXPECT_THROW(parse_machine(print_machine(wrong)), Error);
}

}  // namespace
}  // namespace heptad
