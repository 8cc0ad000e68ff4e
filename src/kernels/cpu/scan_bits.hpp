// Largest bit patterns of rows and columns with the sign bit cleared, and sums of their absolute values. Only for
// microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

/// T is the signed integer of the format's size; cleared patterns are never negative, so signed comparisons do.
template <class T>
constexpr T kWithoutSign = static_cast<T>(~(std::uint64_t{1} << (8 * sizeof(T) - 1)));

/// `Rows` rows at once, so that what is known of columns is loaded and stored once for all of them.
template <int Rows, class Value, class Bits>
HEPTAD_INLINE void scan_rows(const Value* from, std::int64_t row_stride, std::int64_t cols, Bits* row_max,
                             Bits* col_max, Value* row_sum, Value* col_sum) {
    constexpr int width = lanes<Bits>;
    Array<Vector<Bits>, Rows> of_row = {};
    Array<Vector<Value>, Rows> sum_of_row = {};
    std::int64_t j = 0;
    for (; j + width <= cols; j += width) {
        Vector<Bits> of_col = load(col_max + j);
        Vector<Value> sum_of_col = {};
        HEPTAD_UNROLL
        for (int r = 0; r < Rows; ++r) {
            const Vector<Bits> x = load_as<Vector<Bits>>(from + r * row_stride + j) & kWithoutSign<Bits>;
            of_row[r] = x > of_row[r] ? x : of_row[r];
            of_col = x > of_col ? x : of_col;
            const auto size = load_as<Vector<Value>>(&x);
            sum_of_row[r] += size;
            sum_of_col += size;
        }
        store(col_max + j, of_col);
        store(col_sum + j, load(col_sum + j) + sum_of_col);
    }
    for (int r = 0; r < Rows; ++r) {
        Bits largest = row_max[r];
        Value sum = 0;
        for (int l = 0; l < width; ++l) {
            largest = of_row[r][l] > largest ? of_row[r][l] : largest;
            sum += sum_of_row[r][l];
        }
        for (std::int64_t rest = j; rest < cols; ++rest) {
            const auto x = static_cast<Bits>(load_as<Bits>(from + r * row_stride + rest) & kWithoutSign<Bits>);
            largest = x > largest ? x : largest;
            col_max[rest] = x > col_max[rest] ? x : col_max[rest];
            const auto size = load_as<Value>(&x);
            sum += size;
            col_sum[rest] += size;
        }
        row_max[r] = largest;
        row_sum[r] += sum;
    }
}

template <class Value, class Bits>
void scan_with_sums(const Value* from, std::int64_t row_stride, std::int64_t rows, std::int64_t cols, Bits* row_max,
                    Bits* col_max, Value* row_sum, Value* col_sum) {
    constexpr int together = 4;
    std::int64_t i = 0;
    const auto next = [&]<int Rows>() {
        scan_rows<Rows>(from + i * row_stride, row_stride, cols, row_max + i, col_max, row_sum + i, col_sum);
        i += Rows;
    };
    while (i + together <= rows) {
        next.template operator()<together>();
    }
    while (i < rows) {
        next.template operator()<1>();
    }
}

}  // namespace
}  // namespace heptad::cpu
