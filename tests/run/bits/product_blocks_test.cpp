#include "run/bits/product_blocks.hpp"

#include <algorithm>
#include <deque>
#include <tuple>

#include <gtest/gtest.h>

namespace heptad::bits {
namespace {

using Numbers = std::vector<std::int64_t>;

std::tuple<Numbers, Numbers, Numbers> blocks_of(const ProductBlocks& product) {
    return {product.a, product.b, product.c};
}

std::vector<ProductBlocks> in_program_order(const LevelProgram& program, int levels) {
    std::vector<ProductBlocks> products;
    for (std::int64_t i = 0; i < product_count(program, levels); ++i) {
        products.push_back(product_blocks(program, levels, i));
    }
    return products;
}

/// Blocks that a cache of `room` blocks, emptied of what was used longest ago, has to fetch.
int misses(const std::vector<ProductBlocks>& products, std::size_t room) {
    std::deque<std::pair<int, std::int64_t>> cache;
    int count = 0;
    for (const ProductBlocks& product : products) {
        for (int operand = 0; const Numbers& blocks : {product.a, product.b, product.c}) {
            for (const std::int64_t block : blocks) {
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

TEST(ProductBlocks, of_two_levels_are_quarters_of_quarters) {
    const LevelProgram& program = find_level_program("self-inverse");
    ASSERT_EQ(product_count(program, 2), 49);
    // Q1 above (quarter 1 of A, 2 of B, 0 and 3 of C) and Q5 below (1 and 3 of A and of B, 2 and 3 of C).
    const ProductBlocks product = product_blocks(program, 2, 1);
    EXPECT_EQ(product.a, (Numbers{5, 7}));
    EXPECT_EQ(product.b, (Numbers{9, 11}));
    EXPECT_EQ(product.c, (Numbers{2, 3, 14, 15}));
}

TEST(ProductBlocks, the_order_of_neighbours_has_every_product_once) {
    for (const LevelProgram& program : level_programs()) {
        for (const int levels : {1, 2}) {
            const auto sorted = [](const std::vector<ProductBlocks>& products) {
                std::vector<std::tuple<Numbers, Numbers, Numbers>> all;
                std::transform(products.begin(), products.end(), std::back_inserter(all), blocks_of);
                std::sort(all.begin(), all.end());
                return all;
            };
            const std::vector<ProductBlocks>& products = products_with_neighbours(program, levels);
            EXPECT_EQ(sorted(products), sorted(in_program_order(program, levels))) << program.name << " " << levels;
            EXPECT_EQ(&products, &products_with_neighbours(program, levels)) << "found once, then kept";
        }
    }
}

TEST(ProductBlocks, neighbours_share_blocks) {
    const LevelProgram& program = find_level_program("self-inverse");
    const std::vector<ProductBlocks>& products = products_with_neighbours(program, 2);
    for (const std::size_t room : {std::size_t{11}, std::size_t{13}, std::size_t{15}}) {
        EXPECT_LT(misses(products, room), misses(in_program_order(program, 2), room)) << room;
    }
}

}  // namespace
}  // namespace heptad::bits
