// The one spelling of a bilinear step. With A, B and C cut into blocks, a product of a level, or of several levels at
// once, is
//
//   Q = (sum of coefficient * block of A)(sum of coefficient * block of B);   block of C += coefficient * Q
//
// All sums refer to the operands themselves, whatever the number of levels (the Kronecker form), so nothing is kept
// between products.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithm/algorithm.hpp"

namespace heptad {

/// A block of A or B in a sum.
template <class Block>
struct Term {
    Block block{};
    double coefficient = 1;
    bool operator==(const Term&) const = default;
};
/// A block of C that a product is added to.
template <class Block>
struct ResultTerm {
    Block block{};
    double coefficient = 1;
    int turn = 0;      // products before this one that go to the same block
    bool last = true;  // none comes after it
    bool first() const { return turn == 0; }
    bool operator==(const ResultTerm&) const = default;
};
template <class Block>
struct ProductTerms {
    std::vector<Term<Block>> left, right;
    std::vector<ResultTerm<Block>> result;
};

/// Of blocks by their numbers.
using BlockTerm = Term<int>;
using BlockResult = ResultTerm<int>;
struct BlockProduct : ProductTerms<int> {
    int product = 0;  // the row of U, V and W
};

/// Blocks of A, B and C per side.
struct BlockGrid {
    int m = 1, k = 1, n = 1;
    bool operator==(const BlockGrid&) const = default;
};

struct LevelTerms {
    BlockGrid grid;
    int rank = 0;                        // rows of U, V and W
    std::vector<BlockProduct> products;  // without those that nothing is left of
};

/// One level in the standard basis, blocks row by row. `mod_2`: coefficients are those of GF(2).
LevelTerms level_terms(const Algorithm& algorithm, bool mod_2 = false);

/// How blocks of blocks are numbered: row by row of the whole grid, or those of one outer block after another.
enum class BlockNumbers : std::uint8_t { by_rows, nested };
/// So many levels (0 and up) of the same terms: products of the outermost level come one after another.
LevelTerms nested_levels(const LevelTerms& one, int levels, BlockNumbers numbers);
/// Of levels with terms of their own, the outermost first.
LevelTerms nested_levels(std::span<const LevelTerms> levels, BlockNumbers numbers);

/// Sets the turns of all results in the order of the products.
void count_turns(std::vector<BlockProduct>& products);

/// A block by its place in a grid.
struct BlockPlace {
    std::int64_t row = 0, col = 0;
};
template <class Terms>
std::vector<Term<BlockPlace>> placed(const Terms& terms, int grid_cols) {
    std::vector<Term<BlockPlace>> places;
    for (const auto& term : terms) {
        places.push_back({{term.block / grid_cols, term.block % grid_cols}, term.coefficient});
    }
    return places;
}

}  // namespace heptad
