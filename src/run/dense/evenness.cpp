#include "run/dense/evenness.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/half.hpp"
#include "plan/predict/promised_error.hpp"

namespace heptad {
namespace {

/// Lines that differ by less than this many powers of two from the others are alike: means of 64 logarithms of random
/// numbers differ by up to 0.8 by themselves.
constexpr double kAlike = 1.5;
constexpr std::int64_t kSampledForMeans = 64;
constexpr std::int64_t kSampledForTails = 128;
constexpr std::int64_t kLineElements = 16;  // side by side in a cache line

/// Exponent and significand as one number: log2 within 0.09, and monotone. Of zero: about -1023.
double logarithm(double x) {
    constexpr double kOne = 1023;
    return std::ldexp(static_cast<double>(std::bit_cast<std::uint64_t>(x)), -52) - kOne;
}

template <class T>
double magnitude(const T& x) {
    if constexpr (sizeof(T) == 2) {
        return std::abs(static_cast<double>(to_float(x)));
    } else {
        return std::abs(static_cast<double>(x));
    }
}

template <class Body>
void with_element(Type type, Body&& body) {
    switch (type) {
        case Type::f64:
            return body.template operator()<double>();
        case Type::bf16:
            return body.template operator()<bf16>();
        case Type::f16:
            return body.template operator()<f16>();
        default:
            return body.template operator()<float>();
    }
}

/// Positions that are spread over `count`: all, or runs of neighbours somewhere in equal parts.
std::vector<std::int64_t> sampled(std::int64_t count, std::int64_t wanted, std::int64_t run) {
    std::vector<std::int64_t> places;
    if (count <= wanted) {
        for (std::int64_t i = 0; i < count; ++i) {
            places.push_back(i);
        }
        return places;
    }
    const std::int64_t parts = wanted / run;
    std::uint64_t state = 0x9e3779b97f4a7c15U;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t begin = count * part / parts, room = count * (part + 1) / parts - begin - run;
        state = state * 6364136223846793005U + 1442695040888963407U;
        const std::int64_t at =
            begin + (room > 0 ? static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(room + 1)) : 0);
        for (std::int64_t i = at; i < std::min(at + run, count); ++i) {
            places.push_back(i);
        }
    }
    return places;
}

/// Rows and columns change places where rows lie a step apart: lines are walked along memory.
bool lies_by_columns(const ConstView& view) {
    return !is_row_contiguous(view) && is_column_contiguous(view);
}

/// How far the mean logarithm of each row is above that of all of them; NaN where all that was looked at is zero.
struct Effects {
    std::vector<double> of_rows;
    double mean = 0, most = 0;
};
Effects row_effects(const ConstView& view) {
    const auto rows = static_cast<std::size_t>(view.rows);
    std::vector<double> sums(rows);
    std::vector<int> counts(rows);
    const bool across = lies_by_columns(view);
    with_element(view.type, [&]<class T>() {
        const auto* data = static_cast<const T*>(view.data);
        const auto note = [&](std::size_t i, std::int64_t j) {
            const double x = magnitude(data[static_cast<std::int64_t>(i) * view.row_stride + j * view.col_stride]);
            sums[i] += x > 0 ? logarithm(x) : 0;
            counts[i] += x > 0 ? 1 : 0;
        };
        const auto places = sampled(view.cols, kSampledForMeans, across ? 1 : kLineElements);
        if (across) {
            for (const std::int64_t j : places) {
                for (std::size_t i = 0; i < rows; ++i) {
                    note(i, j);
                }
            }
        } else {
            for (std::size_t i = 0; i < rows; ++i) {
                for (const std::int64_t j : places) {
                    note(i, j);
                }
            }
        }
    });
    Effects effects{std::vector<double>(rows)};
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        effects.of_rows[i] = counts[i] > 0 ? sums[i] / counts[i] : std::numeric_limits<double>::quiet_NaN();
        effects.mean += counts[i] > 0 ? effects.of_rows[i] : 0;
        filled += counts[i] > 0 ? 1 : 0;
    }
    effects.mean /= static_cast<double>(std::max<std::int64_t>(filled, 1));
    for (double& x : effects.of_rows) {
        x -= effects.mean;
        effects.most = std::isnan(x) ? effects.most : std::max(effects.most, std::abs(x));
    }
    return effects;
}

