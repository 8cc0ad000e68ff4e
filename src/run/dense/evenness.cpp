#include "run/dense/evenness.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>

#include "algorithm/catalogue.hpp"
#include "base/types.hpp"

namespace heptad {
namespace {

std::int32_t whole_powers(double effect) {
    return std::isnan(effect) || std::abs(effect) <= kNoise ? 0 : static_cast<std::int32_t>(std::lrint(effect));
}

/// Exponents that take the effects away; of lines without anything in them kZeroLine where C must be zero then.
///
/// The mean of 64 logarithms is off by up to 0.8 in one of a few thousand lines, and the bounds on norms
/// (norms_are_in_reach) have no room for that in rows and columns both. The largest value of a line is exact. It counts
/// where it agrees with the mean, which beside a single huge value it does not, and where the lines `across` are alike:
/// otherwise few values make it up. All lines are shifted by what leaves least to round, so that lines that are powers
/// of two apart come out alike.
void take_away(std::vector<std::int32_t>& exponents, const LineEffects& effects, const LineEffects& across,
               const std::vector<double>& largest) {
    double above = 0, lines = 0;  // log2 of the largest value of a line over its effect, on average
    std::complex<double> parts;   // what follows its point, as an angle
    for (std::size_t i = 0; i < exponents.size(); ++i) {
        if (largest[i] > 0 && std::isfinite(largest[i]) && !std::isnan(effects.of_lines[i])) {
            const double log = std::log2(largest[i]);
            above += log - effects.of_lines[i];
            parts += std::polar(1.0, 2 * std::numbers::pi * log);
            lines += 1;
        }
    }
    const double usual_part = std::arg(parts) / (2 * std::numbers::pi);
    above = usual_part + std::round(above / std::max(lines, 1.0) - usual_part);
    for (std::size_t i = 0; i < exponents.size(); ++i) {
        const double by_largest = std::log2(largest[i]) - above;
        const bool agree =
            across.most <= kAlike && std::abs(by_largest - effects.of_lines[i]) <= kAlike;  // false for NaN
        exponents[i] = largest[i] == 0          ? kZeroLine
                       : effects.most <= kAlike ? 0
                       : agree                  ? -static_cast<std::int32_t>(std::lrint(by_largest))
                                                : -whole_powers(effects.of_lines[i]);
    }
}

/// Largest value and sums of rows, with powers of two.
struct ScaledScan {
    double max_abs = 0;
    std::vector<double> row_sums = {};
};

/// Strip by strip through the backend's own passes.
ScaledScan scan_scaled(Backend& backend, const ConstView& view, const LineExponents& lines) {
    constexpr std::int64_t kStripBytes = 1 << 20;
    const Type type = view.type == Type::f64 ? Type::f64 : Type::f32;
    const bool turned = lies_by_columns(view);
    const ConstView walked = turned ? transposed(view) : view;
    const LineExponents of = turned ? LineExponents{lines.cols, lines.rows} : lines;
    const std::int64_t rows = std::clamp<std::int64_t>(
        kStripBytes / static_cast<std::int64_t>(element_bytes(type)) / std::max<std::int64_t>(walked.cols, 1), 1,
        walked.rows);
    std::vector<std::byte> strip(static_cast<std::size_t>(rows * walked.cols) * element_bytes(view.type));
    ScaledScan scan;
    for (std::int64_t row = 0; row < walked.rows; row += rows) {
        const std::int64_t some = std::min(rows, walked.rows - row);
        const ConstView from = block(walked, row, 0, some, walked.cols);
        const View to{strip.data(), view.type, some, walked.cols, walked.cols, 1};
        CombinePass pass{
            {to, View{const_cast<void*>(from.data), from.type, some, walked.cols, from.row_stride, from.col_stride}},
            {{0, {{1, 1}}}}};
        pass.exponents = {{}, of.of_block(row, 0)};
        pass.written_exponents = pass.exponents;
        backend.combine(pass);
        const ScanResult here = backend.scan(to);
        scan.max_abs = here.max_abs <= scan.max_abs ? scan.max_abs : here.max_abs;
        if (turned) {
            scan.row_sums.resize(here.col_sums.size());
            std::transform(scan.row_sums.begin(), scan.row_sums.end(), here.col_sums.begin(), scan.row_sums.begin(),
                           std::plus());
        } else {
            scan.row_sums.insert(scan.row_sums.end(), here.row_sums.begin(), here.row_sums.end());
        }
    }
    return scan;
}

/// Of an operand whose rows are those of A or the columns of B.
struct Side {
    ConstView view;
    const std::vector<double>&largest, &sums;  // of its rows as they are
};

ScaledScan scan_of(Backend& backend, const Side& side, const std::vector<std::int32_t>& exponents,
                   const LineExponents& lines, bool scales_inner) {
    if (scales_inner) {
        return scan_scaled(backend, side.view, lines);
    }
    ScaledScan scan{0, side.sums};
    for (std::size_t i = 0; i < side.largest.size(); ++i) {
        const std::int32_t exponent = exponents.empty() ? 0 : exponents[i];
        const bool is_zero = exponent == kZeroLine;
        scan.max_abs = std::max(scan.max_abs, is_zero ? 0 : std::ldexp(side.largest[i], exponent));
        if (!scan.row_sums.empty()) {
            scan.row_sums[i] = is_zero ? 0 : std::ldexp(scan.row_sums[i], exponent);
        }
    }
    return scan;
}

double least_with(const std::vector<double>& largest, const std::vector<std::int32_t>& exponents) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < largest.size(); ++i) {
        const std::int32_t exponent = exponents.empty() ? 0 : exponents[i];
        least = exponent == kZeroLine ? least : std::min(least, std::ldexp(largest[i], exponent));
    }
    return least;
}

