#include "run/dense/evenness.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

#include "base/half.hpp"

namespace heptad {
namespace {

/// Of lines of so many elements: the more there are, the more lines there are for the noise to show in.
std::int64_t sample_size(std::int64_t length) {
    return std::clamp<std::int64_t>(length / 32, 64, 128);
}
constexpr std::int64_t kRun = 64;  // sampled side by side, where they lie so

/// Exponent and significand of a magnitude as one number: log2 within 0.09, and monotone. Zero and what is subnormal in
/// f32 or f64 is far below everything.
constexpr int kLogBits = 13;
constexpr std::int32_t kLogOne = 1 << kLogBits;  // a power of two
constexpr std::int32_t kLogOfNothing = -(1 << 24);
std::int32_t fixed_log(float x) {
    const auto bits = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(x) & 0x7fffffffU);
    return bits < 1 << 23 ? kLogOfNothing : (bits >> (23 - kLogBits)) - 127 * kLogOne;
}
std::int32_t fixed_log(double x) {
    const auto bits = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(x) >> 32 & 0x7fffffffU);
    return bits < 1 << 20 ? kLogOfNothing : (bits >> (20 - kLogBits)) - 1023 * kLogOne;
}
std::int32_t fixed_log(bf16 x) {
    return fixed_log(to_float(x));
}
std::int32_t fixed_log(f16 x) {
    return fixed_log(to_float(x));
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

/// Rows and columns change places where rows lie a step apart: lines are walked along memory.
bool lies_by_columns(const ConstView& view) {
    return !is_row_contiguous(view) && is_column_contiguous(view);
}

/// work(begin, end) of rows, on the threads there are.
template <class Work>
void share_rows(Backend& backend, std::int64_t rows, Work&& work) {
    constexpr std::int64_t kTogether = 256;
    backend.share((rows + kTogether - 1) / kTogether,
                  [&](std::int64_t part) { work(part * kTogether, std::min(rows, (part + 1) * kTogether)); });
}

/// Rows lie pages apart: without asking ahead, every run costs the latency of memory.
template <class T>
void fetch_ahead(const ConstView& view, std::int64_t row, const std::vector<std::int64_t>& places) {
    constexpr std::int64_t kRowsAhead = 8;
    constexpr std::size_t kLine = 64 / sizeof(T);
    if (row + kRowsAhead < view.rows) {
        const T* const ahead = static_cast<const T*>(view.data) + (row + kRowsAhead) * view.row_stride;
        for (std::size_t t = 0; t < places.size(); t += kLine) {
            __builtin_prefetch(ahead + places[t] * view.col_stride);
        }
    }
}

/// How far the mean logarithm of each row is above that of all of them; NaN where all that was looked at is zero.
struct Effects {
    std::vector<double> of_rows;
    double mean = 0, most = 0;
};
Effects row_effects(Backend& backend, const ConstView& view) {
    const auto rows = static_cast<std::size_t>(view.rows);
    std::vector<std::int32_t> sums(rows), counts(rows);
    const bool across = lies_by_columns(view);
    const auto places = sampled_places(view.cols, sample_size(view.cols), across ? 1 : kRun);
    share_rows(backend, view.rows, [&](std::int64_t begin, std::int64_t end) {
        with_element(view.type, [&]<class T>() {
            const auto* data = static_cast<const T*>(view.data);
            const auto note = [&](std::int64_t i, std::int64_t j, std::int32_t& sum, std::int32_t& count) {
                const std::int32_t log = fixed_log(data[i * view.row_stride + j * view.col_stride]);
                sum += log == kLogOfNothing ? 0 : log;
                count += log == kLogOfNothing ? 0 : 1;
            };
            for (std::size_t t = 0; across && t < places.size(); ++t) {
                for (std::int64_t i = begin; i < end; ++i) {
                    note(i, places[t], sums[static_cast<std::size_t>(i)], counts[static_cast<std::size_t>(i)]);
                }
            }
            for (std::int64_t i = begin; !across && i < end; ++i) {
                fetch_ahead<T>(view, i, places);
                std::int32_t sum = 0, count = 0;
                for (const std::int64_t j : places) {
                    note(i, j, sum, count);
                }
                sums[static_cast<std::size_t>(i)] = sum;
                counts[static_cast<std::size_t>(i)] = count;
            }
        });
    });
    Effects effects{std::vector<double>(rows)};
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        effects.of_rows[i] = counts[i] > 0 ? static_cast<double>(sums[i]) / kLogOne / counts[i]
                                           : std::numeric_limits<double>::quiet_NaN();
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
        sample.places = sampled_places(static_cast<std::int64_t>(k), sample_size(static_cast<std::int64_t>(k)),
                                       by_lines ? kRun : 1);
        sample.total_weight = static_cast<double>(k);
        return sample;
    }
    for (const double w : weight) {
        sample.total_weight += w;
    }
    const std::int64_t picks = std::min(sample_size(static_cast<std::int64_t>(k)), static_cast<std::int64_t>(k));
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
constexpr int kTailSteps = 40;
constexpr int kTailStepsAbove = 20;
constexpr std::array<double, kTailSteps + 1> kStepEdges = [] {
    std::array<double, kTailSteps + 1> edges{};
    double edge = 1 << (kTailStepsAbove / 2);
    for (std::size_t step = 0; step + 1 < edges.size(); step += 2, edge /= 2) {
        edges[step] = edge;
        edges[step + 1] = edge / std::numbers::sqrt2;
    }
    edges.back() = 0;
    return edges;
}();
static_assert(kTailSteps % 2 == 0 && kTailStepsAbove % 2 == 0);
double step_edge(int step) {
    return kStepEdges[static_cast<std::size_t>(step)];
}
struct Tails {
    std::array<double, kTailSteps> share{};  // at least step_edge(step) times the usual
    double largest_mean_square = 0;          // of a row, in the same measure
};
using StepCounts = std::array<std::int32_t, kTailSteps + 1>;

/// Mean square of values of which so many are between the edges of every step.
double mean_square(const StepCounts& counts, double places) {
    double sum = 0;
    for (int step = 0; step < kTailSteps; ++step) {
        const double middle = step_edge(step) * std::numbers::sqrt2 / 1.16;  // of x^2, were they spread evenly
        sum += counts[static_cast<std::size_t>(step)] * middle * middle;
    }
    return sum / places;
}

Tails row_tails(Backend& backend, const ConstView& view, const InnerSample& sample, const LineExponents& lines,
                double usual, const std::vector<double>& largest_of_rows) {
    const std::size_t places = sample.places.size();
    // In the measure of fixed_log: how far the edge of the uppermost step is above a value as it lies there.
    std::vector<std::int32_t> to_top(places);
    for (std::size_t t = 0; t < places; ++t) {
        const double power = (lines.cols == nullptr ? 0 : lines.cols[sample.places[t]]) -
                             (sample.half_weight.empty() ? 0 : sample.half_weight[t]) - usual;
        to_top[t] = static_cast<std::int32_t>(std::lrint((kTailStepsAbove / 2.0 - power) * kLogOne));
    }
    StepCounts fewest;
    fewest.fill(static_cast<int>(places));
    Tails tails;
    std::mutex merging;
    share_rows(backend, view.rows, [&](std::int64_t begin, std::int64_t end) {
        std::vector<StepCounts> counts(static_cast<std::size_t>(end - begin));
        with_element(view.type, [&]<class T>() {
            const auto* data = static_cast<const T*>(view.data);
            const auto note = [&](std::int64_t i, std::size_t t, StepCounts& of_row) {
                const std::int32_t row = lines.rows == nullptr ? 0 : lines.rows[i] * kLogOne;
                const std::int32_t below =
                    to_top[t] - row - fixed_log(data[i * view.row_stride + sample.places[t] * view.col_stride]);
                const std::int32_t step = (below + kLogOne / 2 - 1) >> (kLogBits - 1);
                ++of_row[static_cast<std::size_t>(std::clamp(step, 0, kTailSteps))];
            };
            if (lies_by_columns(view)) {
                for (std::size_t t = 0; t < places; ++t) {
                    for (std::int64_t i = begin; i < end; ++i) {
                        note(i, t, counts[static_cast<std::size_t>(i - begin)]);
                    }
                }
            } else {
                for (std::int64_t i = begin; i < end; ++i) {
                    fetch_ahead<T>(view, i, sample.places);
                    for (std::size_t t = 0; t < places; ++t) {
                        note(i, t, counts[static_cast<std::size_t>(i - begin)]);
                    }
                }
            }
        });
        const std::lock_guard lock(merging);
        for (std::int64_t i = begin; i < end; ++i) {
            if (largest_of_rows[static_cast<std::size_t>(i)] == 0) {
                continue;
            }
            const StepCounts& of_row = counts[static_cast<std::size_t>(i - begin)];
            std::int32_t above = 0;
            for (std::size_t step = 0; step < kTailSteps; ++step) {
                above += of_row[step];
                fewest[step] = std::min(fewest[step], above);
            }
            tails.largest_mean_square =
                std::max(tails.largest_mean_square, mean_square(of_row, static_cast<double>(places)));
        }
    });
    for (std::size_t step = 0; step < kTailSteps; ++step) {
        tails.share[step] = static_cast<double>(fewest[step]) / static_cast<double>(places);
    }
    return tails;
}

/// The least that the mean of x y can be, if x and y are at least so large for so large shares of k: values meet as
/// badly as they can.
double least_mean_product(const Tails& x, const Tails& y) {
    const auto width = [](int step) { return step_edge(step) - step_edge(step + 1); };
    double sum = 0;
    for (int i = 0; i < kTailSteps; ++i) {
        for (int j = 0; j < kTailSteps; ++j) {
            const double both = x.share[static_cast<std::size_t>(i)] + y.share[static_cast<std::size_t>(j)] - 1;
            sum += both > 0 ? width(i) * width(j) * both : 0;
        }
    }
    return sum;
}

std::int32_t whole_powers(double effect) {
    return std::isnan(effect) || std::abs(effect) <= kNoise ? 0 : static_cast<std::int32_t>(std::lrint(effect));
}

/// Exponents that take the effects away; of lines without anything in them kZeroLine where C must be zero then.
void take_away(std::vector<std::int32_t>& exponents, const Effects& effects, const std::vector<double>& largest) {
    for (std::size_t i = 0; i < exponents.size(); ++i) {
        exponents[i] = largest[i] == 0 ? kZeroLine : effects.most <= kAlike ? 0 : -whole_powers(effects.of_rows[i]);
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

/// Within as many powers of two as are left alone.
bool are_alike(const std::vector<double>& largest) {
    const auto [least, most] = std::minmax_element(largest.begin(), largest.end());
    return *least > 0 && *most <= *least * 4;
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
    if (a_scan.max_abs == 0 || b_scan.max_abs == 0 || a_scan.rows.empty() || b_scan.cols.empty()) {
        even.value = 1;
        return even;
    }
    // Where the largest values of all lines are alike there is nothing to take out of them.
    const bool alike =
        are_alike(a_scan.rows) && are_alike(a_scan.cols) && are_alike(b_scan.rows) && are_alike(b_scan.cols);
    const auto effects = [&](const ConstView& view, const Effects* across) {
        return alike && across != nullptr
                   ? Effects{std::vector<double>(static_cast<std::size_t>(view.rows)), across->mean, 0}
                   : row_effects(backend, view);
    };
    const bool a_by_columns = lies_by_columns(a), b_by_columns = lies_by_columns(b);
    // Lines across those that lie side by side in memory are looked at in little time.
    const Effects a_quick = effects(a_by_columns ? a : transposed(a), nullptr);
    const Effects a_other = effects(a_by_columns ? transposed(a) : a, &a_quick);
    const Effects b_quick = effects(b_by_columns ? b : transposed(b), nullptr);
    const Effects b_other = effects(b_by_columns ? transposed(b) : b, &b_quick);
    const Effects &a_rows = a_by_columns ? a_quick : a_other, &a_inner = a_by_columns ? a_other : a_quick;
    const Effects &b_inner = b_by_columns ? b_quick : b_other, &b_cols = b_by_columns ? b_other : b_quick;
    const std::size_t k = a_inner.of_rows.size();
    double most_inner = 0;
    std::vector<std::int32_t> inner(k);
    for (std::size_t p = 0; p < k; ++p) {
        const double half = (b_inner.of_rows[p] - a_inner.of_rows[p]) / 2;
        inner[p] = whole_powers(half);
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
    const Tails left = row_tails(backend, a, of_a, a_lines, a_rows.mean, a_scan.rows);
    const Tails right = row_tails(backend, transposed(b), of_b, {b_lines.cols, b_lines.rows}, b_cols.mean, b_scan.cols);
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
