#include "run/dense/fused_products.hpp"

#include <algorithm>
#include <utility>

namespace heptad {
namespace {

/// Block `number` of a view cut into blocks of rows x cols, row by row; smaller or empty at the edges.
template <class AnyView>
AnyView block_at(const AnyView& view, int number, int grid_cols, std::int64_t rows, std::int64_t cols) {
    const std::int64_t row = number / grid_cols * rows;
    const std::int64_t col = number % grid_cols * cols;
    return block(view, row, col, std::clamp<std::int64_t>(view.rows - row, 0, rows),
                 std::clamp<std::int64_t>(view.cols - col, 0, cols));
}

bool is_empty(const ConstView& view) {
    return view.rows == 0 || view.cols == 0;
}

std::vector<FusedTerm> present_terms(const std::vector<BlockTerm>& terms, const ConstView& view, int grid_cols,
                                     std::int64_t rows, std::int64_t cols) {
    std::vector<FusedTerm> present;
    present.reserve(terms.size());
    for (const BlockTerm& term : terms) {
        const ConstView place = block_at(view, term.block, grid_cols, rows, cols);
        if (!is_empty(place)) {
            present.push_back({place, term.coefficient});
        }
    }
    return present;
}

}  // namespace

FusedLevel::FusedLevel(const FusedInstances& instances, double alpha, const ConstView& a, const ConstView& b,
                       double beta, const View& c)
    : instances_(&instances),
      alpha_(alpha),
      beta_(beta),
      a_(a),
      b_(b),
      c_(c),
      m_(fused_side(c.rows, instances.grid.m, c.type)),
      k_(fused_side(a.cols, instances.grid.k, c.type)),
      n_(fused_side(c.cols, instances.grid.n, c.type)),
      is_written_(static_cast<std::size_t>(instances.grid.m) * static_cast<std::size_t>(instances.grid.n)) {}

std::optional<FusedProduct> FusedLevel::product(std::size_t i) {
    const BlockProduct& instance = instances_->instances[i];
    FusedProduct product{m_,
                         k_,
                         n_,
                         present_terms(instance.left, a_, instances_->grid.k, m_, k_),
                         present_terms(instance.right, b_, instances_->grid.n, k_, n_),
                         {}};
    if (product.left.empty() || product.right.empty()) {
        return std::nullopt;
    }
    product.targets.reserve(instance.result.size());
    for (const BlockResult& target : instance.result) {
        const View place = block_at(c_, target.block, instances_->grid.n, m_, n_);
        if (!is_empty(place)) {
            const auto number = static_cast<std::size_t>(target.block);
            product.targets.push_back({place, alpha_ * target.coefficient, is_written_[number] ? 1 : beta_});
            is_written_[number] = true;
        }
    }
    if (product.targets.empty()) {
        return std::nullopt;
    }
    return product;
}

std::vector<FusedProduct> fused_products(const FusedInstances& instances, double alpha, const ConstView& a,
                                         const ConstView& b, double beta, const View& c) {
    FusedLevel level(instances, alpha, a, b, beta, c);
    std::vector<FusedProduct> products;
    products.reserve(instances.instances.size());
    for (std::size_t i = 0; i < instances.instances.size(); ++i) {
        if (auto product = level.product(i)) {
            products.push_back(std::move(*product));
        }
    }
    return products;
}

}  // namespace heptad
