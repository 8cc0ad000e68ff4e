// Integers of a fixed number of 64-bit words that wrap around, in two's complement: as much as exact sums need.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heptad {

__extension__ using DoubleWord = unsigned __int128;

template <std::size_t Words>
struct WideInteger {
    static constexpr int kBits = static_cast<int>(64 * Words);
    std::array<std::uint64_t, Words> words{};  // the lowest first

    bool operator==(const WideInteger&) const = default;
    bool is_zero() const { return *this == WideInteger{}; }
    bool is_negative() const { return (words.back() >> 63) != 0; }

    /// + factor * other.
    template <std::size_t OtherWords>
    void add_multiple(const WideInteger<OtherWords>& other, std::uint64_t factor) {
        static_assert(OtherWords <= Words);
        DoubleWord carry = 0;
        for (std::size_t i = 0; i < Words; ++i) {
            if (i < OtherWords) {
                carry += static_cast<DoubleWord>(other.words[i]) * factor;
            }
            carry += words[i];
            words[i] = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
    }
    void negate() {
        std::uint64_t carry = 1;
        for (std::uint64_t& word : words) {
            word = ~word + carry;
            carry = carry != 0 && word == 0 ? 1 : 0;
        }
    }
    void subtract(WideInteger other) {
        other.negate();
        add_multiple(other, 1);
    }
    /// The same number where it is negative, in more words.
    template <std::size_t OtherWords>
    WideInteger<OtherWords> widened() const {
        static_assert(OtherWords >= Words);
        WideInteger<OtherWords> result;
        for (std::size_t i = 0; i < OtherWords; ++i) {
            result.words[i] = i < Words ? words[i] : is_negative() ? ~std::uint64_t{0} : 0;
        }
        return result;
    }

    // What follows is of numbers that are not negative.

    int bit_length() const {
        for (std::size_t i = Words; i > 0; --i) {
            if (words[i - 1] != 0) {
                return static_cast<int>(64 * (i - 1)) + static_cast<int>(std::bit_width(words[i - 1]));
            }
        }
        return 0;
    }
    bool bit(int position) const {
        return position >= 0 && position < kBits &&
               (words[static_cast<std::size_t>(position / 64)] >> (position % 64) & 1) != 0;
    }
    /// Is any bit below this position set?
    bool any_below(int position) const {
        for (int i = 0; 64 * i < std::min(position, kBits); ++i) {
            const int bits = position - 64 * i;
            const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
            if ((words[static_cast<std::size_t>(i)] & mask) != 0) {
                return true;
            }
        }
        return false;
    }
    /// Up (positive) or down; what leaves on either side is lost.
    WideInteger shifted(int by) const {
        WideInteger result;
        for (int i = 0; 64 * i < kBits; ++i) {
            for (int bit_from = 0; bit_from <= 64; bit_from += 64) {
                // Word i gets the bits from 64 i - by on: parts of two words.
                const int from = 64 * i - by + bit_from;
                const int word = from >= 0 ? from / 64 : -((63 - from) / 64);
                const int offset = from - 64 * word;
                if (word < 0 || 64 * word >= kBits) {
                    continue;
                }
                const std::uint64_t value = words[static_cast<std::size_t>(word)];
                if (bit_from == 0) {
                    result.words[static_cast<std::size_t>(i)] |= value >> offset;
                } else if (offset != 0) {
                    result.words[static_cast<std::size_t>(i)] |= value << (64 - offset);
                }
            }
        }
        return result;
    }
};

}  // namespace heptad
