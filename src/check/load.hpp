// Windows of a view as dense buffers of the type a check computes in, whatever the strides.
#pragma once

#include <cstdint>

#include "base/stored_type.hpp"
#include "base/types.hpp"
#include "base/view.hpp"

namespace heptad::check {

template <class Stored, class Out, class Convert>
void load_block_as(const ConstView& v, std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t cols, Out* to,
                   Convert convert) {
    const auto* const from = static_cast<const Stored*>(v.data) + i0 * v.row_stride + j0 * v.col_stride;
    if (v.col_stride == 1 || v.row_stride != 1) {
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) {
                to[i * cols + j] = convert(from[i * v.row_stride + j * v.col_stride]);
            }
        }
    } else {  // column-major: follow the memory
        for (std::int64_t j = 0; j < cols; ++j) {
            for (std::int64_t i = 0; i < rows; ++i) {
                to[i * cols + j] = convert(from[i + j * v.col_stride]);
            }
        }
    }
}

/// Float types, exactly.
inline void load_block(const ConstView& v, std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t cols,
                       double* to) {
    with_stored_type(v.type, [&]<class Stored>() {
        load_block_as<Stored>(v, i0, rows, j0, cols, to, [](Stored x) { return to_double(x); });
    });
}

/// i32 as residues.
inline void load_block(const ConstView& v, std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t cols,
                       std::uint32_t* to) {
    load_block_as<std::uint32_t>(v, i0, rows, j0, cols, to, [](std::uint32_t x) { return x; });
}

/// The same of i64.
inline void load_block(const ConstView& v, std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t cols,
                       std::uint64_t* to) {
    load_block_as<std::uint64_t>(v, i0, rows, j0, cols, to, [](std::uint64_t x) { return x; });
}

/// gf2 (its lowest bit counts) and bool (anything but 0 counts) as 0 or 1.
inline void load_block(const ConstView& v, std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t cols,
                       std::uint8_t* to) {
    if (v.type == Type::gf2) {
        load_block_as<std::uint8_t>(v, i0, rows, j0, cols, to,
                                    [](std::uint8_t x) { return static_cast<std::uint8_t>(x & 1U); });
    } else {
        load_block_as<std::uint8_t>(v, i0, rows, j0, cols, to,
                                    [](std::uint8_t x) { return static_cast<std::uint8_t>(x != 0 ? 1 : 0); });
    }
}

}  // namespace heptad::check
