// The numbers that products by residues are taken modulo: pairwise coprime, as large as eight bits allow. A product of
// integers is known from what it is modulo each of the first N, if it is smaller than half of what they multiply to.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/wide_integer.hpp"

namespace heptad {

inline constexpr int kMostModuli = 24;
inline constexpr std::array<int, kMostModuli> kModuli{256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217,
                                                      211, 199, 197, 193, 191, 181, 179, 173, 167, 163, 157, 151};

/// Residues lie within 128, so sums of so many products of two fit 32 bits.
inline constexpr int kLongestResidueSum = 131071;

/// On a device: the kernels are compiled for kModuliChoices numbers of moduli from the fewest on, and integers fit 128
/// bits with the most; sums of so many products of bytes leave room for what the remainder needs.
inline constexpr int kModuliChoices = 5;
inline constexpr int kFewestModuliOfF32 = 6, kFewestModuliOfF64 = 12, kMostDeviceModuli = 16;
static_assert(kFewestModuliOfF64 + kModuliChoices - 1 == kMostDeviceModuli);
inline constexpr std::int64_t kLongestDeviceSum = 65536;
/// One more adds four bits to the integers of A and four to those of B, so it serves data that is so much less even.
/// Host and device must come to the same limits: a power of two.
inline constexpr double kEvennessOfModulus = 1.0 / 16;
/// There the norm of a line is added up in so many parts, of so many bytes.
inline constexpr int kNormParts = 16;
inline constexpr std::int64_t kNormPartBytes = 24;

/// Levels whose sums are made in passes over planes of bytes: so many products wait in shared memory, and sixteen bits
/// hold sums of so many bytes.
inline constexpr int kMostPlaneProducts = 384, kMostPlaneSum = 128;

/// What a thread block of a device keeps of every block of an operand, where levels are inside the kernels that make
/// bytes of numbers: lines, and places along k, the last few of which keep columns in different banks of shared memory.
inline constexpr int kNumberTileLines = 16, kNumberTilePitch = 64 + 4;

/// Remainders without a division.
class Modulus {
public:
    explicit Modulus(int modulus)
        : modulus_(static_cast<std::uint64_t>(modulus)), reciprocal_(~std::uint64_t{0} / modulus_) {}
    int value() const { return static_cast<int>(modulus_); }
    /// Of x < 2^56.
    std::uint64_t remainder(std::uint64_t x) const {
        // At most one too small: the reciprocal is, by less than one part in 2^64 / modulus.
        const auto quotient = static_cast<std::uint64_t>(static_cast<DoubleWord>(x) * reciprocal_ >> 64);
        const std::uint64_t rest = x - quotient * modulus_;
        return rest >= modulus_ ? rest - modulus_ : rest;
    }

private:
    std::uint64_t modulus_, reciprocal_;
};

/// log2 of the product of the first `count`.
inline double log2_of_moduli(int count) {
    double bits = 0;
    for (int i = 0; i < count; ++i) {
        bits += std::log2(kModuli[static_cast<std::size_t>(i)]);
    }
    return bits;
}

/// For both signs, and for the quotient, which is found with an error.
inline constexpr double kSignAndMargin = 1.01;

/// log2 of the norms that a row of A and a column of B may have, as integers, with so many moduli.
inline double log2_of_integers(int count) {
    return (log2_of_moduli(count) - kSignAndMargin) / 2;
}

/// log2 of the size of 64-bit integers as kernels take them: congruent modulo 2^64, in eight bytes with signs.
inline constexpr double kLog2OfWords = 63.006;

/// How many it takes for integers up to 2^bits; more than kMostModuli: there are not enough.
inline int moduli_for(double bits) {
    int count = 1;
    while (count <= kMostModuli && log2_of_moduli(count) < bits + kSignAndMargin) {
        ++count;
    }
    return count;
}

}  // namespace heptad
