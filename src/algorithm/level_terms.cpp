#include "algorithm/level_terms.hpp"

#include <algorithm>

#include "algorithm/linear_program.hpp"

namespace heptad {
namespace {

template <class TermType>
std::vector<TermType> terms_of(const CoefficientMatrix& coefficients, int row) {
    std::vector<TermType> terms;
    for (const LinearTerm& term : terms_of_row(coefficients, row)) {
        terms.push_back({term.value, term.coefficient.to_double()});
    }
    return terms;
}

/// A matrix of outer blocks, each of them one of inner blocks.
struct Nesting {
    BlockNumbers numbers;
    int outer_cols, inner_rows, inner_cols;

    int number(int outer, int inner) const {
        if (numbers == BlockNumbers::nested) {
            return outer * inner_rows * inner_cols + inner;
        }
        const int row = outer / outer_cols * inner_rows + inner / inner_cols;
        return row * outer_cols * inner_cols + outer % outer_cols * inner_cols + inner % inner_cols;
    }

    template <class TermType>
    std::vector<TermType> kronecker(const std::vector<TermType>& outer, const std::vector<TermType>& inner) const {
        std::vector<TermType> terms;
        terms.reserve(outer.size() * inner.size());
        for (const TermType& x : outer) {
            for (const TermType& y : inner) {
                terms.push_back({number(x.block, y.block), x.coefficient * y.coefficient});
            }
        }
        std::ranges::sort(terms, [](const TermType& x, const TermType& y) { return x.block < y.block; });
        return terms;
    }
};

LevelTerms composed(const LevelTerms& outer, const LevelTerms& inner, BlockNumbers numbers) {
    const BlockGrid &of_outer = outer.grid, &of_inner = inner.grid;
    const Nesting a{numbers, of_outer.k, of_inner.m, of_inner.k}, b{numbers, of_outer.n, of_inner.k, of_inner.n},
        c{numbers, of_outer.n, of_inner.m, of_inner.n};
    LevelTerms all;
    all.grid = {of_outer.m * of_inner.m, of_outer.k * of_inner.k, of_outer.n * of_inner.n};
    all.rank = outer.rank * inner.rank;
    all.products.reserve(outer.products.size() * inner.products.size());
    for (const BlockProduct& x : outer.products) {
        for (const BlockProduct& y : inner.products) {
            all.products.push_back(
                {{a.kronecker(x.left, y.left), b.kronecker(x.right, y.right), c.kronecker(x.result, y.result)},
                 x.product * inner.rank + y.product});
        }
    }
    return all;
}

}  // namespace

LevelTerms level_terms(const Algorithm& algorithm, bool mod_2) {
    if (mod_2) {
        Algorithm reduced = algorithm;
        reduced.u = reduced_mod_2(algorithm.u);
        reduced.v = reduced_mod_2(algorithm.v);
        reduced.w = reduced_mod_2(algorithm.w);
        return level_terms(reduced);
    }
    LevelTerms level;
    level.grid = {algorithm.m, algorithm.k, algorithm.n};
    level.rank = algorithm.rank();
    for (int s = 0; s < algorithm.rank(); ++s) {
        BlockProduct product{{terms_of<BlockTerm>(algorithm.u, s), terms_of<BlockTerm>(algorithm.v, s),
                              terms_of<BlockResult>(algorithm.w, s)},
                             s};
        if (!product.left.empty() && !product.right.empty() && !product.result.empty()) {
            level.products.push_back(std::move(product));
        }
    }
    count_turns(level.products);
    return level;
}

LevelTerms nested_levels(const LevelTerms& one, int levels, BlockNumbers numbers) {
    return nested_levels(std::vector<LevelTerms>(static_cast<std::size_t>(levels), one), numbers);
}

LevelTerms nested_levels(std::span<const LevelTerms> levels, BlockNumbers numbers) {
    if (levels.size() == 1) {
        return levels.front();
    }
    LevelTerms all;
    all.rank = 1;
    all.products.push_back({{{{0, 1}}, {{0, 1}}, {{0, 1}}}, 0});
    for (const LevelTerms& level : levels) {
        all = composed(all, level, numbers);
    }
    count_turns(all.products);
    return all;
}

void count_turns(std::vector<BlockProduct>& products) {
    std::vector<BlockResult*> latest;  // of each block
    for (BlockProduct& product : products) {
        for (BlockResult& result : product.result) {
            latest.resize(std::max(latest.size(), static_cast<std::size_t>(result.block) + 1));
            BlockResult*& before = latest[static_cast<std::size_t>(result.block)];
            result.turn = before == nullptr ? 0 : before->turn + 1;
            result.last = true;
            if (before != nullptr) {
                before->last = false;
            }
            before = &result;
        }
    }
}

}  // namespace heptad
