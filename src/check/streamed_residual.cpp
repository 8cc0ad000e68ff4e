#include "check/streamed_residual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/fail_if.hpp"
#include "check/non_finite.hpp"
#include "check/residual.hpp"

namespace heptad::check {

void merge(RowFacts& all, const RowFacts& part) {
    all.max_abs = std::max(all.max_abs, part.max_abs);
    all.norm = std::hypot(all.norm, part.norm);
    all.non_finite = all.non_finite || part.non_finite;
}

std::vector<double> weights_of(const std::vector<RowFacts>& columns) {
    std::vector<double> weights, known;
    for (const RowFacts& column : columns) {
        weights.push_back(column.norm > 0 ? weight_of(column.norm) : 0);
        if (column.norm > 0) {
            known.push_back(weights.back());
        }
    }
    double median = 1;
    if (!known.empty()) {
        const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
        std::nth_element(known.begin(), middle, known.end());
        median = *middle;
    }
    std::ranges::replace(weights, 0.0, median);
    return weights;
}

StreamedResidual::StreamedResidual(const JudgedProduct& product)
    : product_(product),
      rounding_(product.type, product.alpha != 0 ? product.k : 0, product.by, product.value_roundings) {}

void StreamedResidual::add_columns(Strip& strip, const std::vector<RowFacts>& columns,
                                   const std::vector<double>& weights) {
    strip.b = largest(columns);
    strip.b_norm = strip.weights = 0;
    strip.columns = 0;
    strip.least_share = strip.least_weight = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const double share = columns[j].norm * weights[j];
        strip.b_norm = std::hypot(strip.b_norm, share);
        strip.weights += weights[j];
        if (share > 0) {
            ++strip.columns;
            strip.least_share = std::min(strip.least_share, share);
            strip.least_weight = std::min(strip.least_weight, weights[j]);
        }
    }
}

double StreamedResidual::share(const Strip& strip, double a_norm, double c_norm) const {
    const double largest_possible = std::fabs(product_.alpha) * a_norm * strip.b_norm;
    return largest_possible > 0 ? c_norm / largest_possible : 0;
}

/// Can a sum of such finite entries leave the range of the type? Levels add entries of other rows of the strip first,
/// so these are the largest of all; the factor of 4 is their headroom.
bool StreamedResidual::may_overflow(const Strip& strip) const {
    const double product =
        4 * static_cast<double>(product_.k) * std::fabs(product_.alpha) * strip.a.max_abs * strip.b.max_abs;
    return !(product + std::fabs(product_.beta) * strip.c0_max_abs < largest_finite(product_.type));
}

StreamedResidual::Ratios StreamedResidual::ratios_of(const ExpectedError& expected, double underflow,
                                                     const Strip& strip, const std::vector<double>& sums) const {
    double largest = 0, squares = 0;
    for (const double sum : sums) {
        largest = std::isnan(sum) ? std::numeric_limits<double>::infinity() : std::max(largest, std::fabs(sum));
    }
    if (largest == 0) {
        return {};
    }
    for (const double sum : sums) {
        squares += sum / largest * (sum / largest);
    }
    // The mean has a smaller share of both limits.
    const double mean = largest * std::sqrt(squares / static_cast<double>(sums.size())) * kMostOfEntry /
                        most_of_row(sums.size(), strip.columns);
    const double measured = std::isinf(largest) ? largest : std::max(largest, mean);
    return {measured / (rounding_.most(expected) + underflow), measured / (rounding_.worst(expected) + underflow)};
}

