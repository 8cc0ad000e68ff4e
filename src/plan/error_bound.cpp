#include "plan/error_bound.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"

namespace heptad {

double unit_roundoff(Type type) {
    switch (type) {
        case Type::f64:
            return 0x1p-53;
        case Type::f32:
            return 0x1p-24;
        case Type::tf32:
            return 0x1p-11;
        case Type::bf16:
            return 0x1p-8;
        case Type::f16:
            return 0x1p-11;
        default:
            return 0;
    }
}

double error_bound(const ProductPlan& plan) {
    const double u = unit_roundoff(plan.type);
    const bool accumulates_in_f32 = plan.type == Type::tf32 || plan.type == Type::bf16 || plan.type == Type::f16;
    // The 16-bit types and tf32 round each operand once (tf32) or the result once (bf16, f16) and add in f32.
    const double u_sum = accumulates_in_f32 ? 0x1p-24 : u;
    const auto classical = [&](double k) {
        const double rounding_of_values = accumulates_in_f32 ? (plan.type == Type::tf32 ? 2 : 1) * k * u : 0;
        return k * (k + 1) * u_sum + rounding_of_values;
    };
    const LeafSize leaf = leaf_size(plan);
    auto k = static_cast<double>(leaf.k);
    double bound = classical(k);
    for (auto level = plan.levels.rbegin(); level != plan.levels.rend(); ++level) {
        const CatalogueEntry& entry = find_algorithm(level->algorithm);
        bound = entry.facts.growth * (bound + entry.facts.roundings * u * k);
        k *= entry.algorithm.k;
    }
    // The peeled part of k is added to the core's result: its own error, and one rounding of the sum.
    const auto fringe_k = static_cast<double>(plan.k - plan.core_k);
    if (!plan.levels.empty() && fringe_k > 0) {
        bound += classical(fringe_k) + static_cast<double>(plan.k) * u;
    }
    // The rows and columns peeled off are classical products over the whole of k.
    return plan.levels.empty() ? classical(static_cast<double>(plan.k))
                               : std::max(bound, classical(static_cast<double>(plan.k)));
}

double expected_growth(const std::vector<LevelPlan>& levels) {
    double growth = 1;
    for (const LevelPlan& level : levels) {
        growth *= std::max(1.0, find_algorithm(level.algorithm).facts.rms_growth);
    }
    return growth;
}

}  // namespace heptad
