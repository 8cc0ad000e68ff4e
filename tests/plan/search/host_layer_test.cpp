// The sub-instances of the host: their sums and products make up the product, by any algorithm and number of levels.
#include "plan/search/host_layer.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace heptad {
namespace {

using Table = std::vector<double>;

/// C = A * B for matrices of one number per block, by the sub-instances.
Table by_layer(const HostLayer& layer, const Table& a, const Table& b) {
    Table c(static_cast<std::size_t>(layer.grid.m) * static_cast<std::size_t>(layer.grid.n), 0);
    const auto sum = [](const std::vector<BlockTerm>& terms, const Table& blocks) {
        double result = 0;
        for (const BlockTerm& term : terms) {
            result += term.coefficient * blocks[static_cast<std::size_t>(term.block)];
        }
        return result;
    };
    for (std::int64_t group = 0; group < layer.groups(); ++group) {
        double q = 0;
        for (int step = 0; step < layer.steps; ++step) {
            const BlockProduct& instance = layer.instances[static_cast<std::size_t>(group * layer.steps + step)];
            q += sum(instance.left, a) * sum(instance.right, b);
            if (step == layer.steps - 1) {
                for (const BlockResult& term : instance.result) {
                    c[static_cast<std::size_t>(term.block)] += term.coefficient * q;
                }
            }
        }
    }
    return c;
}

Table numbers(std::size_t count, int seed) {
    Table table;
    for (std::size_t i = 0; i < count; ++i) {
        table.push_back(static_cast<double>((static_cast<int>(i) * 7 + seed) % 11 - 5));
    }
    return table;
}

void expect_product(const HostLayer& layer, bool mod_2) {
    const auto m = static_cast<std::size_t>(layer.grid.m), k = static_cast<std::size_t>(layer.grid.k),
               n = static_cast<std::size_t>(layer.grid.n);
    const Table a = numbers(m * k, 1), b = numbers(k * n, 4), c = by_layer(layer, a, b);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            double expected = 0;
            for (std::size_t l = 0; l < k; ++l) {
                expected += a[i * k + l] * b[l * n + j];
            }
            const double difference = c[i * n + j] - expected;
            EXPECT_EQ(mod_2 ? std::fmod(difference, 2) : difference, 0) << i << " " << j;
        }
    }
}

TEST(HostLayer, algorithms_of_one_to_three_levels_make_up_the_product) {
    for (const char* name : {"strassen", "winograd", "2x2x3-11", "3x3x3-23"}) {
        for (int levels = 1; levels <= (name[0] == '3' ? 2 : 3); ++levels) {
            const HostLayer layer = algorithm_layer(name, levels, Type::i32);
            SCOPED_TRACE(std::string(name) + " " + std::to_string(levels));
            EXPECT_EQ(layer.steps, 1);
            EXPECT_FALSE(layer.disjoint);
            expect_product(layer, false);
        }
    }
}

TEST(HostLayer, over_gf2_coefficients_are_ones) {
    for (const char* name : {"strassen", "winograd", "self-inverse", "chaining"}) {
        const HostLayer layer = algorithm_layer(name, 2, Type::gf2);
        EXPECT_EQ(layer.groups(), 49);
        expect_product(layer, true);
        for (const BlockProduct& instance : layer.instances) {
            for (const BlockTerm& term : instance.left) {
                EXPECT_EQ(term.coefficient, 1);
            }
        }
    }
}

TEST(HostLayer, turns_count_the_updates_of_a_block) {
    const HostLayer layer = algorithm_layer("winograd", 2, Type::f32);
    std::vector<int> seen(16, 0);
    for (const BlockProduct& instance : layer.instances) {
        for (const BlockResult& term : instance.result) {
            EXPECT_EQ(term.turn, seen[static_cast<std::size_t>(term.block)]++);
        }
    }
}

TEST(HostLayer, segments_go_along_k_and_share_no_block) {
    const HostLayer layer = segment_layer({3, 4, 2});
    EXPECT_TRUE(layer.disjoint);
    EXPECT_EQ(layer.groups(), 6);
    EXPECT_EQ(layer.steps, 4);
    expect_product(layer, false);
}

TEST(HostLayer, a_row_of_segments_begins_where_the_one_before_ended) {
    const HostLayer layer = segment_layer({3, 1, 4});
    for (std::size_t row = 1; row < 3; ++row) {
        EXPECT_EQ(layer.instances[4 * row].right, layer.instances[4 * row - 1].right) << row;
        EXPECT_EQ(layer.instances[4 * row].left, layer.instances[4 * row + 3].left) << row;
    }
}

TEST(HostLayer, growth_is_that_of_the_algorithm) {
    const LayerGrowth one = layer_growth(algorithm_layer("strassen", 1, Type::f32));
    EXPECT_EQ(one.growth, 12);  // as computed from U, V and W by hand
    EXPECT_EQ(one.largest_sum_a, 2);
    EXPECT_EQ(one.largest_sum_c, 4);
    EXPECT_EQ(one.roundings, 1 + 1 + 3);
    const LayerGrowth two = layer_growth(algorithm_layer("strassen", 2, Type::f32));
    EXPECT_EQ(two.growth, 144);
    EXPECT_EQ(two.largest_sum_b, 4);
    EXPECT_EQ(layer_growth(segment_layer({2, 3, 2})).growth, 1);
}

TEST(HostLayer, what_cannot_be_dealt_out_is_refused) {
    EXPECT_THROW(algorithm_layer("strassen", 0, Type::f32), Error);
    EXPECT_THROW(algorithm_layer("strassen", 5, Type::f32), Error);
    EXPECT_THROW(algorithm_layer("self-inverse", 1, Type::f32), Error);
    EXPECT_THROW(algorithm_layer("strassen", 1, Type::boolean), Error);
    EXPECT_THROW(algorithm_layer("no-such-algorithm", 1, Type::f32), Error);
    EXPECT_THROW(segment_layer({1 << 10, 1 << 10, 2}), Error);
}

}  // namespace
}  // namespace heptad