void StreamedResidual::judge(const Strip& strip, const Row& row, const std::vector<double>& sums) {
    if (strip.b.non_finite) {  // whole columns of C are not finite; their sums say nothing
        ++unchecked_rows_;
        return;
    }
    fail_if(
        !row.is_finite && row.depends_on_finite && !may_overflow(strip), ErrorCode::verification,
        "C is wrong: row {} of the columns from {} on holds NaN or infinity, but depends on small finite numbers only",
        row.index, strip.first_col);
    if (!row.is_finite || !row.depends_on_finite) {
        ++unchecked_rows_;
        return;
    }
    const double alpha = std::fabs(product_.alpha);
    SumNorms norms{alpha * row.a_norm, strip.b_norm, row.c_norm, std::fabs(product_.beta) * row.c0_norm,
                   strip.most_c_share};
    const SumNorms whole{alpha * strip.a.norm, norms.b, norms.c, norms.c0, norms.most_c_share};
    if (rounding_.by_whole_matrices()) {
        norms = whole;
    }
    const double share = std::isfinite(strip.least_share) ? strip.least_share : 1;
    const double weight = std::isfinite(strip.least_weight) ? strip.least_weight : 1;
    const double underflow = underflow_of_entry(product_.type, product_.k, product_.alpha) * strip.weights;
    const ExpectedError expected = rounding_.expected_of_sum(norms);
    const Ratios ratios = ratios_of(expected, underflow, strip, sums);
    const bool as_fast = ratios_of(rounding_.expected_of_sum(whole), underflow, strip, sums).allowed <= 1;
    if (!(ratios.worst <= 1)) {
        fail(ErrorCode::verification,
             "C is wrong: random sums over row {} of the columns from {} on are off by {:.3g} times the expected "
             "rounding error, and {:.3g} times is allowed{}",
             row.index, strip.first_col, kMostOfEntry * ratios.allowed, kMostOfEntry, as_fast ? passes_as_fast() : "");
    }
    if (ratios.allowed > 1) {
        passes_as_fast_ = passes_as_fast_ && as_fast;
    }
    count(ratios.allowed);
    if (ratios.allowed > largest_ratio_) {
        largest_ratio_ = ratios.allowed;
        worst_row_ = row.index;
    }
    if (strip.b_norm > 0) {
        threshold_ = std::max(threshold_, kMostOfEntry * strip.b_norm / share);
        threshold_alone_ = std::max(threshold_alone_, most_of_row(sums.size(), strip.columns) * strip.b_norm / share);
    }
    detectable_error_ = std::max(detectable_error_, (rounding_.most(expected) + underflow) / weight);
}

void StreamedResidual::count(double ratio) {
    if (ratio > 0) {
        const double bin = kBinsPerPower * std::log2(ratio) + kBins / 2;
        ++rows_by_ratio_[static_cast<std::size_t>(std::clamp(bin, 0.0, kBins - 1.0))];
    }
}

/// The upper end of its bin.
double StreamedResidual::median_ratio() const {
    const std::int64_t rows = std::accumulate(rows_by_ratio_.begin(), rows_by_ratio_.end(), std::int64_t{0});
    std::int64_t below = 0;
    for (int bin = 0; bin < kBins; ++bin) {
        below += rows_by_ratio_[static_cast<std::size_t>(bin)];
        if (2 * below >= rows && rows > 0) {
            return std::exp2(static_cast<double>(bin + 1 - kBins / 2) / kBinsPerPower);
        }
    }
    return 0;
}

VerifyResult StreamedResidual::result(int rounds, std::uint64_t seed) const {
    VerifyResult result;
    result.tolerance = 1;
    result.residual = largest_ratio_;
    result.miss_chance = std::ldexp(1.0, -rounds);
    result.threshold = threshold_;
    result.detectable_error = detectable_error_;
    result.seed = seed;
    // Above what a classical product may be off by, and far from all others: levels would have spread such an error.
    const bool stands_alone =
        largest_ratio_ * rounding_.growth() > 1 && largest_ratio_ > kRowAlone * median_ratio() && largest_ratio_ <= 1;
    if (largest_ratio_ > 1) {
        result.verdict = Verdict::not_verifiable;
        result.bad_row = worst_row_;
        result.explanation = fmt::format(
            "row {} is off by {:.3g} times the expected rounding error, and {:.3g} times is allowed; only rounding "
            "errors that all have the same sign could explain it{}; check it with 'heptad verify'",
            worst_row_, kMostOfEntry * largest_ratio_, kMostOfEntry,
            passes_as_fast_ && !rounding_.by_whole_matrices() ? passes_as_fast() : "");
    } else if (stands_alone) {
        result.verdict = Verdict::not_verifiable;
        result.bad_row = worst_row_;
        result.explanation =
            fmt::format("row {} is off by {:.3g} times as much as the median row; look at it with 'heptad verify'",
                        worst_row_, largest_ratio_ / median_ratio());
    } else if (unchecked_rows_ > 0) {
        result.verdict = Verdict::not_verifiable;
        result.explanation =
            fmt::format("{} rows hold NaN or Inf and were not looked at; use 'heptad verify'", unchecked_rows_);
    } else {
        result.explanation = fmt::format(
            "{} rounds of random sums agree; an entry that is off by more than {:.3g} times the expected rounding "
            "error would be missed with probability at most 2^-{}, and one that is alone in its row is found from "
            "{:.3g} times on",
            rounds, threshold_, rounds, threshold_alone_);
    }
    return result;
}

VerifyResult exact_vectors_agree(std::uint64_t seed) {
    VerifyResult passed;
    passed.miss_chance = std::ldexp(1.0, -kExactVectors);
    passed.explanation = fmt::format("{} random vectors agree", kExactVectors);
    passed.seed = seed;
    return passed;
}

}  // namespace heptad::check
