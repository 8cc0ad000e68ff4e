#include "plan/predict/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithm/catalogue.hpp"
#include "base/moduli.hpp"
#include "base/types.hpp"
#include "plan/predict/measured_plans.hpp"
#include "plan/search/complex_plan.hpp"

namespace heptad {
namespace {

/// What one level does to errors.
struct LevelError {
    double growth = 1;
    double roundings = 0;
};

/// Scaled sums are rounded to f16, some of them to its denormal numbers (2^-24 of the largest value and less).
constexpr double kRoundoffOfScaledSums = 0x1.02p-11;

LevelError level_error(const LevelPlan& level, bool change_basis) {
    const CatalogueEntry& entry = find_algorithm(level.algorithm);
    const LevelError standard{entry.facts.growth, static_cast<double>(entry.facts.roundings)};
    if (!entry.algorithm.basis || (!change_basis && level.schedule.empty())) {
        return standard;
    }
    const LevelError changed{entry.facts.changed_growth, static_cast<double>(entry.facts.changed_roundings)};
    // A schedule that is named makes the change of basis inside the level; where it does not fit, the default runs.
    return change_basis
               ? changed
               : LevelError{std::max(changed.growth, standard.growth), std::max(changed.roundings, standard.roundings)};
}

}  // namespace

double error_bound(const ProductPlan& plan) {
    if (plan.complex != ComplexWay::none) {
        // With e the bound of a real product and M the largest moduli: real and imaginary parts are off by e M M each,
        // of three products by 2 e M M and (2 + 1 + 1) e M M, with sums that round a few times more.
        return (plan.complex == ComplexWay::one_product ? 2 : 5) * error_bound(real_plan(plan));
    }
    const double u = unit_roundoff(plan.type);
    if (is_by_residues(plan)) {  // the norm of a line is at most sqrt(k) times its largest value
        const double of_lines = rounds_once(plan) ? u : residue_error(plan);
        return static_cast<double>(plan.k) * (is_certified(plan) ? static_cast<double>(plan.k + 2) * u : of_lines);
    }
    const bool accumulates_in_f32 = plan.type == Type::tf32 || plan.type == Type::bf16 || plan.type == Type::f16;
    // The 16-bit types and tf32 round each operand once (tf32) or the result once (bf16, f16) and add in f32.
    const double u_sum = accumulates_in_f32 ? 0x1p-24 : u;
    const auto classical = [&](double k, double u_value) {
        const double rounding_of_values = accumulates_in_f32 ? (plan.type == Type::tf32 ? 2 : 1) * k * u_value : 0;
        if (is_complex(plan.type)) {  // each part is a sum of 2 k products
            return std::sqrt(2) * k * (2 * k + 1) * u_sum;
        }
        return k * (k + 1) * u_sum + rounding_of_values;
    };
    const double u_kept = plan.scaled_sums ? kRoundoffOfScaledSums : u;
    const LeafSize leaf = leaf_size(plan);
    auto k = static_cast<double>(leaf.k);
    double bound = classical(k, u_kept);
    for (auto level = plan.levels.rbegin(); level != plan.levels.rend(); ++level) {
        const LevelError error = level_error(*level, plan.change_basis);
        bound = error.growth * (bound + error.roundings * u_kept * k);
        k *= find_algorithm(level->algorithm).algorithm.k;
    }
    if (plan.scaled_sums && plan.type != Type::tf32) {  // the result is rounded to its own type
        bound += k * u;
    }
    // The peeled part of k is added to the core's result: its own error, and one rounding of the sum.
    const auto fringe_k = static_cast<double>(plan.k - plan.core_k);
    if (!plan.levels.empty() && fringe_k > 0) {
        bound += classical(fringe_k, u) + static_cast<double>(plan.k) * u;
    }
    // The rows and columns peeled off are classical products over the whole of k.
    return plan.levels.empty() ? classical(static_cast<double>(plan.k), u)
                               : std::max(bound, classical(static_cast<double>(plan.k), u));
}

double gamma_of(double roundings, double u) {
    return roundings * u < 1 ? roundings * u / (1 - roundings * u) : std::numeric_limits<double>::infinity();
}

double classical_bound(Type type, double k) {
    const double u = unit_roundoff(type);
    const bool adds_in_f32 = type == Type::tf32 || type == Type::bf16 || type == Type::f16;
    return adds_in_f32 ? gamma_of(k + 2, 0x1p-24) + (type == Type::tf32 ? 2 : 1) * u : gamma_of(k + 2, u);
}

double line_error_bound(const ProductPlan& plan) {
    if (plan.complex != ComplexWay::none) {  // as above
        return (plan.complex == ComplexWay::one_product ? 2 : 5) * line_error_bound(real_plan(plan));
    }
    const double u = unit_roundoff(plan.type);
    const auto classical = [&](std::int64_t k) { return classical_bound(plan.type, static_cast<double>(k)); };
    const double u_kept = plan.scaled_sums ? kRoundoffOfScaledSums : u;
    const double of_factors = plan.type == Type::tf32 ? 2 : 1;
    double bound = classical(leaf_size(plan).k) + (plan.scaled_sums ? of_factors * u_kept : 0);
    for (auto level = plan.levels.rbegin(); level != plan.levels.rend(); ++level) {
        const LevelError error = level_error(*level, plan.change_basis);
        bound = error.growth * ((1 + bound) * (1 + gamma_of(error.roundings, u_kept)) - 1);
    }
    if (plan.scaled_sums) {  // the result is rounded to its own type
        bound = (1 + bound) * (1 + u) - 1;
    }
    if (plan.k > plan.core_k && !plan.levels.empty()) {
        bound = (bound + classical(plan.k - plan.core_k)) * (1 + u) + u;
    }
    return std::max(bound, classical(plan.k));
}

double complex_growth(const ProductPlan& plan) {
    constexpr double kOfThreeProducts = 2;
    return plan.complex == ComplexWay::three_products ? kOfThreeProducts : 1;
}

double expected_growth(const ProductPlan& plan, const Machine& machine) {
    if (plan.complex != ComplexWay::none) {
        return complex_growth(plan) * expected_growth(real_plan(plan), machine);
    }
    if (rounds_once(plan)) {
        return 1;
    }
    if (is_by_residues(plan)) {  // levels inside are exact
        constexpr double kWithOneLess = 3;
        return plan.least_evenness > 0 ? 1 : kWithOneLess;
    }
    if (const std::optional<double> measured = measured_growth(plan, machine)) {
        return *measured;
    }
    return std::max(1.0, growth_share(is_on_device(plan), plan.type) * expected_growth(plan.levels));
}

bool rounds_once(const ProductPlan& plan) {
    const int most = (plan.type == Type::f64 ? kFewestModuliOfF64 : kFewestModuliOfF32) + kModuliChoices - 1;
    const bool has_more = !is_complex(plan.type) && plan.arithmetic.moduli > most;
    return is_by_residues(plan) && (!is_on_device(plan) || is_integer(plan.type) || has_more);
}

bool is_certified(const ProductPlan& plan) {
    return is_by_residues(plan) && is_on_device(plan) && plan.least_evenness == kCertifiedEvenness;
}

double residue_error(const ProductPlan& plan) {
    // Integers of row i are a_i 2^s + e with |e| <= 1/2, those of column j likewise with t. Scales are as large as they
    // may be but for a factor of two: 2^s |a_i| > 2^bits / 2. With |x|_1 <= sqrt(k) |x|,
    //   |AB - computed|_ij <= 2^-(s+1) |b_j|_1 + 2^-(t+1) |a_i|_1 + k 2^-(s+t+2) <= (2 sqrt(k) q + k q^2) |a_i||b_j|
    // where q = 2^-bits; and what was put together is rounded, scaled and rounded again.
    // Of complex numbers both parts are rounded: |e| <= sqrt(1/2).
    const double q = std::exp2(-log2_of_integers(plan.arithmetic.moduli)) * (is_complex(plan.type) ? std::sqrt(2) : 1);
    const auto k = static_cast<double>(plan.k);
    return 2 * std::sqrt(k) * q + k * q * q + 2 * unit_roundoff(plan.type);
}

double growth_share(bool on_device, Type type) {
    constexpr double kOnDevices = 0.7;
    return on_device && (type == Type::f32 || type == Type::f64) ? kOnDevices : 1;
}

double expected_growth(const std::vector<LevelPlan>& levels) {
    double growth = 1;
    for (const LevelPlan& level : levels) {
        growth *= std::max(1.0, find_algorithm(level.algorithm).facts.rms_growth);
    }
    return growth;
}

}  // namespace heptad
