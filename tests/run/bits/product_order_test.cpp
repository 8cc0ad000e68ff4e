#include "run/bits/product_order.hpp"

#include <algorithm>
#include <deque>
#include <tuple>

#include <gtest/gtest.h>

namespace heptad::bits {
namespace {

using Numbers = std::vector<int>;

template <class Terms>
Numbers numbers_of(const Terms& terms) {
    Numbers numbers;
    for (const auto& term : terms) {
        numbers.push_back(term.block);
    }
    return numbers;
}

std::tuple<Numbers, Numbers, Numbers> blocks_of(const BlockProduct& product) {
    return {numbers_of(product.left), numbers_of(product.right), numbers_of(product.result)};
}

/// Blocks that a cache of `room` blocks, emptied of what was used longest ago, has to fetch.
int misses(const std::vector<BlockProduct>& products, std::size_t room) {
    std::deque<std::pair<int, int>> cache;
    int count = 0;
    for (const BlockProduct& product : products) {
        const auto [a, b, c] = blocks_of(product);
        for (int operand = 0; const Numbers& blocks : {a, b, c}) {
            for (const int block : blocks) {
                const std::pair key(operand, block);
                const auto found = std::find(cache.begin(), cache.end(), key);
                if (found == cache.end()) {
                    ++count;
                } else {
                    cache.erase(found);
                }
                cache.push_back(key);
                if (cache.size() > room) {
                    cache.pop_front();
                }
            }
            ++operand;
        }
    }
    return count;
}

TEST(ProductOrder, of_two_levels_are_quarters_of_quarters) {
    const LevelProgram& program = find_level_program("self-inverse");
    ASSERT_EQ(products_in_order(program, 2).size(), 49U);
    // Q1 above (quarter 1 of A, 2 of B, 0 and 3 of C) and Q5 below (1 and 3 of A and of B, 2 and 3 of C).
    const auto [a, b, c] = blocks_of(products_in_order(program, 2)[1]);
    EXPECT_EQ(a, (Numbers{5, 7}));
    EXPECT_EQ(b, (Numbers{9, 11}));
    EXPECT_EQ(c, (Numbers{2, 3, 14, 15}));
}

TEST(ProductOrder, the_order_of_neighbours_has_every_product_once) {
    for (const LevelProgram& program : level_programs()) {
        for (const int levels : {1, 2}) {
            const auto sorted = [](const std::vector<BlockProduct>& products) {
                std::vector<std::tuple<Numbers, Numbers, Numbers>> all;
                std::transform(products.begin(), products.end(), std::back_inserter(all), blocks_of);
                std::sort(all.begin(), all.end());
                return all;
            };
            const std::vector<BlockProduct>& products = products_with_neighbours(program, levels);
            EXPECT_EQ(sorted(products), sorted(products_in_order(program, levels))) << program.name << " " << levels;
            EXPECT_EQ(&products, &products_with_neighbours(program, levels)) << "found once, then kept";
        }
    }
}

TEST(ProductOrder, neighbours_share_blocks) {
    const LevelProgram& program = find_level_program("self-inverse");
    const std::vector<BlockProduct>& products = products_with_neighbours(program, 2);
    for (const std::size_t room : {std::size_t{11}, std::size_t{13}, std::size_t{15}}) {
        EXPECT_LT(misses(products, room), misses(products_in_order(program, 2), room)) << room;
    }
}

}  // namespace
}  // namespace heptad::bits
