#include "run/dense/fused_products.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "plan/search/fused_instances.hpp"

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

/// The products of one level, made one by one in the order of the instances, by groups.
class FusedLevel {
public:
    /// `instances` must outlive it.
    FusedLevel(const FusedInstances& instances, const Product& whole)
        : instances_(&instances),
          whole_(whole),
          m_(fused_side(whole.c.rows, instances.grid.m, whole.c.type)),
          k_(fused_side(whole.a.cols, instances.grid.k, whole.c.type)),
          n_(fused_side(whole.c.cols, instances.grid.n, whole.c.type)),
          is_written_(static_cast<std::size_t>(instances.grid.m) * static_cast<std::size_t>(instances.grid.n)) {}

    /// Instance number `i`, which comes after all smaller ones. Nothing, if nothing is left of it.
    std::optional<FusedProduct> product(std::size_t i) {
        const BlockProduct& instance = instances_->instances[i];
        FusedProduct product{m_,
                             k_,
                             n_,
                             present_terms(instance.left, whole_.a, instances_->grid.k, m_, k_),
                             present_terms(instance.right, whole_.b, instances_->grid.n, k_, n_),
                             {}};
        if (product.left.empty() || product.right.empty()) {
            return std::nullopt;
        }
        product.targets.reserve(instance.result.size());
        for (const BlockResult& target : instance.result) {
            const View place = block_at(whole_.c, target.block, instances_->grid.n, m_, n_);
            if (!is_empty(place)) {
                const auto number = static_cast<std::size_t>(target.block);
                product.targets.push_back(
                    {place, whole_.alpha * target.coefficient, is_written_[number] ? 1 : whole_.beta});
                is_written_[number] = true;
            }
        }
        return product.targets.empty() ? std::nullopt : std::optional(std::move(product));
    }

private:
    const FusedInstances* instances_;
    Product whole_;
    std::int64_t m_, k_, n_;  // of a block
    std::vector<bool> is_written_;
};

/// Levels whose operands are laid out alike, so that their products can be launched together.
struct FusedCall {
    Product like;
    std::vector<FusedLevel> levels;  // one for each product of the level above
};

bool have_same_strides(const ConstView& x, const ConstView& y) {
    return x.row_stride == y.row_stride && x.col_stride == y.col_stride;
}

bool are_laid_out_alike(const Product& x, const Product& y) {
    return have_same_strides(x.a, y.a) && have_same_strides(x.b, y.b) && have_same_strides(x.c, y.c);
}

}  // namespace

void for_each_launch(const LevelPlan& level, const std::vector<LinedProduct>& products,
                     const std::function<void(const std::vector<FusedProduct>&)>& launch) {
    const FusedInstances& instances = fused_instances(level.algorithm);
    std::vector<FusedCall> calls;
    for (const LinedProduct& lined : products) {
        const Product& product = lined.product;
        auto call = std::ranges::find_if(
            calls, [&](const FusedCall& other) { return are_laid_out_alike(other.like, product); });
        if (call == calls.end()) {
            calls.push_back({product, {}});
            call = calls.end() - 1;
        }
        call->levels.emplace_back(instances, product);
    }
    std::vector<FusedProduct> load;
    FusedRoom room;
    const auto launch_load = [&] {
        if (!load.empty()) {
            launch(load);
        }
        load.clear();
        room = {};
    };
    const auto add = [&](FusedProduct product) {
        const OperandCounts counts{static_cast<int>(product.left.size()), static_cast<int>(product.right.size()),
                                   static_cast<int>(product.targets.size())};
        if (room.left_for(counts) == 0) {
            launch_load();
        }
        room.take(counts, 1);
        load.push_back(std::move(product));
    };
    for (FusedCall& call : calls) {
        const auto group = static_cast<std::size_t>(levels_of_launch(
            level.order, static_cast<int>(instances.instances.size()), static_cast<int>(call.levels.size())));
        for (std::size_t first = 0; first < call.levels.size(); first += group) {
            const auto some = std::span(call.levels).subspan(first, std::min(group, call.levels.size() - first));
            for (std::size_t i = 0; i < instances.instances.size(); ++i) {
                for (FusedLevel& one : some) {
                    if (std::optional<FusedProduct> product = one.product(i)) {
                        add(std::move(*product));
                    }
                }
            }
            launch_load();
        }
    }
}

}  // namespace heptad
