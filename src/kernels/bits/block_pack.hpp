// Tiles of 32 rows x 256 columns into the order of BlockLayout and back, by vectors of eight words. `Vector` gives,
// beside what block_kernel.hpp wants:
//
//   load_halves(p, q)          four words from p, then four from q;  store_low, store_high: the halves
//   low(x, y), high(x, y)      x0 y0 x2 y2 x4 y4 x6 y6, and x1 y1 x3 y3 ...
//   pick<i0, ..., i7>(x, y)    words i0 ... i7 of x (0 to 7) and y (8 to 15)
//   transposed_bytes(x)        byte 8 i + j becomes byte 8 j + i;  from_last: first the words in the opposite order
#pragma once

#include <cstddef>

#include "kernels/bits/leaf_layouts.hpp"

namespace heptad::bits {
namespace {

/// As first factor of the block product: turn a right operand's block into the form the instruction wants, and back.
inline constexpr std::uint64_t kIntoMatrixOperand = 0x0102040810204080U;
inline constexpr std::uint64_t kFromMatrixOperand = 0x8040201008040201U;

/// columns[j] = word j of eight rows of four words.
template <class Vector>
inline void gather_columns(const std::uint64_t* rows, std::int64_t stride, typename Vector::Register* columns) {
    typename Vector::Register pairs[4];
    for (std::int64_t i = 0; i < 4; ++i) {
        pairs[i] = Vector::load_halves(rows + i * stride, rows + (i + 4) * stride);
    }
    const auto even_01 = Vector::low(pairs[0], pairs[1]), even_23 = Vector::low(pairs[2], pairs[3]);
    const auto odd_01 = Vector::high(pairs[0], pairs[1]), odd_23 = Vector::high(pairs[2], pairs[3]);
    columns[0] = Vector::template pick<0, 1, 8, 9, 4, 5, 12, 13>(even_01, even_23);
    columns[1] = Vector::template pick<0, 1, 8, 9, 4, 5, 12, 13>(odd_01, odd_23);
    columns[2] = Vector::template pick<2, 3, 10, 11, 6, 7, 14, 15>(even_01, even_23);
    columns[3] = Vector::template pick<2, 3, 10, 11, 6, 7, 14, 15>(odd_01, odd_23);
}

/// The inverse.
template <class Vector>
inline void scatter_columns(const typename Vector::Register* columns, std::uint64_t* rows, std::int64_t stride) {
    const auto even_01 = Vector::low(columns[0], columns[1]), even_23 = Vector::low(columns[2], columns[3]);
    const auto odd_01 = Vector::high(columns[0], columns[1]), odd_23 = Vector::high(columns[2], columns[3]);
    const auto rows_02 = Vector::template pick<0, 1, 8, 9, 2, 3, 10, 11>(even_01, even_23);
    const auto rows_13 = Vector::template pick<0, 1, 8, 9, 2, 3, 10, 11>(odd_01, odd_23);
    const auto rows_46 = Vector::template pick<4, 5, 12, 13, 6, 7, 14, 15>(even_01, even_23);
    const auto rows_57 = Vector::template pick<4, 5, 12, 13, 6, 7, 14, 15>(odd_01, odd_23);
    Vector::store_low(rows, rows_02);
    Vector::store_low(rows + stride, rows_13);
    Vector::store_high(rows + 2 * stride, rows_02);
    Vector::store_high(rows + 3 * stride, rows_13);
    Vector::store_low(rows + 4 * stride, rows_46);
    Vector::store_low(rows + 5 * stride, rows_57);
    Vector::store_high(rows + 6 * stride, rows_46);
    Vector::store_high(rows + 7 * stride, rows_57);
}

template <class Vector>
void pack_full_tile(Role role, const std::uint64_t* tile, std::int64_t stride, std::uint64_t* packed) {
    constexpr int R = kPanelBlockRows, W = kPanelWords;
    typename Vector::Register blocks[std::size_t{W}][std::size_t{R}];  // of eight columns each
    for (std::int64_t r = 0; r < R; ++r) {
        typename Vector::Register columns[std::size_t{W}];
        gather_columns<Vector>(tile + 8 * r * stride, stride, columns);
        for (std::int64_t w = 0; w < W; ++w) {
            if (role == Role::right) {
                const auto turned = Vector::product(Vector::broadcast(kIntoMatrixOperand),
                                                    Vector::transposed_bytes_from_last(columns[w]));
                Vector::store(packed + (r * W + w) * 8, turned);
            } else if (role == Role::result) {
                Vector::store(packed + (r * W + w) * 8, Vector::transposed_bytes(columns[w]));
            } else {
                blocks[w][r] = Vector::transposed_bytes(columns[w]);
            }
        }
    }
    for (std::int64_t w = 0; w < W && role == Role::left; ++w) {
        scatter_columns<Vector>(blocks[w], packed + w * 8 * R, R);
    }
}

template <class Vector>
void unpack_full_tile(Role role, const std::uint64_t* packed, std::uint64_t* tile, std::int64_t stride) {
    constexpr int R = kPanelBlockRows, W = kPanelWords;
    typename Vector::Register blocks[std::size_t{W}][std::size_t{R}];
    for (std::int64_t w = 0; w < W && role == Role::left; ++w) {
        gather_columns<Vector>(packed + w * 8 * R, R, blocks[w]);
    }
    for (std::int64_t r = 0; r < R; ++r) {
        typename Vector::Register columns[std::size_t{W}];
        for (std::int64_t w = 0; w < W; ++w) {
            if (role == Role::left) {
                columns[w] = Vector::transposed_bytes(blocks[w][r]);
                continue;
            }
            const auto loaded = Vector::load(packed + (r * W + w) * 8);
            columns[w] = Vector::transposed_bytes(
                role == Role::right ? Vector::product(Vector::broadcast(kFromMatrixOperand), loaded) : loaded);
        }
        scatter_columns<Vector>(columns, tile + 8 * r * stride, stride);
    }
}

}  // namespace
}  // namespace heptad::bits