/// Bounds on the 2-norms of lines with their powers of two: none is above `most`, and none that is not zero, without
/// the powers along k, is below `least`.
struct LineNorms {
    double most = 0, least = std::numeric_limits<double>::infinity();
};
LineNorms norms_of(const LineSizes& lines) {
    const auto k = static_cast<double>(lines.k);
    LineNorms norms;
    double largest_sum = 0;
    for (std::size_t i = 0; i < lines.largest.size(); ++i) {
        const std::int32_t exponent = lines.exponents.empty() ? 0 : lines.exponents[i];
        if (exponent != kZeroLine) {
            // Sums in the type of the values may be infinite where no value is.
            const double sum = std::isfinite(lines.sums[i]) ? lines.sums[i] : 0;
            const double least = std::max((1 - kSumSlack) * sum / std::sqrt(k), lines.largest[i]);
            norms.least = std::min(norms.least, std::ldexp(least, exponent));
            largest_sum = std::max(largest_sum, std::min(lines.scaled_sums[i], k * lines.scaled_largest));
        }
    }
    norms.most = std::sqrt((1 + kSumSlack) * lines.scaled_largest) * std::sqrt(largest_sum);
    return norms;
}

/// The same by largest values alone, where nobody knows sums: those of a line are no larger than its norm.
bool lines_are_in_reach(const std::vector<double>& largest_of_rows, const std::vector<double>& largest_of_cols,
                        const Evenness& even) {
    return least_with(largest_of_rows, even.rows) * least_with(largest_of_cols, even.cols) * kMostBelow >=
           even.max_a * even.max_b;
}

/// Within as many powers of two as are left alone.
bool are_alike(const std::vector<double>& largest) {
    const auto [least, most] = std::minmax_element(largest.begin(), largest.end());
    return *least > 0 && *most <= *least * 4;
}

bool is_zero_line(double x) {
    return x == 0;
}

/// One value as large as the largest may lie in any row.
double rms(const Tails& tails, double largest, double usual, double weight) {
    const double outlier = largest * std::exp2(-usual);
    return std::sqrt(tails.largest_mean_square + outlier * outlier / weight);
}

}  // namespace

Evenness exponents_for(const OperandEffects& effects, const std::vector<double>& largest_of_rows,
                       const std::vector<double>& largest_of_cols) {
    const auto& [a_rows, a_inner, b_inner, b_cols] = effects;
    const std::size_t k = a_inner.of_lines.size();
    double most_inner = 0;
    std::vector<std::int32_t> inner(k);
    for (std::size_t p = 0; p < k; ++p) {
        const double half = (b_inner.of_lines[p] - a_inner.of_lines[p]) / 2;
        inner[p] = whole_powers(half);
        most_inner = std::isnan(half) ? most_inner : std::max(most_inner, std::abs(half));
    }
    const bool scales_inner = 2 * most_inner > kAlike;
    const bool has_zero_line = std::any_of(largest_of_rows.begin(), largest_of_rows.end(), is_zero_line) ||
                               std::any_of(largest_of_cols.begin(), largest_of_cols.end(), is_zero_line);
    Evenness even;
    if (a_rows.most <= kAlike && b_cols.most <= kAlike && !scales_inner && !has_zero_line) {
        return even;
    }
    even.rows.resize(largest_of_rows.size());
    even.cols.resize(largest_of_cols.size());
    take_away(even.rows, a_rows, a_inner, largest_of_rows);
    take_away(even.cols, b_cols, b_inner, largest_of_cols);
    even.inner = scales_inner ? std::move(inner) : std::vector<std::int32_t>(k);
    for (const std::int32_t x : even.inner) {
        even.minus_inner.push_back(-x);
        even.most_inner = std::max(even.most_inner, std::abs(x));
    }
    return even;
}

