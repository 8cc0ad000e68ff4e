// Untyped strided views, the currency of the inner layers. Element (i, j) of a view lies at
// data + (i * row_stride + j * col_stride) * element_bytes(type). Views own nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad {

using View = AnyView;
using ConstView = ConstAnyView;

inline std::byte* element_pointer(const View& v, std::int64_t i, std::int64_t j) {
    return static_cast<std::byte*>(v.data) +
           (i * v.row_stride + j * v.col_stride) * static_cast<std::int64_t>(element_bytes(v.type));
}
inline const std::byte* element_pointer(const ConstView& v, std::int64_t i, std::int64_t j) {
    return static_cast<const std::byte*>(v.data) +
           (i * v.row_stride + j * v.col_stride) * static_cast<std::int64_t>(element_bytes(v.type));
}

/// The row_count x col_count window whose corner is (row, col).
inline View block(const View& v, std::int64_t row, std::int64_t col, std::int64_t row_count, std::int64_t col_count) {
    return {row_count > 0 && col_count > 0 ? element_pointer(v, row, col) : v.data,
            v.type,
            row_count,
            col_count,
            v.row_stride,
            v.col_stride};
}
inline ConstView block(const ConstView& v, std::int64_t row, std::int64_t col, std::int64_t row_count,
                       std::int64_t col_count) {
    return {row_count > 0 && col_count > 0 ? static_cast<const void*>(element_pointer(v, row, col)) : v.data,
            v.type,
            row_count,
            col_count,
            v.row_stride,
            v.col_stride};
}

inline View transposed(const View& v) {
    return {v.data, v.type, v.cols, v.rows, v.col_stride, v.row_stride};
}
inline ConstView transposed(const ConstView& v) {
    return {v.data, v.type, v.cols, v.rows, v.col_stride, v.row_stride};
}

/// Elements of a row lie side by side (also true of a single column, whose column stride is never used).
inline bool is_row_contiguous(const ConstView& v) {
    return v.col_stride == 1 || v.cols <= 1;
}
inline bool is_column_contiguous(const ConstView& v) {
    return v.row_stride == 1 || v.rows <= 1;
}

/// First byte and one past the last byte that a view may touch; equal for an empty view.
struct ByteRange {
    std::uintptr_t begin = 0, end = 0;
};
ByteRange byte_range(const ConstView& v);

}  // namespace heptad
