#include "plan/search/fused_instances.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "base/shared_state.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

/// Turns the signs of the terms around if the first one is -1, and returns the sign taken out. Any other factor would
/// leave fractions, which exact rings do not have.
double take_sign(std::vector<BlockTerm>& terms) {
    if (terms.front().coefficient != -1) {
        return 1;
    }
    for (BlockTerm& term : terms) {
        term.coefficient = -term.coefficient;
    }
    return -1;
}

/// Each instance goes to the first group where it shares no target; the larger groups come first.
std::vector<std::vector<BlockProduct>> groups_of(const std::vector<BlockProduct>& instances) {
    std::vector<std::vector<BlockProduct>> groups;
    for (const BlockProduct& instance : instances) {
        const auto group = std::ranges::find_if(groups, [&](const std::vector<BlockProduct>& others) {
            return std::ranges::none_of(others,
                                        [&](const BlockProduct& other) { return share_a_target(instance, other); });
        });
        if (group == groups.end()) {
            groups.push_back({instance});
        } else {
            group->push_back(instance);
        }
    }
    std::ranges::stable_sort(groups, [](const auto& x, const auto& y) { return x.size() > y.size(); });
    return groups;
}

}  // namespace

OperandCounts operand_counts(const BlockProduct& instance) {
    return {static_cast<int>(instance.left.size()), static_cast<int>(instance.right.size()),
            static_cast<int>(instance.result.size())};
}

bool share_a_target(const BlockProduct& x, const BlockProduct& y) {
    return std::ranges::any_of(x.result, [&](const BlockResult& of_x) {
        return std::ranges::any_of(y.result, [&](const BlockResult& of_y) { return of_x.block == of_y.block; });
    });
}

FusedInstances make_fused_instances(const Algorithm& algorithm) {
    LevelTerms level = level_terms(algorithm);
    for (BlockProduct& product : level.products) {
        const double sign = take_sign(product.left) * take_sign(product.right);
        for (BlockResult& target : product.result) {
            target.coefficient *= sign;
        }
    }
    FusedInstances result;
    result.grid = level.grid;
    for (std::vector<BlockProduct>& group : groups_of(level.products)) {
        for (BlockProduct& instance : group) {
            const OperandCounts counts = operand_counts(instance);
            result.most = {std::max(result.most.a, counts.a), std::max(result.most.b, counts.b),
                           std::max(result.most.c, counts.c)};
            result.instances.push_back(std::move(instance));
        }
        result.group_ends.push_back(static_cast<int>(result.instances.size()));
    }
    count_turns(result.instances);
    return result;
}

const FusedInstances& fused_instances(const std::string& algorithm) {
    static constinit OncePerKey<std::string, FusedInstances> all;
    return all.get(algorithm, [&] { return make_fused_instances(find_algorithm(algorithm).standard); });
}

int levels_of_launch(FusedOrder order, int products, int levels) {
    const bool together = order == FusedOrder::persistent || order == FusedOrder::atomic;
    return together ? std::clamp(kMostFusedInstances / std::max(products, 1), 1, std::max(levels, 1))
                    : std::max(levels, 1);
}

std::int64_t fused_side(std::int64_t size, int parts, Type type) {
    constexpr std::int64_t kAlignedFrom = 256;
    constexpr std::int64_t kAlignment = 16;
    const std::int64_t side = (size + parts - 1) / parts;
    return side < kAlignedFrom ? side : round_up(side, kAlignment / static_cast<std::int64_t>(element_bytes(type)));
}

}  // namespace heptad
