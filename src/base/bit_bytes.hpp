// A row of bits as bytes with the first column in the highest bit, as PBM, PNG and numpy.packbits have it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/bit_words.hpp"
#include "base/view.hpp"

namespace heptad {

inline std::int64_t packed_row_bytes(std::int64_t cols) {
    return cols / 8 + (cols % 8 != 0 ? 1 : 0);
}

/// Each byte's bits in the opposite order.
constexpr std::uint64_t reversed_bytes(std::uint64_t x) {
    x = ((x >> 1) & 0x5555555555555555U) | ((x & 0x5555555555555555U) << 1);
    x = ((x >> 2) & 0x3333333333333333U) | ((x & 0x3333333333333333U) << 2);
    return ((x >> 4) & 0x0f0f0f0f0f0f0f0fU) | ((x & 0x0f0f0f0f0f0f0f0fU) << 4);
}

/// Rows of bytes as rows of bits, the lowest bit of a byte first. Rows lie whole words apart, and may begin inside one.
inline ConstBitView bits_of_bytes(const ConstView& bytes, std::int64_t cols) {
    constexpr std::uintptr_t kWord_bytes = 8;
    const auto inside = reinterpret_cast<std::uintptr_t>(bytes.data) % kWord_bytes;
    const auto* const word = static_cast<const std::byte*>(bytes.data) - inside;
    return {reinterpret_cast<const std::uint64_t*>(word), bytes.rows, cols,
            bytes.row_stride / static_cast<std::int64_t>(kWord_bytes), static_cast<int>(8 * inside)};
}
inline BitView bits_of_bytes(const View& bytes, std::int64_t cols) {
    const ConstBitView same = bits_of_bytes(ConstView(bytes), cols);
    return {const_cast<std::uint64_t*>(same.words), same.rows, same.cols, same.stride, same.offset};
}

/// Each byte's bits in the opposite order, for all bytes of a view that lies in `buffer`.
inline void reverse_rows_of_bytes(const ConstView& view, std::byte* buffer) {
    std::byte* const data = buffer + (static_cast<const std::byte*>(view.data) - buffer);
    for (std::int64_t i = 0; i < view.rows; ++i) {
        std::byte* const row = data + i * view.row_stride;
        for (std::int64_t j = 0; j < view.cols; j += 8) {
            const auto count = static_cast<std::size_t>(std::min<std::int64_t>(8, view.cols - j));
            std::uint64_t word = 0;
            std::memcpy(&word, row + j, count);
            word = reversed_bytes(word);
            std::memcpy(row + j, &word, count);
        }
    }
}

/// Bits of the last byte beyond the last column are ignored.
inline void load_packed_row(const std::uint8_t* bytes, const BitView& to, std::int64_t row) {
    const std::int64_t count = packed_row_bytes(to.cols);
    for (std::int64_t w = 0; w < bits::words_of(to.cols); ++w) {
        std::uint64_t word = 0;
        for (std::int64_t i = 0; i < 8 && 8 * w + i < count; ++i) {
            word |= std::uint64_t{bytes[8 * w + i]} << (8 * i);
        }
        bits::store_word<bits::Store::assign>(to, row, w, reversed_bytes(word));
    }
}

/// `invert`: ones become zeros, also in the bits beyond the last column.
inline void store_packed_row(const ConstBitView& from, std::int64_t row, std::uint8_t* bytes, bool invert = false) {
    const std::int64_t count = packed_row_bytes(from.cols);
    for (std::int64_t w = 0; w < bits::words_of(from.cols); ++w) {
        const std::uint64_t bits = bits::load_word(from, row, w);
        const std::uint64_t word = reversed_bytes(invert ? ~bits : bits);
        for (std::int64_t i = 0; i < 8 && 8 * w + i < count; ++i) {
            bytes[8 * w + i] = static_cast<std::uint8_t>(word >> (8 * i));
        }
    }
}

/// Bits of the last byte beyond the last column of C are zero in the file, whatever those of B were.
inline void clear_beyond(std::int64_t end_col, std::int64_t n, const View& bytes) {
    if (end_col < n || n % 8 == 0) {
        return;
    }
    const auto mask = static_cast<std::byte>(0xff << (8 - n % 8));
    for (std::int64_t i = 0; i < bytes.rows; ++i) {
        *element_pointer(bytes, i, bytes.cols - 1) &= mask;
    }
}

}  // namespace heptad
