#include "plan/model/plan.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "base/size.hpp"
#include "plan/search/fused_instances.hpp"

namespace heptad {
const char* mode_name(LevelMode mode) {
    switch (mode) {
        case LevelMode::serial:
            return "serial";
        case LevelMode::parallel:
            return "parallel";
        case LevelMode::fused:
            return "fused";
    }
    return "";
}

const char* complex_way_name(ComplexWay way) {
    switch (way) {
        case ComplexWay::three_products:
            return "three-products";
        case ComplexWay::one_product:
            return "one-product";
        case ComplexWay::in_place:
            return "in-place";
        case ComplexWay::none:
            break;
    }
    return "none";
}

int level_count(const ProductPlan& plan) {
    const int below = static_cast<int>(plan.levels.size()) + (plan.host ? plan.host->levels : 0);
    return plan.transfers && !plan.transfers->algorithm.empty()
               ? std::max({below + 1, plan.transfers->opening, plan.transfers->closing})
               : below;
}

LeafSize leaf_size(const ProductPlan& plan) {
    LeafSize leaf{plan.core_m, plan.core_k, plan.core_n, 1};
    for (const LevelPlan& level : plan.levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        if (level.mode == LevelMode::fused) {
            leaf.m = fused_side(leaf.m, algorithm.m, plan.type);
            leaf.k = fused_side(leaf.k, algorithm.k, plan.type);
            leaf.n = fused_side(leaf.n, algorithm.n, plan.type);
        } else {
            leaf.m /= algorithm.m;
            leaf.k /= algorithm.k;
            leaf.n /= algorithm.n;
        }
        leaf.count = checked_mul(leaf.count, algorithm.rank());
    }
    return leaf;
}

}  // namespace heptad
