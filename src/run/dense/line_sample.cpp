#include "run/dense/line_sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

#include "base/evenness_facts.hpp"
#include "base/stored_type.hpp"
#include "base/types.hpp"

namespace heptad {
namespace {

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
template <class T>
std::int32_t fixed_log(T x) {
    return fixed_log(static_cast<float>(to_double(x)));
}

constexpr std::int64_t kRowsTogether = 256;

/// Rows lie pages apart: without asking ahead, every run costs the latency of memory.
template <class T>
void fetch_ahead(const ConstView& view, std::int64_t row, const std::vector<std::int64_t>& places) {
    constexpr std::int64_t kRowsAhead = 8;
    constexpr std::size_t kTogether = std::min<std::size_t>(64 / sizeof(T), kRun);
    if (row + kRowsAhead < view.rows) {
        const T* const ahead = static_cast<const T*>(view.data) + (row + kRowsAhead) * view.row_stride;
        for (std::size_t t = 0; t < places.size(); t += kTogether) {
            __builtin_prefetch(ahead + places[t] * view.col_stride);
        }
    }
}

/// note(i, t) of rows [begin, end) of a part and of all places, in the order in which these lie in memory.
template <class T, class Note>
void walk_places(const ConstView& part, std::int64_t begin, std::int64_t end, const std::vector<std::int64_t>& places,
                 const Note& note) {
    if (lies_by_columns(part)) {
        for (std::size_t t = 0; t < places.size(); ++t) {
            for (std::int64_t i = begin; i < end; ++i) {
                note(i, t);
            }
        }
        return;
    }
    for (std::int64_t i = begin; i < end; ++i) {
        fetch_ahead<T>(part, i, places);
        for (std::size_t t = 0; t < places.size(); ++t) {
            note(i, t);
        }
    }
}

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

/// Mean square of values of which so many are between the edges of every step.
double mean_square(const StepCounts& counts, double places) {
    double sum = 0;
    for (int step = 0; step < kTailSteps; ++step) {
        const double middle = step_edge(step) * std::numbers::sqrt2 / 1.16;  // of x^2, were they spread evenly
        sum += counts[static_cast<std::size_t>(step)] * middle * middle;
    }
    return sum / places;
}

/// visit(begin, counts) of some rows from `begin` on, by any thread.
template <class Visit>
void count_rows(Backend& backend, const ConstView& part, const InnerSample& sample, const LineExponents& lines,
                double usual, Visit&& visit) {
    const std::size_t places = sample.places.size();
    // In the measure of fixed_log: how far the edge of the uppermost step is above a value as it lies there.
    std::vector<std::int32_t> to_top(places);
    for (std::size_t t = 0; t < places; ++t) {
        const double power = (lines.cols == nullptr ? 0 : lines.cols[sample.places[t]]) -
                             (sample.half_weight.empty() ? 0 : sample.half_weight[t]) - usual;
        to_top[t] = static_cast<std::int32_t>(std::lrint((kTailStepsAbove / 2.0 - power) * kLogOne));
    }
    share_lines(backend, part.rows, kRowsTogether, [&](std::int64_t begin, std::int64_t end) {
        std::vector<StepCounts> counts(static_cast<std::size_t>(end - begin));
        with_stored_type(part.type, [&]<class T>() {
            const auto* data = static_cast<const T*>(part.data);
            walk_places<T>(part, begin, end, sample.places, [&](std::int64_t i, std::size_t t) {
                const std::int32_t row = lines.rows == nullptr ? 0 : lines.rows[i] * kLogOne;
                const std::int32_t below =
                    to_top[t] - row - fixed_log(data[i * part.row_stride + sample.places[t] * part.col_stride]);
                const std::int32_t step = (below + kLogOne / 2 - 1) >> (kLogBits - 1);
                ++counts[static_cast<std::size_t>(i - begin)]
                        [static_cast<std::size_t>(std::clamp(step, 0, kTailSteps))];
            });
        });
        visit(begin, counts);
    });
}

/// Of a number that is finite and not zero.
std::int32_t unit_of(double x) {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    const auto whole = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(whole));
}

/// Numbers that fill their type show that at once, so few of them are looked at; those of some rows otherwise.
void lower_unit(std::int32_t& unit, const ConstView& part, const InnerSample& sample, const LineExponents& lines,
                double usual) {
    constexpr std::int64_t kRows = 16;
    const double lowest = usual + std::log2(unit_roundoff(part.type));
    with_stored_type(part.type, [&]<class T>() {
        const auto* data = static_cast<const T*>(part.data);
        for (std::int64_t i = 0; i < part.rows; i += 1 + part.rows / kRows) {
            for (const std::int64_t place : sample.places) {
                const double x = to_double(data[i * part.row_stride + place * part.col_stride]);
                if (x != 0 && std::isfinite(x)) {
                    unit = std::min(unit, unit_of(x) + (lines.rows == nullptr ? 0 : lines.rows[i]) +
                                              (lines.cols == nullptr ? 0 : lines.cols[place]));
                }
                if (unit < lowest) {
                    return;
                }
            }
        }
    });
}

}  // namespace