/// Of the places along k, those that count for most: all alike, or as often as their weight says.
struct InnerSample {
    std::vector<std::int64_t> places;
    std::vector<double> half_weight;  // log2 of the square root of the weight of a place; empty: all alike
    double total_weight = 0;          // of all of k
};
InnerSample inner_sample(const Effects& of_a, const Effects& of_b, bool by_lines) {
    const std::size_t k = of_a.of_rows.size();
    std::vector<double> weight(k);
    double most = 0;
    for (std::size_t p = 0; p < k; ++p) {
        const double log = of_a.of_rows[p] + of_b.of_rows[p];
        most = std::isnan(log) ? most : std::max(most, std::abs(log));
        weight[p] = std::isnan(log) ? 0 : std::exp2(log);
    }
    InnerSample sample;
    if (most <= kAlike) {
        sample.places = sampled(static_cast<std::int64_t>(k), kSampledForTails, by_lines ? kLineElements : 1);
        sample.total_weight = static_cast<double>(k);
        return sample;
    }
    for (const double w : weight) {
        sample.total_weight += w;
    }
    const std::int64_t picks = std::min(kSampledForTails, static_cast<std::int64_t>(k));
    double before = 0;
    std::size_t p = 0;
    for (std::int64_t pick = 0; pick < picks; ++pick) {
        const double at = (static_cast<double>(pick) + 0.5) / static_cast<double>(picks) * sample.total_weight;
        while (p + 1 < k && before + weight[p] < at) {
            before += weight[p++];
        }
        sample.places.push_back(static_cast<std::int64_t>(p));
        sample.half_weight.push_back((of_a.of_rows[p] + of_b.of_rows[p]) / 2);
    }
    return sample;
}

/// How many values of a row are at least so large, in half powers of two around the usual ones: of the row that has the
/// fewest.
constexpr int kSteps = 24;
constexpr double kStepsAbove = 6;
struct Tails {
    std::array<double, kSteps> share{};  // at least 2^((kStepsAbove - step) / 2) times the usual
    double largest_mean_square = 0;      // of a row, in the same measure
};
Tails row_tails(const ConstView& view, const InnerSample& sample, const LineExponents& lines, double usual,
                const std::vector<double>& largest_of_rows) {
    const std::size_t places = sample.places.size();
    std::vector<double> factor(places);
    for (std::size_t t = 0; t < places; ++t) {
        factor[t] = std::exp2((lines.cols == nullptr ? 0 : lines.cols[sample.places[t]]) -
                              (sample.half_weight.empty() ? 0 : sample.half_weight[t]) - usual);
    }
    std::vector<double> of_row(static_cast<std::size_t>(view.rows), 1);
    for (std::size_t i = 0; lines.rows != nullptr && i < of_row.size(); ++i) {
        of_row[i] = lines.rows[i] == kZeroLine ? 0 : std::ldexp(1.0, lines.rows[i]);
    }
    std::array<int, kSteps> fewest;
    fewest.fill(static_cast<int>(places));
    Tails tails;
    with_element(view.type, [&]<class T>() {
        const auto* data = static_cast<const T*>(view.data);
        // Where rows lie a step apart, some of them together.
        const std::int64_t together = lies_by_columns(view) ? 64 : 1;
        std::vector<std::array<int, kSteps + 1>> counts(static_cast<std::size_t>(together));
        std::vector<double> squares(static_cast<std::size_t>(together));
        for (std::int64_t first = 0; first < view.rows; first += together) {
            const std::int64_t some = std::min(together, view.rows - first);
            std::fill(counts.begin(), counts.end(), std::array<int, kSteps + 1>{});
            std::fill(squares.begin(), squares.end(), 0);
            for (std::size_t t = 0; t < places; ++t) {
                for (std::int64_t r = 0; r < some; ++r) {
                    const std::int64_t i = first + r;
                    const double x = magnitude(data[i * view.row_stride + sample.places[t] * view.col_stride]) *
                                     of_row[static_cast<std::size_t>(i)] * factor[t];
                    const double step = std::clamp(kStepsAbove - 2 * logarithm(x), 0.0, static_cast<double>(kSteps));
                    ++counts[static_cast<std::size_t>(r)][static_cast<std::size_t>(step + 1 - 1e-9)];
                    squares[static_cast<std::size_t>(r)] += x * x;
                }
            }
            for (std::int64_t r = 0; r < some; ++r) {
                if (largest_of_rows[static_cast<std::size_t>(first + r)] == 0) {
                    continue;
                }
                int above = 0;
                for (std::size_t step = 0; step < kSteps; ++step) {
                    above += counts[static_cast<std::size_t>(r)][step];
                    fewest[step] = std::min(fewest[step], above);
                }
                tails.largest_mean_square = std::max(
                    tails.largest_mean_square, squares[static_cast<std::size_t>(r)] / static_cast<double>(places));
            }
        }
    });
    for (std::size_t step = 0; step < kSteps; ++step) {
        tails.share[step] = static_cast<double>(fewest[step]) / static_cast<double>(places);
    }
    return tails;
}

