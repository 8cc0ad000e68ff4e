// Largest bit patterns of rows and columns, with the sign bit cleared. Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

/// T is the signed integer of the format's size; cleared patterns are never negative, so signed comparisons do.
template <class T>
constexpr T kWithoutSign = static_cast<T>(~(std::uint64_t{1} << (8 * sizeof(T) - 1)));

/// `Rows` rows at once, so that the maxima of columns are loaded and stored once for all of them.
template <int Rows, class T>
HEPTAD_INLINE void max_bits_of_rows(const T* from, std::int64_t row_stride, std::int64_t cols, T* row_max, T* col_max) {
    constexpr int width = lanes<T>;
    Array<Vector<T>, Rows> of_row = {};
    std::int64_t j = 0;
    for (; j + width <= cols; j += width) {
        Vector<T> of_col = load(col_max + j);
        HEPTAD_UNROLL
        for (int r = 0; r < Rows; ++r) {
            const Vector<T> x = load(from + r * row_stride + j) & kWithoutSign<T>;
            of_row[r] = x > of_row[r] ? x : of_row[r];
            of_col = x > of_col ? x : of_col;
        }
        store(col_max + j, of_col);
    }
    for (int r = 0; r < Rows; ++r) {
        T largest = 0;
        for (int l = 0; l < width; ++l) {
            largest = of_row[r][l] > largest ? of_row[r][l] : largest;
        }
        for (std::int64_t rest = j; rest < cols; ++rest) {
            const T x = static_cast<T>(from[r * row_stride + rest] & kWithoutSign<T>);
            largest = x > largest ? x : largest;
            col_max[rest] = x > col_max[rest] ? x : col_max[rest];
        }
        row_max[r] = largest;
    }
}

template <class T>
void max_bits(const T* from, std::int64_t row_stride, std::int64_t rows, std::int64_t cols, T* row_max, T* col_max) {
    constexpr int together = 4;
    std::int64_t i = 0;
    for (; i + together <= rows; i += together) {
        max_bits_of_rows<together>(from + i * row_stride, row_stride, cols, row_max + i, col_max);
    }
    for (; i < rows; ++i) {
        max_bits_of_rows<1>(from + i * row_stride, row_stride, cols, row_max + i, col_max);
    }
}

}  // namespace
}  // namespace heptad::cpu
