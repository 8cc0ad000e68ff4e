// Numbers as integers without rounding, and modulo each modulus: what kernels do where products are rounded once or are
// of 64-bit integers. The host compiles it too, for its tests.
//
// An integer of up to 183 bits, whose significand a double has, is a sum of pieces * 2^kPieceExponents. A piece times
// a residue of its power is below 2^50, all of them together below 2^51: then quotients come out so near that what is
// left fits a byte, even where the modulus is 255.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/host_and_device.hpp"
#include "base/moduli.hpp"

namespace heptad::cuda {

inline constexpr int kMostNumberPieces = 5;
inline constexpr int kPieceExponents[kMostNumberPieces] = {0, 27, 54, 97, 140};

/// One piece is an integer of 64 bits, below 2^62; three hold those below 2^97, five all.
inline int number_pieces(double log2_largest) {
    return log2_largest < 62 ? 1 : log2_largest < 97 ? 3 : kMostNumberPieces;
}

struct ExactConstants {
    double modulus[kMostModuli], reciprocal[kMostModuli];
    double power[kMostNumberPieces][kMostModuli];  // 2^kPieceExponents modulo each, around zero
};
/// Best known to the compiler: it takes a processor 27 us, for which a device would have to wait.
constexpr ExactConstants exact_constants() {
    ExactConstants constants{};
    for (std::size_t t = 0; t < kModuli.size(); ++t) {
        const int p = kModuli[t];
        const auto power = [p](int exponent) {
            int rest = 1;
            for (int i = 0; i < exponent; ++i) {
                rest = rest * 2 % p;
            }
            return static_cast<double>(rest > p / 2 ? rest - p : rest);
        };
        constants.modulus[t] = p;
        constants.reciprocal[t] = 1.0 / p;
        for (int i = 0; i < kMostNumberPieces; ++i) {
            constants.power[i][t] = power(kPieceExponents[i]);
        }
    }
    return constants;
}

/// Added to a number of moderate size, it leaves its integer part in the lower bits.
inline constexpr double kIntegerPart = 6755399441055744.0;  // 1.5 * 2^52

HEPTAD_HOST_AND_DEVICE std::uint64_t bits_of_double(double x) {
    return __builtin_bit_cast(std::uint64_t, x);
}
HEPTAD_HOST_AND_DEVICE double double_of_bits(std::uint64_t bits) {
    return __builtin_bit_cast(double, bits);
}
/// For exponents of normal numbers.
HEPTAD_HOST_AND_DEVICE double exact_power(int exponent) {
    return double_of_bits(static_cast<std::uint64_t>(exponent + 1023) << 52);
}
HEPTAD_HOST_AND_DEVICE int trailing_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
    return __ffsll(static_cast<long long>(x)) - 1;
#else
    return __builtin_ctzll(x);
#endif
}

/// x modulo the t-th modulus in the lowest byte, from -p/2 to p/2; |x| < 2^51.
HEPTAD_HOST_AND_DEVICE unsigned byte_modulo(const ExactConstants& constants, int t, double x) {
    const double quotient = std::fma(x, constants.reciprocal[t], kIntegerPart) - kIntegerPart;
    return static_cast<unsigned>(bits_of_double(std::fma(-constants.modulus[t], quotient, x) + kIntegerPart));
}

/// An integer that is a double.
template <std::size_t Pieces>
struct ExactInteger {
    double piece[Pieces];
    ExactInteger() = default;
    HEPTAD_HOST_AND_DEVICE explicit ExactInteger(double x) { piece[0] = rest_of<Pieces - 1>(x); }
    HEPTAD_HOST_AND_DEVICE unsigned modulo(const ExactConstants& constants, int t) const {
        return byte_modulo(constants, t, sum_of<Pieces - 1>(constants, t));
    }

private:
    // Not as loops: the compiler would keep the pieces in memory.
    template <std::size_t I>
    HEPTAD_HOST_AND_DEVICE double rest_of(double x) {
        if constexpr (I == 0) {
            return x;
        } else {
            constexpr int kExponent = kPieceExponents[I];
            piece[I] = std::fma(x, exact_power(-kExponent), kIntegerPart) - kIntegerPart;
            return rest_of<I - 1>(std::fma(piece[I], -exact_power(kExponent), x));
        }
    }
    template <std::size_t I>
    HEPTAD_HOST_AND_DEVICE double sum_of(const ExactConstants& constants, int t) const {
        if constexpr (I == 0) {
            return piece[0];
        } else {
            return std::fma(piece[I], constants.power[I][t], sum_of<I - 1>(constants, t));
        }
    }
};

/// What is to be known of a line of floats before integers are made of it.
struct ExactLine {
    double squares = 0;
    std::uint64_t largest = 0;     // bits of the largest absolute value; what is not finite is above all others
    std::int32_t lowest = kNoBit;  // exponent of the lowest set bit
    std::int32_t unused = 0;

    static constexpr std::int32_t kNoBit = 1 << 20;
    static constexpr std::uint64_t kInfinity = 0x7ff0000000000000U;
    /// In place of the exponent of a line that is not finite.
    static constexpr std::int32_t kNotFinite = -(1 << 30);

    HEPTAD_HOST_AND_DEVICE void note(double x) {
        const std::uint64_t bits = bits_of_double(x) & 0x7fffffffffffffffU;
        largest = bits > largest ? bits : largest;
        squares = std::fma(x, x, squares);
        if (bits != 0) {
            const auto biased = static_cast<std::int32_t>(bits >> 52);
            const std::uint64_t leading = biased == 0 ? 0 : std::uint64_t{1} << 52;
            const std::int32_t bit =
                (biased == 0 ? 1 : biased) - 1075 + trailing_zeros((bits & 0xfffffffffffffU) | leading);
            lowest = bit < lowest ? bit : lowest;
        }
    }
    HEPTAD_HOST_AND_DEVICE void add(const ExactLine& other) {
        squares += other.squares;
        largest = other.largest > largest ? other.largest : largest;
        lowest = other.lowest < lowest ? other.lowest : lowest;
    }
    HEPTAD_HOST_AND_DEVICE bool is_finite() const { return largest < kInfinity; }
    /// Integers of the line are its numbers times 2^this.
    HEPTAD_HOST_AND_DEVICE std::int32_t exponent() const {
        return !is_finite() ? kNotFinite : largest == 0 ? 0 : -lowest;
    }
    /// Of the line as integers, rounded up; 0 where it has none.
    HEPTAD_HOST_AND_DEVICE double log2_norm(std::int64_t depth) const {
        if (!is_finite() || largest == 0) {
            return 0;
        }
        // Squares of what is very large or small are not in the range of a double: then all count as the largest.
        const double count = static_cast<double>(depth);
        const bool in_range = squares > 1e-280 && bits_of_double(squares) < kInfinity;
        const double own =
            in_range ? std::log2(squares) / 2 : std::log2(double_of_bits(largest)) + std::log2(count) / 2;
        return own - lowest + (count + 8) * 0x1p-52 + 1e-9;
    }
};

}  // namespace heptad::cuda
