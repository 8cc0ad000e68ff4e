// An entry of C out of the pieces of its integer, and the usual case of its one rounding: alpha = 1, beta = 0, and a
// result that is neither tiny nor huge.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/wide_integer.hpp"
#include "kernels/backend.hpp"
#include "run/residue/rounded_once.hpp"

namespace heptad {

__extension__ using SignedDoubleWord = __int128;

inline ResidueInteger entry_integer(const IntegerTile& tile, std::int64_t i, std::int64_t j) {
    static_assert(kEntryPieceBits == 40 && kMostEntryPieces == 5);
    const double* const at = tile.pieces + i * kResidueTile + j;
    constexpr std::int64_t kPiece = std::int64_t{kResidueTile} * kResidueTile;
    const auto piece = [&](int q) -> SignedDoubleWord {
        return q < tile.piece_count ? static_cast<std::int64_t>(at[q * kPiece]) : 0;
    };
    ResidueInteger value;
    SignedDoubleWord rest = piece(0) + piece(1) * (SignedDoubleWord{1} << 40) + piece(2) * (SignedDoubleWord{1} << 80);
    value.words[0] = static_cast<std::uint64_t>(rest);
    rest >>= 64;
    if (tile.piece_count > 3) {  // from bit 120 on
        rest += (piece(3) + piece(4) * (SignedDoubleWord{1} << 40)) * (SignedDoubleWord{1} << 56);
    }
    value.words[1] = static_cast<std::uint64_t>(rest);
    value.words[2] = static_cast<std::uint64_t>(rest >> 64);
    return value;
}

/// to = value * 2^exponent, rounded to nearest even; false, and nothing is written, where the result may lie beyond the
/// normal numbers.
template <class T>
bool rounds_wide_integer(ResidueInteger value, int exponent, T& to) {
    static_assert(std::is_same_v<ResidueInteger, WideInteger<3>>);
    const bool negative = value.is_negative();
    if (negative) {
        value.negate();
    }
    const auto& [low, middle, high] = value.words;
    // The first 62 bits and more, with a last bit that says whether there are others behind them.
    const int words = high != 0 ? 2 : middle != 0 ? 1 : 0;
    const std::uint64_t top = words == 2 ? high : words == 1 ? middle : low;
    const std::uint64_t next = words == 2 ? middle : words == 1 ? low : 0;
    const std::uint64_t last = words == 2 ? low : 0;
    if (top == 0) {
        to = 0;
        return true;
    }
    const int zeros = std::countl_zero(top);
    const DoubleWord aligned = (static_cast<DoubleWord>(top) << 64 | next) << zeros;
    constexpr int kSpare = 2;  // conversions take numbers with a sign
    const auto upper = static_cast<std::uint64_t>(aligned >> 64);
    const bool has_rest = (upper & ((1U << kSpare) - 1)) != 0 || static_cast<std::uint64_t>(aligned) != 0 || last != 0;
    const auto leading = static_cast<std::int64_t>(upper >> kSpare | (has_rest ? 1 : 0));
    const int end = exponent + 64 * words + 64 - zeros;  // the result is below 2^end, and at least half of it
    constexpr int kLeast = sizeof(T) == 8 ? -900 : -125, kMost = sizeof(T) == 8 ? 1000 : 127;
    if (end < kLeast || end > kMost) {
        return false;
    }
    const T rounded = static_cast<T>(negative ? -leading : leading);  // below 2^62
    const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(end - 62 + 1023) << 52);
    to = static_cast<T>(static_cast<double>(rounded) * power);
    return true;
}

/// The same of an entry in up to three pieces for f32, and in up to two for f64, in doubles. An f32 comes from a double
/// that was rounded to odd: where something is left over, its last bit is set, so that no half is mistaken for a tie.
template <class T>
bool rounds_in_doubles(const double* at, int piece_count, int exponent, T& to) {
    constexpr std::int64_t kPiece = std::int64_t{kResidueTile} * kResidueTile;
    constexpr double kUnits[] = {1, 0x1p40, 0x1p80};
    double sum = at[(piece_count - 1) * kPiece] * kUnits[piece_count - 1], rest = 0;
    for (int q = piece_count - 2; q >= 0; --q) {
        // What is left over is exact, because a piece is smaller than all that lies above it, unless that is zero.
        const double above = sum, piece = at[q * kPiece] * kUnits[q];
        sum = above + piece;
        rest += piece - (sum - above);
    }
    if (sum == 0) {
        to = 0;
        return true;
    }
    auto bits = std::bit_cast<std::uint64_t>(sum);
    const int end = exponent + static_cast<int>(bits >> 52 & 0x7ff) - 1022;
    constexpr int kLeast = sizeof(T) == 8 ? -900 : -125, kMost = sizeof(T) == 8 ? 1000 : 127;
    if (end < kLeast || end > kMost) {
        return false;
    }
    if (sizeof(T) == 4 && rest != 0 && (bits & 1) == 0) {
        bits += (rest > 0) == (sum > 0) ? std::uint64_t{1} : ~std::uint64_t{0};
    }
    const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
    to = static_cast<T>(std::bit_cast<double>(bits) * power);
    return true;
}

/// The way that an entry's pieces allow.
template <class T>
bool rounds_quickly(const IntegerTile& tile, std::int64_t i, std::int64_t j, int exponent, T& to) {
    constexpr int kMostInDoubles = sizeof(T) == 8 ? 2 : 3;
    return tile.piece_count <= kMostInDoubles
               ? rounds_in_doubles(tile.pieces + i * kResidueTile + j, tile.piece_count, exponent, to)
               : rounds_wide_integer(entry_integer(tile, i, j), exponent, to);
}

}  // namespace heptad
