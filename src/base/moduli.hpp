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

/// Residues lie within this, so sums of so many products of two fit 32 bits.
inline constexpr int kLargestResidue = 128;
inline constexpr int kLongestResidueSum = 131071;

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

/// How many it takes for integers up to 2^bits, both signs; more than kMostModuli: there are not enough. The margin is
/// for the quotient, which is found in floating point.
inline int moduli_for(double bits) {
    constexpr double kSignAndMargin = 1.01;
    int count = 1;
    while (count <= kMostModuli && log2_of_moduli(count) < bits + kSignAndMargin) {
        ++count;
    }
    return count;
}

}  // namespace heptad