/// The least that the mean of x y can be, if x and y are at least so large for so large shares of k: values meet as
/// badly as they can.
double least_mean_product(const Tails& x, const Tails& y) {
    const auto width = [](int step) {
        const auto edge = [](int s) { return s >= kSteps ? 0 : std::exp2((kStepsAbove - s) / 2); };
        return edge(step) - edge(step + 1);
    };
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) {
        for (int j = 0; j < kSteps; ++j) {
            const double both = x.share[static_cast<std::size_t>(i)] + y.share[static_cast<std::size_t>(j)] - 1;
            sum += both > 0 ? width(i) * width(j) * both : 0;
        }
    }
    return sum;
}

/// Exponents that take the effects away; of lines without anything in them kZeroLine where C must be zero then.
void take_away(std::vector<std::int32_t>& exponents, const Effects& effects, const std::vector<double>& largest) {
    for (std::size_t i = 0; i < exponents.size(); ++i) {
        const double effect = effects.of_rows[i];
        exponents[i] = largest[i] == 0                                ? kZeroLine
                       : std::isnan(effect) || effects.most <= kAlike ? 0
                                                                      : -static_cast<std::int32_t>(std::lrint(effect));
    }
}

/// The largest value with its powers of two, strip by strip through the backend's own passes.
double largest_scaled(Backend& backend, const ConstView& view, const LineExponents& lines) {
    constexpr std::int64_t kStripBytes = 1 << 20;
    const Type type = view.type == Type::f64 ? Type::f64 : Type::f32;
    const bool turned = lies_by_columns(view);
    const ConstView walked = turned ? transposed(view) : view;
    const LineExponents of = turned ? LineExponents{lines.cols, lines.rows} : lines;
    const std::int64_t rows = std::clamp<std::int64_t>(
        kStripBytes / static_cast<std::int64_t>(element_bytes(type)) / std::max<std::int64_t>(walked.cols, 1), 1,
        walked.rows);
    std::vector<std::byte> strip(static_cast<std::size_t>(rows * walked.cols) * element_bytes(view.type));
    double largest = 0;
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
        const double here = backend.scan(to).max_abs;
        largest = here <= largest ? largest : here;
    }
    return largest;
}

double largest_with(const std::vector<double>& largest, const std::vector<std::int32_t>& exponents) {
    double most = 0;
    for (std::size_t i = 0; i < largest.size(); ++i) {
        most = std::max(most, exponents[i] == kZeroLine ? 0 : std::ldexp(largest[i], exponents[i]));
    }
    return most;
}

