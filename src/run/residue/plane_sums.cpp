#include "run/residue/plane_sums.hpp"

#include <utility>

namespace heptad {

ProductPlaneSums plane_sums(const LevelTerms& levels, bool by_columns) {
    const auto& [m, k, n] = levels.grid;
    const auto transposed = [](int block, int rows, int cols) { return block % cols * rows + block / cols; };
    PlaneSums a{false, m, k, {}}, b{false, n, k, {}}, c{true, by_columns ? n : m, by_columns ? m : n, {}};
    c.outputs.resize(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    for (const BlockProduct& product : levels.products) {
        const auto number = static_cast<int>(a.outputs.size());
        std::vector<PlaneSums::Term>&of_a = a.outputs.emplace_back(), &of_b = b.outputs.emplace_back();
        for (const BlockTerm& term : product.left) {
            of_a.push_back({term.block, static_cast<int>(term.coefficient)});
        }
        for (const BlockTerm& term : product.right) {
            of_b.push_back({transposed(term.block, k, n), static_cast<int>(term.coefficient)});
        }
        for (const BlockResult& term : product.result) {
            const int block = by_columns ? transposed(term.block, m, n) : term.block;
            c.outputs[static_cast<std::size_t>(block)].push_back({number, static_cast<int>(term.coefficient)});
        }
    }
    return by_columns ? ProductPlaneSums{std::move(b), std::move(a), std::move(c)}
                      : ProductPlaneSums{std::move(a), std::move(b), std::move(c)};
}

}  // namespace heptad
