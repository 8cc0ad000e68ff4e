// P2's model against values worked out by hand and the figures that P2 prints for a V100.
#include "papers/p2/fused_model.hpp"

#include <gtest/gtest.h>

namespace heptad {
namespace {

constexpr OperandCounts kGemm{1, 1, 1}, kVariant0{2, 2, 2}, kVariant1{2, 2, 1}, kTwoLevels{4, 4, 4};
constexpr int kFloat = 4;

BlockShape square(int side) {
    BlockShape shape = p2_shape(FusedTile::huge);
    shape.m_s = shape.n_s = side;
    return shape;
}

TEST(fused_model, shapes_are_those_of_figure_3) {
    EXPECT_EQ(p2_shape(FusedTile::small).threads(), 64);
    EXPECT_EQ(p2_shape(FusedTile::medium).threads(), 64);
    EXPECT_EQ(p2_shape(FusedTile::large).threads(), 64);
    EXPECT_EQ(p2_shape(FusedTile::tall).threads(), 128);
    EXPECT_EQ(p2_shape(FusedTile::wide).threads(), 128);
    EXPECT_EQ(p2_shape(FusedTile::huge).threads(), 256);
    EXPECT_EQ(p2_shape(FusedTile::automatic).m_s, 128);
}

TEST(fused_model, work_of_a_block_as_counted_by_hand) {
    const BlockWork gemm = block_work(p2_shape(FusedTile::huge), kGemm, 1024);
    EXPECT_EQ(gemm.flops, 2.0 * 128 * 128 * 1024);
    EXPECT_EQ(gemm.global_words, 128.0 * 1024 + 128.0 * 1024 + 128.0 * 128);
    EXPECT_EQ(gemm.shared_words, 256.0 * 16 * 1024 + 2 * 128.0 * 1024);
    const BlockWork sums = block_work(p2_shape(FusedTile::tall), {2, 4, 3}, 100);
    EXPECT_EQ(sums.flops, 2.0 * 128 * 32 * 100 + 128.0 * 100 + 3 * 32.0 * 100 + 2 * 128.0 * 32);
    EXPECT_EQ(sums.global_words, 2 * 128.0 * 100 + 4 * 32.0 * 100 + 3 * 128.0 * 32);
}

TEST(fused_model, global_memory_asks_for_sides_of_58_and_for_huge_blocks_with_two_terms) {
    const ModelDevice v100 = p2_v100();
    EXPECT_NEAR(v100.global_bytes_per_s(), 1.08e12, 1);
    constexpr std::int64_t k = 10000;
    EXPECT_FALSE(shape_bounds(v100, square(58), kGemm, k, kFloat).global_bandwidth);
    EXPECT_TRUE(shape_bounds(v100, square(59), kGemm, k, kFloat).global_bandwidth);
    EXPECT_FALSE(shape_bounds(v100, p2_shape(FusedTile::medium), kGemm, k, kFloat).global_bandwidth);
    EXPECT_TRUE(shape_bounds(v100, p2_shape(FusedTile::large), kGemm, k, kFloat).global_bandwidth);
    for (const OperandCounts& variant : {kVariant0, kVariant1}) {
        EXPECT_FALSE(shape_bounds(v100, p2_shape(FusedTile::large), variant, k, kFloat).global_bandwidth);
        EXPECT_TRUE(shape_bounds(v100, p2_shape(FusedTile::huge), variant, k, kFloat).global_bandwidth);
    }
    for (const FusedTile tile : fused_tiles) {  // "no strategy is suitable"
        EXPECT_FALSE(shape_bounds(v100, p2_shape(tile), kTwoLevels, k, kFloat).global_bandwidth);
    }
}

TEST(fused_model, two_levels_at_once_draw_1900_gigabytes_a_second) {
    const double needed = global_bytes_per_s_needed(p2_v100(), p2_shape(FusedTile::huge), kTwoLevels, 100000, kFloat);
    EXPECT_NEAR(needed / 1e9, 1900, 20);
}

TEST(fused_model, shared_memory_asks_for_more_than_4_elements_of_a_thread_each_way) {
    BlockShape shape = p2_shape(FusedTile::huge);
    shape.m_r = shape.n_r = 4;
    EXPECT_FALSE(shape_bounds(p2_v100(), shape, kGemm, 10000, kFloat).shared_bandwidth);
    shape.m_r = shape.n_r = 8;
    EXPECT_TRUE(shape_bounds(p2_v100(), shape, kGemm, 10000, kFloat).shared_bandwidth);
}

TEST(fused_model, registers_are_those_of_equation_16) {
    const BlockShape& huge = p2_shape(FusedTile::huge);
    EXPECT_EQ(registers_of_thread(huge, kTwoLevels), 160);  // section 5.4
    EXPECT_EQ(registers_of_thread(huge, kVariant0) - registers_of_thread(huge, kGemm), huge.m_r + huge.n_r);
    BlockShape shape = huge;
    shape.m_r = shape.n_r = 12;
    EXPECT_LT(registers_of_thread(shape, kVariant0), 255);
    shape.m_r = shape.n_r = 13;
    EXPECT_GT(registers_of_thread(shape, kVariant0), 255);
    EXPECT_EQ(registers_of_thread(huge, kTwoLevels, SumTime::early), registers_of_thread(huge, kVariant0));
    EXPECT_EQ(registers_of_thread(huge, kGemm, SumTime::early), registers_of_thread(huge, kGemm));
}

TEST(fused_model, huge_blocks_meet_all_bounds_for_one_level) {
    for (const OperandCounts& variant : {kGemm, kVariant0, kVariant1, {1, 2, 2}, {2, 1, 2}}) {
        EXPECT_TRUE(shape_bounds(p2_v100(), p2_shape(FusedTile::huge), variant, 10000, kFloat).all());
    }
    BlockShape deep = p2_shape(FusedTile::huge);
    deep.k_s = 32;  // more than m_S / m_R: some of the tile would not be fetched
    EXPECT_FALSE(shape_bounds(p2_v100(), deep, kGemm, 10000, kFloat).prefetching);
    deep.k_s = 96;
    EXPECT_FALSE(shape_bounds(p2_v100(), deep, kGemm, 10000, kFloat).shared_memory);
}

/// P2's footnote 15, by the registers with which those blocks fit.
TEST(fused_model, active_blocks_are_those_of_the_occupancy_calculator) {
    const ModelDevice v100 = p2_v100();
    EXPECT_EQ(active_blocks(v100, 64, 40, 2048), 24);
    EXPECT_EQ(active_blocks(v100, 64, 48, 2048), 20);
    EXPECT_EQ(active_blocks(v100, 64, 56, 2048), 18);
    EXPECT_EQ(active_blocks(v100, 256, 128, 8192), 2);
    EXPECT_EQ(active_blocks(v100, 64, 32, 0), 32);
    EXPECT_EQ(active_blocks(v100, 256, 32, 48 << 10), 2);
    EXPECT_EQ(active_blocks(v100, 1024, 128, 0), 0);
}

TEST(fused_model, times_follow_the_waves) {
    const ModelDevice v100 = p2_v100();
    const BlockShape& huge = p2_shape(FusedTile::huge);
    // 160 blocks at a time: 1280 x 2048 is one wave exactly, one more row of blocks begins a second.
    const InstanceTime one = instance_time(v100, huge, kGemm, 1280, 4096, 2048, 2, kFloat);
    EXPECT_NEAR(one.flop_s, 2.0 * 1280 * 4096 * 2048 / 15.67e12, 1e-9);
    EXPECT_NEAR(one.seconds(), one.flop_s, 1e-12);
    const InstanceTime two = instance_time(v100, huge, kGemm, 1281, 4096, 2048, 2, kFloat);
    EXPECT_NEAR(two.flop_s, 2 * one.flop_s, 1e-12);
    EXPECT_LT(two.global_s, 1.2 * one.global_s);  // global memory is not dealt out to waves
    const double words = 128.0 * 4096 * 2 + 128 * 128;
    EXPECT_NEAR(one.global_s, 160 * 4 * words / 1.08e12, 1e-9);
    EXPECT_NEAR(one.shared_s, 160 * 4 * (256.0 * 16 * 4096 + 2 * 128 * 4096) / (80.0 * 32 * 4 * 1530e6), 1e-9);
}

TEST(fused_model, small_blocks_are_bound_by_memory_and_huge_ones_by_arithmetic) {
    const ModelDevice v100 = p2_v100();
    const InstanceTime small = instance_time(v100, p2_shape(FusedTile::small), kGemm, 8192, 8192, 8192, 24, kFloat);
    const InstanceTime huge = instance_time(v100, p2_shape(FusedTile::huge), kGemm, 8192, 8192, 8192, 2, kFloat);
    EXPECT_EQ(small.seconds(), small.global_s);
    EXPECT_EQ(huge.seconds(), huge.flop_s);
    EXPECT_LT(huge.seconds(), small.seconds());
}

/// 7 instances of n / 2 against one product of n: the gain of one level on large squares stays below 8 / 7.
TEST(fused_model, one_level_gains_on_large_squares_and_loses_on_small_ones) {
    const auto level_over_gemm = [](std::int64_t n) {
        const ModelDevice v100 = p2_v100();
        const BlockShape& huge = p2_shape(FusedTile::huge);
        double level = 0;
        for (const BlockProduct& instance : fused_instances("strassen").instances) {
            level += instance_time(v100, huge, operand_counts(instance), n / 2, n / 2, n / 2, 2, kFloat).seconds();
        }
        return instance_time(v100, huge, kGemm, n, n, n, 2, kFloat).seconds() / level;
    };
    EXPECT_GT(level_over_gemm(20480), 1.09);
    EXPECT_LT(level_over_gemm(20480), 8.0 / 7);
    EXPECT_LT(level_over_gemm(1024), 1);
}

TEST(fused_model, early_sums_save_registers_and_wait_for_memory) {
    const ModelDevice v100 = p2_v100();
    const BlockShape& huge = p2_shape(FusedTile::huge);
    const InstanceTime late = instance_time(v100, huge, kTwoLevels, 4096, 4096, 4096, 2, kFloat);
    const InstanceTime early = instance_time(v100, huge, kTwoLevels, 4096, 4096, 4096, 2, kFloat, SumTime::early);
    EXPECT_EQ(late.waiting_s, 0);
    EXPECT_GT(early.waiting_s, 0);
    EXPECT_GT(early.seconds(), late.seconds());
    EXPECT_LT(early.global_s, late.global_s);
    EXPECT_NEAR(early.global_s + early.waiting_s, late.global_s, 1e-12);
}

}  // namespace
}  // namespace heptad
