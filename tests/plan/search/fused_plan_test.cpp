// Plans with a fused level: when the planner takes one, what it costs, how it prints.
#include <gtest/gtest.h>

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