double evenness_of(const OperandTails& tails, const OperandEffects& effects, double max_a, double max_b) {
    return least_mean_product(tails.of_a, tails.of_b) / rms(tails.of_a, max_a, effects.a_rows.mean, tails.weight_a) /
           rms(tails.of_b, max_b, effects.b_cols.mean, tails.weight_b);
}

double exact_products_of(const OperandTails& tails, const OperandEffects& effects, Type type) {
    const double u = unit_roundoff(type);
    if (u > 0x1p-24) {  // shorter types add in f32 and round once, whatever they hold
        return Evenness{}.exact_products;
    }
    const auto bits = [](const Tails& of, double usual) {
        return std::log2(of.largest_mean_square) / 2 + usual - of.unit;
    };
    return -std::log2(u) - bits(tails.of_a, effects.a_rows.mean) - bits(tails.of_b, effects.b_cols.mean);
}

// Libraries add up about so many products before they add to C: where that is exact, few roundings are left. f32, k =
// 1024: whole numbers up to 127, 255, 511 and 1023 have errors of 0, 1.0, 8.8 and 11.5 u, as any others 12. Powers of
// two that are taken out of lines can be one too many or too few, so half of that will do.
constexpr double kExactRun = 256, kLeastExactRun = kExactRun / 2;

bool are_short(const Evenness& even, std::int64_t k) {
    return std::exp2(even.exact_products) >= std::min(kLeastExactRun, static_cast<double>(k));
}

bool only_levels_round(const Evenness& even, std::int64_t k, const std::vector<LevelPlan>& levels) {
    double growth = 1, leaf_k = static_cast<double>(k);
    for (const LevelPlan& level : levels) {
        const CatalogueEntry& entry = find_algorithm(level.algorithm);
        growth *= entry.facts.growth / entry.algorithm.k;
        leaf_k /= entry.algorithm.k;
    }
    return are_short(even, k) && std::exp2(even.exact_products) < growth * std::min(kExactRun, leaf_k);
}

bool norms_are_in_reach(const LineSizes& of_rows, const LineSizes& of_cols) {
    const LineNorms a = norms_of(of_rows), b = norms_of(of_cols);
    return a.most / a.least * (b.most / b.least) <= kMostBelow;
}

MeetingSamples::MeetingSamples(const ProblemSize& size, const std::vector<LevelPlan>& levels)
    : tried(levels_to_try(levels)),
      all_by_tried(tried.empty() ? 1 : static_cast<double>(levels.size()) / static_cast<double>(tried.size())),
      of_a(size.m, size.k, grid_of(tried).m, grid_of(tried).k, false),
      of_b(size.n, size.k, grid_of(tried).n, grid_of(tried).k, true) {}

double MeetingSamples::growth() const {
    return std::pow(growth_in(of_a, of_b, tried), all_by_tried);
}

bool MeetingSamples::keep_the_digit(double share) const {
    // Ten times the classical error is promised. The estimate is mostly too large: up to 10.8 for two levels of
    // Strassen's on positive numbers (k = 1000), which lose 7, and 11.7 for two of Winograd's on halves of zeros, so
    // that a limit of ten would take even data for uneven.
    constexpr double kMostExpected = 12;
    return growth() <= kMostExpected * share;  // false for NaN
}

