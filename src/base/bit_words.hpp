// Words of a row of a bit view: 64 columns at a time, from a row that may start inside a word and end inside another.
#pragma once

#include <algorithm>
#include <cstdint>

#include <heptad/bits.hpp>

#include "base/view.hpp"

namespace heptad::bits {

inline constexpr std::int64_t kWordBits = 64;

inline std::int64_t words_of(std::int64_t cols) {
    return (cols + kWordBits - 1) / kWordBits;
}

/// The lowest `count` bits, 0 to 64.
constexpr std::uint64_t low_bits(std::int64_t count) {
    return count >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Of all words that a view touches.
inline ByteRange byte_range(const ConstBitView& v) {
    const bool empty = v.rows == 0 || v.cols == 0;
    const std::uint64_t* const end = empty ? v.words : v.words + (v.rows - 1) * v.stride + words_of(v.offset + v.cols);
    return {reinterpret_cast<std::uintptr_t>(v.words), reinterpret_cast<std::uintptr_t>(end)};
}

/// Columns 64 * word to 64 * word + 63 of a row; columns beyond the last one read as zero.
/// Precondition: 0 <= row < rows, 0 <= word < words_of(cols).
inline std::uint64_t load_word(const ConstBitView& v, std::int64_t row, std::int64_t word) {
    const std::uint64_t* source = v.words + row * v.stride + word;
    const std::int64_t count = std::min(kWordBits, v.cols - word * kWordBits);
    std::uint64_t value = source[0] >> v.offset;
    if (v.offset + count > kWordBits) {
        value |= source[1] << (kWordBits - v.offset);
    }
    return value & low_bits(count);
}

enum class Store : std::uint8_t { assign, exclusive_or, inclusive_or };

/// Puts `value` into columns 64 * word ... of a row; bits of `value` beyond the last column are dropped, and bits
/// outside the view stay as they are. Same precondition.
template <Store mode>
inline void store_word(const BitView& v, std::int64_t row, std::int64_t word, std::uint64_t value) {
    const auto put = [](std::uint64_t& target, std::uint64_t bits, std::uint64_t mask) {
        if constexpr (mode == Store::assign) {
            target = (target & ~mask) | bits;
        } else if constexpr (mode == Store::exclusive_or) {
            target ^= bits;
        } else {
            target |= bits;
        }
    };
    std::uint64_t* target = v.words + row * v.stride + word;
    const std::int64_t count = std::min(kWordBits, v.cols - word * kWordBits);
    const std::uint64_t mask = low_bits(count);
    value &= mask;
    put(target[0], value << v.offset, mask << v.offset);
    if (v.offset + count > kWordBits) {
        put(target[1], value >> (kWordBits - v.offset), mask >> (kWordBits - v.offset));
    }
}

/// The `count` words from `word` on of a row; zero beyond the view's last row and column.
inline void load_words(const ConstBitView& v, std::int64_t row, std::int64_t word, int count, std::uint64_t* out) {
    const std::int64_t held = row < v.rows ? words_of(v.cols) - word : 0;
    int i = 0;
    if (v.offset == 0) {
        const std::uint64_t* source = v.words + row * v.stride + word;
        const auto whole =
            static_cast<int>(std::clamp<std::int64_t>(held > 0 ? v.cols / kWordBits - word : 0, 0, count));
        for (; i < whole; ++i) {
            out[i] = source[i];
        }
    }
    for (; i < count && i < held; ++i) {
        out[i] = load_word(v, row, word + i);
    }
    for (; i < count; ++i) {
        out[i] = 0;
    }
}

/// Puts `count` words into a row from `word` on; what lies beyond the view's last row or column is dropped.
template <Store mode>
inline void store_words(const BitView& v, std::int64_t row, std::int64_t word, int count, const std::uint64_t* in) {
    const std::int64_t held = row < v.rows ? words_of(v.cols) - word : 0;
    for (int i = 0; i < count && i < held; ++i) {
        store_word<mode>(v, row, word + i, in[i]);
    }
}

}  // namespace heptad::bits
