// What a sample of two matrices shows of how large the values of their rows and columns are. Matrices may come in
// parts: windows of a file, or what several ranks hold. evenness.hpp draws the conclusions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/backend.hpp"

namespace heptad {

/// work(begin, end) of some of so many lines, on the threads there are.
template <class Work>
void share_lines(Backend& backend, std::int64_t lines, std::int64_t together, Work&& work) {
    backend.share((lines + together - 1) / together,
                  [&](std::int64_t part) { work(part * together, std::min(lines, (part + 1) * together)); });
}

/// Do columns lie side by side in memory, and rows not?
bool lies_by_columns(const ConstView& view);

/// Sums of the logarithms of sampled values of lines, in steps of 1/8192, and how many there are without the zeros.
struct LineLogs {
    std::vector<std::int64_t> sums, counts;

    explicit LineLogs(std::int64_t lines)
        : sums(static_cast<std::size_t>(lines)), counts(static_cast<std::size_t>(lines)) {}
    /// Of the rows of a part whose uppermost is row `first`, at these of its columns.
    void note_rows(Backend& backend, const ConstView& part, std::int64_t first,
                   const std::vector<std::int64_t>& places);
    /// At places that are chosen by how the part lies in memory.
    void note_rows(Backend& backend, const ConstView& part, std::int64_t first = 0);
};

/// How far the mean logarithm of each line is above that of all of them; NaN where all that was looked at is zero.
struct LineEffects {
    std::vector<double> of_lines;
    double mean = 0, most = 0;
};
LineEffects effects_of(const LineLogs& logs);

/// Of some places along k, those that count for most: all alike, or as often as their weight says.
struct InnerSample {
    std::vector<std::int64_t> places;  // from the first one on
    std::vector<double> half_weight;   // log2 of the square root of the weight of a place; empty: all alike
    double total_weight = 0;           // of all those that it is a sample of
};
/// Of `count` places from `first` on. `by_lines`: neighbours are looked at in little time.
InnerSample inner_sample(const LineEffects& of_a, const LineEffects& of_b, std::int64_t first, std::int64_t count,
                         bool by_lines);
/// Those of its places that are among `count` from `first` on, counted from there.
InnerSample part_of(const InnerSample& sample, std::int64_t first, std::int64_t count);

/// Steps are half powers of two around the usual values.
inline constexpr int kTailSteps = 40;
/// How many values of a row fall into each step, and how many into none.
using StepCounts = std::array<std::int32_t, kTailSteps + 1>;
/// log2 of the unit in which numbers are whole: of the last bit that is set in any of them.
inline constexpr std::int32_t kNoUnit = 1 << 20;  // all are zero
/// How many values of a row are at least so large: of the row that has the fewest.
struct Tails {
    std::array<double, kTailSteps> share;  // at least the lower edge of the step, over the usual value
    double largest_mean_square = 0;        // of a row, in the same measure
    std::int32_t unit = kNoUnit;           // of what was looked at of some rows
    Tails() { share.fill(1); }

    /// Of whole rows, at places among their columns and with these powers of two. Rows whose largest value is zero do
    /// not count. `usual`: log2 of the usual value.
    void note_rows(Backend& backend, const ConstView& rows, const InnerSample& sample, const LineExponents& lines,
                   double usual, const double* largest_of_rows);
    void note_row(const StepCounts& of_row, double places);
};

/// The counts of rows that come in pieces: of a few values alone nobody could tell how large the others are.
struct RowCounts {
    std::vector<std::uint16_t> steps;  // kTailSteps + 1 of each row
    std::int32_t unit = kNoUnit;

    explicit RowCounts(std::int64_t rows) : steps(static_cast<std::size_t>(rows) * (kTailSteps + 1)) {}
    /// As above, of pieces whose uppermost is part of row `first`.
    void note_rows(Backend& backend, const ConstView& pieces, std::int64_t first, const InnerSample& sample,
                   const LineExponents& lines, double usual);
    /// When all pieces of all rows were noted, so many values of each.
    Tails tails(const std::vector<double>& largest_of_rows, std::size_t places) const;
};

/// The least that the mean of x y can be, if x and y are at least so large for so large shares of k: values meet as
/// badly as they can.
double least_mean_product(const Tails& x, const Tails& y);

}  // namespace heptad
