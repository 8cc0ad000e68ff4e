#include "check/sum_judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/types.hpp"
#include "check/non_finite.hpp"

namespace heptad::check {
namespace {

constexpr double kScreen = 8;  // deviations of a random sum: rounding alone exceeds it once in 10^14 sums
constexpr double kTolerance = 4;

}  // namespace

void merge(RowFacts& all, const RowFacts& part) {
    all.max_abs = std::max(all.max_abs, part.max_abs);
    all.norm = std::hypot(all.norm, part.norm);
    all.non_finite = all.non_finite || part.non_finite;
}

/// Can a sum of such finite entries leave the range of the type? Levels add entries of other rows of the strip first,
/// so these are the largest of all; the factor of 4 is their headroom.
bool SumJudge::may_overflow(const Strip& strip) const {
    const double product =
        4 * static_cast<double>(product_.k) * std::fabs(product_.alpha) * strip.a.max_abs * strip.b.max_abs;
    return !(product + std::fabs(product_.beta) * strip.c0_max_abs < largest_finite(product_.type));
}

/// Of a sum of entries with random signs: what rounding usually makes of it, and the most it could.
SumJudge::Limits SumJudge::limits_of(const Strip& strip) const {
    const double u = unit_roundoff(product_.type);
    const auto k = static_cast<double>(product_.k);
    const auto cols = static_cast<double>(strip.cols);
    const bool wider_sums = product_.type == Type::bf16 || product_.type == Type::f16 || product_.type == Type::tf32;
    const double norms = std::fabs(product_.alpha) * strip.a.norm * strip.b.norm;
    const double usual = wider_sums ? std::max(u, 0x1p-24 * std::sqrt(k)) : u * std::sqrt(k + 1);
    const double most = wider_sums ? 2 * kTolerance * (u + 0x1p-24 * k) : kTolerance * u * (k + 1);
    const double of_c0 = 2 * u * std::fabs(product_.beta) * strip.c0_max_abs;
    const double smallest = std::numeric_limits<float>::denorm_min() * (k + 2) * cols;
    const double spread = kScreen * std::sqrt(cols);
    return {spread * (usual * norms + of_c0) + smallest, spread * (most * norms + of_c0) + smallest};
}

void SumJudge::judge(const Strip& strip, const Row& row, const std::vector<double>& sums) {
    if (strip.b.non_finite) {  // whole columns of C are not finite; their sums say nothing
        ++unchecked_rows_;
        return;
    }
    if (!row.is_finite && row.depends_on_finite && !may_overflow(strip)) {
        fail(ErrorCode::verification,
             "C is wrong: row {} of the columns from {} on holds NaN or infinity, but depends on small finite "
             "numbers only",
             row.index, strip.first_col);
    }
    if (!row.is_finite || !row.depends_on_finite) {
        ++unchecked_rows_;
        return;
    }
    const Limits limits = limits_of(strip);
    for (const double signed_sum : sums) {
        const double sum = std::fabs(signed_sum);
        if (!(sum <= limits.worst)) {  // NaN too
            fail(ErrorCode::verification,
                 "C is wrong: a random sum over row {} of the columns from {} on is off by {:.3g} where rounding makes "
                 "at most {:.3g}",
                 row.index, strip.first_col, sum, limits.worst);
        }
        const double ratio = sum == 0 ? 0 : sum / limits.noise;
        if (ratio > largest_ratio_) {
            largest_ratio_ = ratio;
            worst_row_ = row.index;
        }
    }
    largest_noise_ = std::max(largest_noise_, limits.noise);
}

VerifyResult SumJudge::result(int rounds, std::uint64_t seed) const {
    VerifyResult result;
    result.tolerance = 1;
    result.residual = largest_ratio_;
    result.miss_chance = std::ldexp(1.0, -rounds);
    result.detectable_error = largest_noise_;
    result.seed = seed;
    if (largest_ratio_ > 1) {
        result.verdict = Verdict::not_verifiable;
        result.bad_row = worst_row_;
        result.explanation = fmt::format(
            "row {} stands out of rounding noise by a factor of {:.3g}, which rounding alone could just explain; look "
            "at it with 'heptad verify'",
            worst_row_, largest_ratio_);
    } else if (unchecked_rows_ > 0) {
        result.verdict = Verdict::not_verifiable;
        result.explanation =
            fmt::format("{} rows hold NaN or Inf and were not looked at; use 'heptad verify'", unchecked_rows_);
    } else {
        result.explanation = fmt::format("{} rounds of random sums agree", rounds);
    }
    return result;
}

}  // namespace heptad::check