Evenness judge_evenness(Backend& backend, const ConstView& a, const ScanResult& a_scan, const ConstView& b,
                        const ScanResult& b_scan, const std::vector<LevelPlan>& levels, bool may_scale, double share) {
    Evenness even;
    if (a_scan.max_abs == 0 || b_scan.max_abs == 0 || a_scan.rows.empty() || b_scan.cols.empty()) {
        even.max_a = a_scan.max_abs;
        even.max_b = b_scan.max_abs;
        even.value = 1;
        return even;
    }
    // Where the largest values of all lines are alike there is nothing to take out of them.
    const bool alike =
        are_alike(a_scan.rows) && are_alike(a_scan.cols) && are_alike(b_scan.rows) && are_alike(b_scan.cols);
    const auto effects_in = [&](const ConstView& view, const LineEffects* across) {
        if (alike && across != nullptr) {
            return LineEffects{std::vector<double>(static_cast<std::size_t>(view.rows)), across->mean, 0};
        }
        LineLogs logs(view.rows);
        logs.note_rows(backend, view);
        return effects_of(logs);
    };
    const bool a_by_columns = lies_by_columns(a), b_by_columns = lies_by_columns(b);
    // Lines across those that lie side by side in memory are looked at in little time.
    LineEffects a_quick = effects_in(a_by_columns ? a : transposed(a), nullptr);
    LineEffects a_other = effects_in(a_by_columns ? transposed(a) : a, &a_quick);
    LineEffects b_quick = effects_in(b_by_columns ? b : transposed(b), nullptr);
    LineEffects b_other = effects_in(b_by_columns ? transposed(b) : b, &b_quick);
    const OperandEffects effects{
        std::move(a_by_columns ? a_quick : a_other), std::move(a_by_columns ? a_other : a_quick),
        std::move(b_by_columns ? b_quick : b_other), std::move(b_by_columns ? b_other : b_quick)};
    if (may_scale) {
        even = exponents_for(effects, a_scan.rows, b_scan.cols);
    }
    const bool scales_inner = even.most_inner > 0;
    const Side left{a, a_scan.rows, a_scan.row_sums}, right{transposed(b), b_scan.cols, b_scan.col_sums};
    const LineExponents a_lines = even.scales() ? even.of_a() : LineExponents{};
    const LineExponents b_lines = even.scales() ? even.of_b() : LineExponents{};
    const ScaledScan scaled_a = scan_of(backend, left, even.rows, a_lines, scales_inner);
    const ScaledScan scaled_b = scan_of(backend, right, even.cols, {b_lines.cols, b_lines.rows}, scales_inner);
    even.max_a = scaled_a.max_abs;
    even.max_b = scaled_b.max_abs;
    const InnerSample of_a = inner_sample(effects.a_inner, effects.b_inner, 0, a.cols, !a_by_columns);
    const InnerSample of_b = inner_sample(effects.a_inner, effects.b_inner, 0, b.rows, b_by_columns);
    OperandTails tails;
    tails.weight_a = of_a.total_weight;
    tails.weight_b = of_b.total_weight;
    tails.of_a.note_rows(backend, a, of_a, a_lines, effects.a_rows.mean, a_scan.rows.data());
    tails.of_b.note_rows(backend, transposed(b), of_b, {b_lines.cols, b_lines.rows}, effects.b_cols.mean,
                         b_scan.cols.data());
    const auto sizes_of = [&](const Side& side, const std::vector<std::int32_t>& exponents, const ScaledScan& scaled) {
        return LineSizes{a.cols, side.largest, side.sums, exponents, scaled.max_abs, scaled.row_sums};
    };
    const bool in_reach =
        left.sums.empty() || right.sums.empty()
            ? lines_are_in_reach(a_scan.rows, b_scan.cols, even)
            : norms_are_in_reach(sizes_of(left, even.rows, scaled_a), sizes_of(right, even.cols, scaled_b));
    // The lower estimate is of lines, whichever of them meet. What some of them meet with is tried.
    const auto levels_keep_the_digit = [&] {
        MeetingSamples samples({a.rows, a.cols, b.cols}, levels);
        samples.of_a.note(a, 0, 0, a_lines, effects.a_rows.mean);
        samples.of_b.note(transposed(b), 0, 0, {b_lines.cols, b_lines.rows}, effects.b_cols.mean);
        samples.of_a.leave_out_zeros(even.rows, a.rows);
        samples.of_b.leave_out_zeros(even.cols, b.cols);
        return samples.keep_the_digit(share);
    };
    even.exact_products = exact_products_of(tails, effects, a.type);
    if (in_reach && (levels.empty() || are_short(even, a.cols) || levels_keep_the_digit())) {
        even.value = evenness_of(tails, effects, even.max_a, even.max_b);
    }
    return even;
}

}  // namespace heptad
