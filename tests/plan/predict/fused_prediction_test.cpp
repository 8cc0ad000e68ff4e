// The predicted seconds of fused levels: waves, launches, waits and memory as counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/predict/fused_prediction.hpp"

namespace heptad {
namespace {

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

}  // namespace
}  // namespace heptad
