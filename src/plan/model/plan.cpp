#include "plan/model/plan.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "base/names.hpp"
#include "base/size.hpp"
#include "plan/search/fused_instances.hpp"

namespace heptad {

const char* mode_name(LevelMode mode) {
    static constexpr Names<LevelMode, 3> names{{"serial", "parallel", "fused"}};
    return names.of(mode);
}

const char* complex_way_name(ComplexWay way) {
    static constexpr Names<ComplexWay, 4> names{{"none", "three-products", "one-product", "in-place"}};
    return names.of(way);
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
