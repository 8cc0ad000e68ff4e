// Floats as integers, line by line: every row of A, or column of B, times a power of two that makes integers of all of
// it; and what those integers are modulo a small number.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/backend.hpp"

namespace heptad {

struct IntegerLines {
    /// In place of the last bit of a line that is not finite: above all others.
    static constexpr std::int32_t kNoBit = 1 << 20;

    std::vector<std::int32_t> last_bit;  // exponent of the lowest set bit of a line
    std::vector<double> log2_norm;       // of the line as integers, rounded up; -infinity of a line of zeros
    std::vector<bool> not_finite;        // has a NaN or an infinity: all of it counts as zeros, however much it spans
    bool all_finite = true;
};
/// Of the rows of a matrix of floats.
IntegerLines integer_rows(Backend& backend, const ConstView& view);

/// The integers of a window modulo a number, around zero, as a matrix of i32 by rows: those of `rows` with its lines,
/// or where `by_columns` those of a matrix whose columns are the lines. Beyond the edge of `window` are zeros.
/// `first_line`: of the window.
void write_residues(Backend& backend, const ConstView& window, const IntegerLines& lines, std::int64_t first_line,
                    bool by_columns, int modulus, const View& to);

}  // namespace heptad