bool lies_by_columns(const ConstView& view) {
    return !is_row_contiguous(view) && is_column_contiguous(view);
}

void LineLogs::note_rows(Backend& backend, const ConstView& part, std::int64_t first,
                         const std::vector<std::int64_t>& places) {
    share_lines(backend, part.rows, kRowsTogether, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int32_t> sums_here(static_cast<std::size_t>(end - begin)), counts_here(sums_here.size());
        with_stored_type(part.type, [&]<class T>() {
            const auto* data = static_cast<const T*>(part.data);
            walk_places<T>(part, begin, end, places, [&](std::int64_t i, std::size_t t) {
                const std::int32_t log = fixed_log(data[i * part.row_stride + places[t] * part.col_stride]);
                sums_here[static_cast<std::size_t>(i - begin)] += log == kLogOfNothing ? 0 : log;
                counts_here[static_cast<std::size_t>(i - begin)] += log == kLogOfNothing ? 0 : 1;
            });
        });
        for (std::size_t i = 0; i < sums_here.size(); ++i) {
            sums[static_cast<std::size_t>(first + begin) + i] += sums_here[i];
            counts[static_cast<std::size_t>(first + begin) + i] += counts_here[i];
        }
    });
}

void LineLogs::note_rows(Backend& backend, const ConstView& part, std::int64_t first) {
    note_rows(backend, part, first, sample_of_line(part.cols, !lies_by_columns(part)));
}

LineEffects effects_of(const LineLogs& logs) {
    LineEffects effects{std::vector<double>(logs.sums.size())};
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < logs.sums.size(); ++i) {
        const bool seen = logs.counts[i] > 0;
        effects.of_lines[i] = seen ? static_cast<double>(logs.sums[i]) / kLogOne / static_cast<double>(logs.counts[i])
                                   : std::numeric_limits<double>::quiet_NaN();
        effects.mean += seen ? effects.of_lines[i] : 0;
        filled += seen ? 1 : 0;
    }
    effects.mean /= static_cast<double>(std::max<std::int64_t>(filled, 1));
    for (double& x : effects.of_lines) {
        x -= effects.mean;
        effects.most = std::isnan(x) ? effects.most : std::max(effects.most, std::abs(x));
    }
    return effects;
}

