#include "check/rounding.hpp"

#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace heptad::check {
namespace {

double growth_of(const JudgedBy& by) {
    if (by.accuracy == Accuracy::strict || by.accuracy == Accuracy::exact || by.planned_growth == 1) {
        return 1;
    }
    if (by.planned_growth == 0) {
        return by.accuracy == Accuracy::fast ? kFastGrowth : kBalancedGrowth;
    }
    // `balanced` takes levels on uneven data as long as they and the unevenness together keep within its growth.
    return std::max(kBalancedGrowth, by.planned_growth);
}

double smallest_subnormal(Type type) {
    switch (type) {
        case Type::f64:
            return 0x1p-1074;
        case Type::f16:
            return 0x1p-24;
        case Type::bf16:
            return 0x1p-133;
        default:
            return 0x1p-149;
    }
}

}  // namespace

bool has_wider_sums(Type type) {
    return type == Type::bf16 || type == Type::f16 || type == Type::tf32;
}

double most_of_row(std::size_t draws, std::size_t columns) {
    const auto independent = static_cast<double>(std::max<std::size_t>(1, std::min(draws, columns)));
    return std::min(kMostOfEntry, kMostOfRow * (1 + 2 / std::sqrt(independent)));
}

double ExpectedError::both() const {
    return std::hypot(values, sums);
}

Rounding::Rounding(Type type, std::int64_t k, const JudgedBy& by, std::int64_t value_roundings)
    : k_(static_cast<double>(k)),
      value_unit_(unit_roundoff(type) * std::sqrt(static_cast<double>(std::max<std::int64_t>(1, value_roundings)))),
      sum_unit_(has_wider_sums(type) ? 0x1p-24 : unit_roundoff(type)),
      growth_(std::min(growth_of(by), std::max(1.0, kMostOfValue / (kMostOfEntry * unit_roundoff(type))))),
      factors_rounded_(type == Type::tf32                    ? 2
                       : has_wider_sums(type) && growth_ > 1 ? 1
                                                             : 0),
      by_whole_matrices_(by.accuracy == Accuracy::fast && growth_ > 1) {}

ExpectedError Rounding::expected(const ErrorSources& sources) const {
    const double in_other_order = std::min(k_ * sources.products, sources.norms);
    return {value_unit_ / 2 * std::sqrt(sources.value + factors_rounded_ * sources.products),
            sum_unit_ / 2 * std::sqrt(sources.partial_sums + in_other_order)};
}

double Rounding::mixed_partial_sums(double most_c_share) const {
    const double share = std::min(1.0, most_c_share);  // where C is right, |c_ij| <= |a_i| |b_j|
    return may_mix_rows() ? k_ / 3 * share * share : 0;
}

ExpectedError Rounding::expected_of_sum(const SumNorms& norms) const {
    const double scale = weight_of(std::max({norms.a * norms.b, norms.c, norms.c0}));  // squares must not overflow
    const auto square = [&](double x) { return x * scale * x * scale; };
    const double ab = square(norms.a * norms.b), c = square(norms.c);
    const double partial_sums = std::max(k_ / 3 * c, mixed_partial_sums(norms.most_c_share) * ab);
    const ExpectedError scaled = expected({c + square(norms.c0), k_ > 0 ? ab / k_ : 0, partial_sums, ab});
    return {scaled.values / scale, scaled.sums / scale};
}

double Rounding::worst(const ExpectedError& error) const {
    // Every rounding is at most twice what is expected of it, and sum |S_p| <= sqrt(k) * sqrt(sum S_p^2).
    return growth_ * (kMostOfEntry * error.values + std::max(kMostOfEntry, 2 * std::sqrt(k_)) * error.sums);
}

double underflow_of_entry(Type type, std::int64_t k, double alpha) {
    // Each product and, without a fused operation, each of the four parts of its exact error may underflow.
    return 4 * (static_cast<double>(k) + 2) * (1 + std::fabs(alpha)) * smallest_subnormal(type);
}

double weight_of(double norm) {
    constexpr int most = 1000;  // so that weights and what they multiply stay within double
    return norm > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(norm), -most, most)) : 1;
}

std::string passes_as_fast() {
    return "; judged by the norms of the whole matrices, as --accuracy fast is, it passes";
}

}  // namespace heptad::check
