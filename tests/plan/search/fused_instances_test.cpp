// The instances of a fused level: P2's variants counted, groups without a common target, and the product they add up
// to.
#include "plan/search/fused_instances.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "algorithm/catalogue.hpp"

namespace heptad {
namespace {

std::map<OperandCounts, int> variants_of(const FusedInstances& level) {
    std::map<OperandCounts, int> variants;
    for (const BlockProduct& instance : level.instances) {
        ++variants[operand_counts(instance)];
    }
    return variants;
}

TEST(fused_instances, one_level_of_strassen_has_the_four_variants_of_p2) {
    const std::map<OperandCounts, int> expected{{{2, 2, 2}, 1}, {{2, 2, 1}, 2}, {{1, 2, 2}, 2}, {{2, 1, 2}, 2}};
    EXPECT_EQ(variants_of(fused_instances("strassen")), expected);
}

TEST(fused_instances, two_levels_of_strassen_have_the_ten_variants_and_49_instances_of_p2) {
    const std::map<OperandCounts, int> expected{{{4, 4, 4}, 1}, {{1, 4, 4}, 4}, {{2, 4, 4}, 4}, {{4, 1, 4}, 4},
                                                {{4, 2, 4}, 4}, {{4, 4, 1}, 4}, {{4, 4, 2}, 4}, {{2, 2, 4}, 8},
                                                {{2, 4, 2}, 8}, {{4, 2, 2}, 8}};
    const FusedInstances& level = fused_instances("strassen*strassen");
    EXPECT_EQ(variants_of(level), expected);
    EXPECT_EQ(level.instances.size(), 49U);
    EXPECT_EQ(level.most, (OperandCounts{4, 4, 4}));
}

TEST(fused_instances, products_of_a_group_have_no_common_target) {
    for (const char* name : {"strassen", "winograd", "strassen*strassen", "2x2x3-11", "3x3x3-23"}) {
        const FusedInstances& level = fused_instances(name);
        ASSERT_FALSE(level.group_ends.empty());
        EXPECT_EQ(level.group_ends.back(), static_cast<int>(level.instances.size()));
        int first = 0;
        for (const int end : level.group_ends) {
            std::set<int> targets;
            ASSERT_LT(first, end);
            for (; first < end; ++first) {
                for (const BlockResult& target : level.instances[static_cast<std::size_t>(first)].result) {
                    EXPECT_TRUE(targets.insert(target.block).second) << name;
                }
            }
        }
    }
}

/// A block of C that four products update needs four groups; strassen needs no more than that, and its square no more
/// than 4 * 4.
TEST(fused_instances, strassen_needs_no_more_groups_than_one_block_has_writers) {
    EXPECT_EQ(fused_instances("strassen").group_ends.size(), 4U);
    EXPECT_EQ(fused_instances("strassen*strassen").group_ends.size(), 16U);
}

TEST(fused_instances, every_product_of_an_algorithm_is_there_once_and_they_add_up_to_the_matrix_product) {
    int algorithms = 0;
    for (const std::string& name : algorithm_names(true)) {
        const Algorithm& algorithm = find_algorithm(name).standard;
        if (algorithm.ring == Ring::gf2 || algorithm.m * algorithm.k * algorithm.n > 36) {
            continue;
        }
        const FusedInstances& level = fused_instances(name);
        std::set<int> products;
        std::map<std::array<int, 3>, double> found;  // coefficient of a_i b_j in c_l
        for (const BlockProduct& instance : level.instances) {
            EXPECT_TRUE(products.insert(instance.product).second) << name;
            for (const BlockTerm& a : instance.left) {
                for (const BlockTerm& b : instance.right) {
                    for (const BlockResult& c : instance.result) {
                        found[{a.block, b.block, c.block}] += a.coefficient * b.coefficient * c.coefficient;
                    }
                }
            }
        }
        for (int i = 0; i < algorithm.m; ++i) {
            for (int q = 0; q < algorithm.k; ++q) {
                for (int j = 0; j < algorithm.n; ++j) {
                    double& here = found[{i * algorithm.k + q, q * algorithm.n + j, i * algorithm.n + j}];
                    EXPECT_NEAR(here, 1, 1e-12) << name;
                    here = 0;
                }
            }
        }
        for (const auto& [term, coefficient] : found) {
            EXPECT_NEAR(coefficient, 0, 1e-12) << name;
        }
        ++algorithms;
    }
    EXPECT_GT(algorithms, 20);
}

TEST(fused_instances, first_coefficients_of_strassen_are_one) {
    for (const BlockProduct& instance : fused_instances("strassen*strassen").instances) {
        EXPECT_EQ(instance.left.front().coefficient, 1);
        EXPECT_EQ(instance.right.front().coefficient, 1);
    }
}

TEST(fused_instances, sides_cover_the_size_and_keep_large_blocks_aligned) {
    EXPECT_EQ(fused_side(1, 2, Type::f32), 1);
    EXPECT_EQ(fused_side(129, 2, Type::f32), 65);
    EXPECT_EQ(fused_side(129, 4, Type::f64), 33);
    EXPECT_EQ(fused_side(4096, 2, Type::f32), 2048);
    EXPECT_EQ(fused_side(4097, 2, Type::f32), 2052);
    EXPECT_EQ(fused_side(4097, 2, Type::f64), 2050);
    EXPECT_EQ(fused_side(4097, 2, Type::bf16), 2056);
    EXPECT_EQ(fused_side(4098, 3, Type::f32), 1368);
}

TEST(fused_instances, a_launch_takes_all_products_of_its_levels) {
    for (const FusedOrder order : {FusedOrder::persistent, FusedOrder::atomic}) {
        EXPECT_EQ(levels_of_launch(order, 7, 49), kMostFusedInstances / 7);
        EXPECT_EQ(levels_of_launch(order, 7, 3), 3);
        EXPECT_EQ(levels_of_launch(order, 2 * kMostFusedInstances, 7), 1);
        EXPECT_EQ(levels_of_launch(order, 0, 0), 1);
    }
    for (const FusedOrder order : {FusedOrder::serial, FusedOrder::two_streams, FusedOrder::batched}) {
        EXPECT_EQ(levels_of_launch(order, 7, 49), 49);
    }
}

}  // namespace
}  // namespace heptad