double least_with(const std::vector<double>& largest, const std::vector<std::int32_t>& exponents) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < largest.size(); ++i) {
        const std::int32_t exponent = exponents.empty() ? 0 : exponents[i];
        least = exponent == kZeroLine ? least : std::min(least, std::ldexp(largest[i], exponent));
    }
    return least;
}

bool is_zero_line(double x) {
    return x == 0;
}

}  // namespace

Evenness judge_evenness(Backend& backend, const ConstView& a, const ScanResult& a_scan, const ConstView& b,
                        const ScanResult& b_scan, bool may_scale) {
    Evenness even;
    even.max_a = a_scan.max_abs;
    even.max_b = b_scan.max_abs;
    if (a_scan.max_abs == 0 || b_scan.max_abs == 0) {
        even.value = 1;
        return even;
    }
    const Effects a_rows = row_effects(a), a_inner = row_effects(transposed(a));
    const Effects b_inner = row_effects(b), b_cols = row_effects(transposed(b));
    const std::size_t k = a_inner.of_rows.size();
    double most_inner = 0;
    std::vector<std::int32_t> inner(k);
    for (std::size_t p = 0; p < k; ++p) {
        const double half = (b_inner.of_rows[p] - a_inner.of_rows[p]) / 2;
        inner[p] = std::isnan(half) ? 0 : static_cast<std::int32_t>(std::lrint(half));
        most_inner = std::isnan(half) ? most_inner : std::max(most_inner, std::abs(half));
    }
    const bool scales_inner = 2 * most_inner > kAlike;
    const bool has_zero_line = std::any_of(a_scan.rows.begin(), a_scan.rows.end(), is_zero_line) ||
                               std::any_of(b_scan.cols.begin(), b_scan.cols.end(), is_zero_line);
    if (may_scale && (a_rows.most > kAlike || b_cols.most > kAlike || scales_inner || has_zero_line)) {
        even.rows.resize(a_scan.rows.size());
        even.cols.resize(b_scan.cols.size());
        take_away(even.rows, a_rows, a_scan.rows);
        take_away(even.cols, b_cols, b_scan.cols);
        even.inner.assign(k, 0);
        if (scales_inner) {
            even.inner = inner;
        }
        for (const std::int32_t x : even.inner) {
            even.minus_inner.push_back(-x);
            even.most_inner = std::max(even.most_inner, std::abs(x));
        }
        even.max_a = scales_inner ? largest_scaled(backend, a, even.of_a()) : largest_with(a_scan.rows, even.rows);
        even.max_b = scales_inner ? largest_scaled(backend, b, even.of_b()) : largest_with(b_scan.cols, even.cols);
    }
    const InnerSample of_a = inner_sample(a_inner, b_inner, !lies_by_columns(a));
    const InnerSample of_b = inner_sample(a_inner, b_inner, lies_by_columns(b));
    const LineExponents a_lines = even.scales() ? even.of_a() : LineExponents{};
    const LineExponents b_lines = even.scales() ? even.of_b() : LineExponents{};
    const Tails left = row_tails(a, of_a, a_lines, a_rows.mean, a_scan.rows);
    const Tails right = row_tails(transposed(b), of_b, {b_lines.cols, b_lines.rows}, b_cols.mean, b_scan.cols);
    // One value as large as the largest may lie in any row.
    const auto rms = [](const Tails& tails, double largest, double usual, double weight) {
        const double outlier = largest * std::exp2(-usual);
        return std::sqrt(tails.largest_mean_square + outlier * outlier / weight);
    };
    // The promise for all data: error bounds are relative to the largest values, and rows and columns are not much
    // smaller than those, whatever the sample has seen of them.
    if (least_with(a_scan.rows, even.rows) * least_with(b_scan.cols, even.cols) * kMostBelow <
        even.max_a * even.max_b) {
        return even;
    }
    even.value = least_mean_product(left, right) / rms(left, even.max_a, a_rows.mean, of_a.total_weight) /
                 rms(right, even.max_b, b_cols.mean, of_b.total_weight);
    return even;
}

}  // namespace heptad
