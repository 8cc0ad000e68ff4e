// Transposes of small bit and byte squares in words, by swapping ever smaller off-diagonal halves.
#pragma once

#include <cstdint>

namespace heptad::bits {

/// Bit 8 i + j of the result is bit 8 j + i of x: an 8 x 8 bit square in one word.
constexpr std::uint64_t transpose_8x8(std::uint64_t x) {
    std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaU;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccU;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0U;
    return x ^ t ^ (t << 28);
}

namespace detail {

/// Swaps the upper halves of x with the lower halves of y; `mask` picks the lower halves, `shift` is their width.
constexpr void swap_halves(std::uint64_t& x, std::uint64_t& y, int shift, std::uint64_t mask) {
    const std::uint64_t t = ((x >> shift) ^ y) & mask;
    y ^= t;
    x ^= t << shift;
}

template <int side>
constexpr void transpose_steps(std::uint64_t* rows, int count) {
    constexpr std::uint64_t mask = [] {
        std::uint64_t lower = 0;
        for (int bit = 0; bit < 64; ++bit) {
            lower |= (bit / side) % 2 == 0 ? std::uint64_t{1} << bit : 0;
        }
        return lower;
    }();
    const int step = side * count / 64;
    for (int group = 0; group < count; group += 2 * step) {
        for (int i = group; i < group + step; ++i) {
            swap_halves(rows[i], rows[i + step], side, mask);
        }
    }
}

}  // namespace detail

/// Byte j of word i becomes byte i of word j: an 8 x 8 byte square in eight words.
constexpr void transpose_8x8_bytes(std::uint64_t* words) {
    detail::transpose_steps<32>(words, 8);
    detail::transpose_steps<16>(words, 8);
    detail::transpose_steps<8>(words, 8);
}

/// Bit j of word i becomes bit i of word j.
constexpr void transpose_64x64(std::uint64_t* words) {
    detail::transpose_steps<32>(words, 64);
    detail::transpose_steps<16>(words, 64);
    detail::transpose_steps<8>(words, 64);
    detail::transpose_steps<4>(words, 64);
    detail::transpose_steps<2>(words, 64);
    detail::transpose_steps<1>(words, 64);
}

}  // namespace heptad::bits
