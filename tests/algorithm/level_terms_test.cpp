// Levels of terms are the Kronecker product of the coefficients.
#include "algorithm/level_terms.hpp"

#include <gtest/gtest.h>

#include "algorithm/catalogue.hpp"

namespace heptad {
namespace {

void expect_equal(const LevelTerms& nested, const LevelTerms& composed, const char* name) {
    EXPECT_EQ(nested.grid, composed.grid) << name;
    EXPECT_EQ(nested.rank, composed.rank) << name;
    ASSERT_EQ(nested.products.size(), composed.products.size()) << name;
    for (std::size_t i = 0; i < nested.products.size(); ++i) {
        const BlockProduct &x = nested.products[i], &y = composed.products[i];
        EXPECT_EQ(x.product, y.product) << name;
        EXPECT_EQ(x.left, y.left) << name;
        EXPECT_EQ(x.right, y.right) << name;
        EXPECT_EQ(x.result, y.result) << name;
    }
}

TEST(level_terms, of_nested_levels_are_those_of_the_composed_algorithm) {
    for (const char* name : {"strassen", "winograd", "2x2x3-11", "2x2x2-7-accurate", "self-inverse"}) {
        const Algorithm& one = find_algorithm(name).standard;
        const bool mod_2 = one.ring == Ring::gf2;
        expect_equal(nested_levels(level_terms(one, mod_2), 2, BlockNumbers::by_rows),
                     level_terms(compose(one, one), mod_2), name);
    }
}

TEST(level_terms, of_different_levels_are_those_of_the_composed_algorithm) {
    for (const char* name : {"strassen", "2x2x3-11", "3x2x3-15"}) {
        const Algorithm &outer = find_algorithm("winograd").standard, &inner = find_algorithm(name).standard;
        expect_equal(nested_levels(std::vector{level_terms(outer), level_terms(inner)}, BlockNumbers::by_rows),
                     level_terms(compose(outer, inner)), name);
        expect_equal(nested_levels(std::vector{level_terms(inner), level_terms(outer)}, BlockNumbers::by_rows),
                     level_terms(compose(inner, outer)), name);
    }
}

TEST(level_terms, blocks_of_blocks_are_numbered_by_rows_or_nested) {
    LevelTerms one;
    one.grid = {2, 3, 2};
    one.rank = 1;
    one.products.push_back({{{{4, 2}}, {{5, 3}}, {{3, -1}}}, 0});
    // Row 1, column 1 of 2 x 3 blocks, in such a block again: row 3, column 4 of 4 x 9 blocks.
    const BlockProduct by_rows = nested_levels(one, 2, BlockNumbers::by_rows).products[0];
    EXPECT_EQ(by_rows.left, (std::vector<BlockTerm>{{3 * 9 + 4, 4}}));
    EXPECT_EQ(by_rows.result[0].coefficient, 1);
    const BlockProduct nested = nested_levels(one, 2, BlockNumbers::nested).products[0];
    EXPECT_EQ(nested.left, (std::vector<BlockTerm>{{4 * 6 + 4, 4}}));
}

TEST(level_terms, of_no_level_are_the_product_itself) {
    const LevelTerms none = nested_levels(level_terms(find_algorithm("strassen").standard), 0, BlockNumbers::nested);
    ASSERT_EQ(none.products.size(), 1U);
    EXPECT_EQ(none.products[0].left, (std::vector<BlockTerm>{{0, 1}}));
}

TEST(level_terms, turns_of_a_block_count_up_and_end_with_the_last) {
    const LevelTerms level = nested_levels(level_terms(find_algorithm("winograd").standard), 2, BlockNumbers::by_rows);
    std::vector<BlockResult> latest(16, {0, 1, -1, false});
    for (const BlockProduct& product : level.products) {
        for (const BlockResult& result : product.result) {
            BlockResult& before = latest[static_cast<std::size_t>(result.block)];
            EXPECT_EQ(result.turn, before.turn + 1);
            EXPECT_FALSE(before.last);
            before = result;
        }
    }
    for (const BlockResult& result : latest) {
        EXPECT_TRUE(result.last);
    }
}

}  // namespace
}  // namespace heptad
