#include "run/dense/fused_launches.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "plan/search/fused_instances.hpp"
#include "run/dense/fused_products.hpp"

namespace heptad {
namespace {

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

/// As many products as one launch takes.
class LaunchLoad {
public:
    bool has_room_for(const FusedProduct& product) const {
        return products_.size() < kMostFusedInstances && terms_ + terms_of(product) <= kMostFusedTerms &&
               targets_ + product.targets.size() <= kMostFusedTargets;
    }
    void add(FusedProduct product) {
        terms_ += terms_of(product);
        targets_ += product.targets.size();
        products_.push_back(std::move(product));
    }
    const std::vector<FusedProduct>& products() const { return products_; }
    void clear() {
        products_.clear();
        terms_ = targets_ = 0;
    }

private:
    static std::size_t terms_of(const FusedProduct& product) {
        return product.left.size() + product.right.size() + kSpareFusedTerms;
    }
    std::vector<FusedProduct> products_;
    std::size_t terms_ = 0, targets_ = 0;
};

}  // namespace

void for_each_launch(const LevelPlan& level, const std::vector<LinedProduct>& products,
                     const std::function<void(const std::vector<FusedProduct>&)>& launch) {
    const FusedInstances& instances = fused_instances(level.algorithm);
    std::vector<FusedCall> calls;
    for (const LinedProduct& lined : products) {
        const Product& product = lined.product;
        auto call = std::find_if(calls.begin(), calls.end(),
                                 [&](const FusedCall& other) { return are_laid_out_alike(other.like, product); });
        if (call == calls.end()) {
            calls.push_back({product, {}});
            call = calls.end() - 1;
        }
        call->levels.emplace_back(instances, product.alpha, product.a, product.b, product.beta, product.c);
    }
    LaunchLoad load;
    const auto launch_load = [&] {
        if (load.products().empty()) {
            return;
        }
        launch(load.products());
        load.clear();
    };
    const auto add = [&](std::optional<FusedProduct> product) {
        if (product && !load.has_room_for(*product)) {
            launch_load();
        }
        if (product) {
            load.add(std::move(*product));
        }
    };
    for (FusedCall& call : calls) {
        const auto group = static_cast<std::size_t>(levels_of_launch(
            level.order, static_cast<int>(instances.instances.size()), static_cast<int>(call.levels.size())));
        for (std::size_t first = 0; first < call.levels.size(); first += group) {
            const auto some = std::span(call.levels).subspan(first, std::min(group, call.levels.size() - first));
            for (std::size_t i = 0; i < instances.instances.size(); ++i) {
                for (FusedLevel& one : some) {
                    add(one.product(i));
                }
            }
            launch_load();
        }
    }
}

}  // namespace heptad
