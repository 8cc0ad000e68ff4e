#include "run/fused_products.hpp"

#include <algorithm>

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

std::vector<FusedTerm> present_terms(const std::vector<InstanceTerm>& terms, const ConstView& view, int grid_cols,
                                     std::int64_t rows, std::int64_t cols) {
    std::vector<FusedTerm> present;
    present.reserve(terms.size());
    for (const InstanceTerm& term : terms) {
        const ConstView place = block_at(view, term.block, grid_cols, rows, cols);
        if (!is_empty(place)) {
            present.push_back({place, term.coefficient});
        }
    }
    return present;
}

}  // namespace

std::vector<FusedProduct> fused_products(const FusedInstances& instances, double alpha, const ConstView& a,
                                         const ConstView& b, double beta, const View& c) {
    const std::int64_t m = fused_side(c.rows, instances.m, c.type);
    const std::int64_t k = fused_side(a.cols, instances.k, c.type);
    const std::int64_t n = fused_side(c.cols, instances.n, c.type);
    std::vector<bool> is_written(static_cast<std::size_t>(instances.m) * static_cast<std::size_t>(instances.n));
    std::vector<FusedProduct> products;
    products.reserve(instances.instances.size());
    for (const FusedInstance& instance : instances.instances) {
        FusedProduct product{m,
                             k,
                             n,
                             present_terms(instance.left, a, instances.k, m, k),
                             present_terms(instance.right, b, instances.n, k, n),
                             {}};
        if (product.left.empty() || product.right.empty()) {
            continue;
        }
        product.targets.reserve(instance.targets.size());
        for (const InstanceTerm& target : instance.targets) {
            const View place = block_at(c, target.block, instances.n, m, n);
            if (!is_empty(place)) {
                const auto number = static_cast<std::size_t>(target.block);
                product.targets.push_back({place, alpha * target.coefficient, is_written[number] ? 1 : beta});
                is_written[number] = true;
            }
        }
        if (!product.targets.empty()) {
            products.push_back(std::move(product));
        }
    }
    return products;
}

}  // namespace heptad