InnerSample inner_sample(const LineEffects& of_a, const LineEffects& of_b, std::int64_t first, std::int64_t count,
                         bool by_lines) {
    std::vector<double> weight(static_cast<std::size_t>(count));
    const auto log_at = [&](std::size_t p) {
        return of_a.of_lines[static_cast<std::size_t>(first) + p] + of_b.of_lines[static_cast<std::size_t>(first) + p];
    };
    double most = 0;
    for (std::size_t p = 0; p < weight.size(); ++p) {
        const double log = log_at(p);
        most = std::isnan(log) ? most : std::max(most, std::abs(log));
        weight[p] = std::isnan(log) ? 0 : std::exp2(log);
    }
    InnerSample sample;
    if (most <= kAlike) {
        sample.places = sample_of_line(count, by_lines);
        sample.total_weight = static_cast<double>(count);
        return sample;
    }
    for (const double w : weight) {
        sample.total_weight += w;
    }
    const auto picks = static_cast<std::int64_t>(sample_of_line(count, by_lines).size());
    double before = 0;
    std::size_t p = 0;
    for (std::int64_t pick = 0; pick < picks; ++pick) {
        const double at = (static_cast<double>(pick) + 0.5) / static_cast<double>(picks) * sample.total_weight;
        while (p + 1 < weight.size() && before + weight[p] < at) {
            before += weight[p++];
        }
        sample.places.push_back(static_cast<std::int64_t>(p));
        sample.half_weight.push_back(log_at(p) / 2);
    }
    return sample;
}

InnerSample part_of(const InnerSample& sample, std::int64_t first, std::int64_t count) {
    InnerSample part;
    part.total_weight = sample.total_weight;
    for (std::size_t t = 0; t < sample.places.size(); ++t) {
        if (sample.places[t] >= first && sample.places[t] < first + count) {
            part.places.push_back(sample.places[t] - first);
            if (!sample.half_weight.empty()) {
                part.half_weight.push_back(sample.half_weight[t]);
            }
        }
    }
    return part;
}

void Tails::note_row(const StepCounts& of_row, double places) {
    std::int32_t above = 0;
    for (std::size_t step = 0; step < kTailSteps; ++step) {
        above += of_row[step];
        share[step] = std::min(share[step], above / places);
    }
    largest_mean_square = std::max(largest_mean_square, mean_square(of_row, places));
}

void Tails::note_rows(Backend& backend, const ConstView& rows, const InnerSample& sample, const LineExponents& lines,
                      double usual, const double* largest_of_rows) {
    if (sample.places.empty()) {
        return;
    }
    lower_unit(unit, rows, sample, lines, usual);
    std::mutex merging;
    count_rows(backend, rows, sample, lines, usual, [&](std::int64_t begin, const std::vector<StepCounts>& counts) {
        const std::lock_guard lock(merging);
        for (std::size_t i = 0; i < counts.size(); ++i) {
            if (largest_of_rows[begin + static_cast<std::int64_t>(i)] != 0) {
                note_row(counts[i], static_cast<double>(sample.places.size()));
            }
        }
    });
}

void RowCounts::note_rows(Backend& backend, const ConstView& pieces, std::int64_t first, const InnerSample& sample,
                          const LineExponents& lines, double usual) {
    lower_unit(unit, pieces, sample, lines, usual);
    count_rows(backend, pieces, sample, lines, usual, [&](std::int64_t begin, const std::vector<StepCounts>& counts) {
        auto* to = steps.data() + (first + begin) * (kTailSteps + 1);
        for (const StepCounts& of_row : counts) {
            for (const std::int32_t count : of_row) {
                *to++ += static_cast<std::uint16_t>(count);
            }
        }
    });
}

Tails RowCounts::tails(const std::vector<double>& largest_of_rows, std::size_t places) const {
    Tails tails;
    tails.unit = unit;
    for (std::size_t i = 0; i < largest_of_rows.size() && places > 0; ++i) {
        StepCounts of_row;
        std::copy_n(steps.begin() + static_cast<std::ptrdiff_t>(i * of_row.size()), of_row.size(), of_row.begin());
        if (largest_of_rows[i] != 0) {
            tails.note_row(of_row, static_cast<double>(places));
        }
    }
    return tails;
}

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

}  // namespace heptad
