// An entry of C from its residues, exactly: the Chinese remainder theorem modulo 2^32, 2^64 and so on up to 2^192, and
// one rounding of  alpha * integer * 2^exponent + beta * c  to nearest even. The host compiles it too, for its tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_and_device.hpp"
#include "base/moduli.hpp"
#include "base/wide_integer.hpp"

namespace heptad::cuda {

/// Four moduli multiply to less than 2^32, so that many limbs of 32 bits hold what 4 * limbs stand for.
inline constexpr int kModuliOfLimb = 4, kMostLimbs = kMostModuli / kModuliOfLimb;

/// weight / p is what the integer has to be multiplied by; all modulo what the moduli multiply to.
struct ExactTable {
    std::uint32_t weight[kMostModuli][kMostLimbs];
    std::uint32_t part[kMostModuli];  // weight / product, times 2^32
    std::uint32_t product[kMostLimbs];
    int count;
};
inline ExactTable exact_table(int count) {
    using Integer = WideInteger<3>;
    static_assert(2 * 3 == kMostLimbs);
    const auto times = [](const Integer& x, int factor) {
        Integer result;
        result.add_multiple(x, static_cast<std::uint64_t>(factor));
        return result;
    };
    const auto store = [](const Integer& x, std::uint32_t(&to)[kMostLimbs]) {
        for (std::size_t i = 0; i < kMostLimbs; ++i) {
            to[i] = static_cast<std::uint32_t>(x.words[i / 2] >> (i % 2 * 32));
        }
    };
    ExactTable table{};
    table.count = count;
    Integer product;
    product.words[0] = 1;
    for (int t = 0; t < count; ++t) {
        product = times(product, kModuli[static_cast<std::size_t>(t)]);
    }
    store(product, table.product);
    for (int t = 0; t < count; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)];
        Integer others;
        others.words[0] = 1;
        int rest = 1;  // of them modulo p
        for (int s = 0; s < count; ++s) {
            if (s != t) {
                others = times(others, kModuli[static_cast<std::size_t>(s)]);
                rest = rest * (kModuli[static_cast<std::size_t>(s)] % p) % p;
            }
        }
        int inverse = 1;
        while (rest * inverse % p != 1) {
            ++inverse;
        }
        store(times(others, inverse), table.weight[t]);
        table.part[t] =
            static_cast<std::uint32_t>((static_cast<std::uint64_t>(inverse) << 32) / static_cast<unsigned>(p));
    }
    return table;
}

/// Sum of residues (0 to 255) times weights, less the multiple of the product that is nearest.
template <std::size_t Limbs>
struct ExactSum {
    std::uint64_t limb[Limbs] = {}, quotient = 0;

    HEPTAD_HOST_AND_DEVICE void add(const ExactTable& table, int t, std::uint32_t residue) {
        HEPTAD_UNROLL
        for (std::size_t i = 0; i < Limbs; ++i) {
            limb[i] += static_cast<std::uint64_t>(residue) * table.weight[t][i];
        }
        quotient += static_cast<std::uint64_t>(residue) * table.part[t];
    }
    /// Modulo 2^(32 Limbs), in two's complement.
    HEPTAD_HOST_AND_DEVICE void value(const ExactTable& table, std::uint32_t (&to)[Limbs]) const {
        const auto times = static_cast<std::uint32_t>((quotient + 0x80000000U) >> 32);
        std::int64_t carry = 0;
        HEPTAD_UNROLL
        for (std::size_t i = 0; i < Limbs; ++i) {
            carry += static_cast<std::int64_t>(limb[i]) -
                     static_cast<std::int64_t>(static_cast<std::uint64_t>(table.product[i]) * times);
            to[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }
};

HEPTAD_HOST_AND_DEVICE int leading_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
    return __clzll(static_cast<long long>(x));
#else
    return x == 0 ? 64 : __builtin_clzll(x);
#endif
}

template <class T>
struct ExactFormat;
template <>
struct ExactFormat<float> {
    using Bits = std::uint32_t;
    static constexpr int kPrecision = 24, kLeast = -149, kExponents = 255;
};
template <>
struct ExactFormat<double> {
    using Bits = std::uint64_t;
    static constexpr int kPrecision = 53, kLeast = -1074, kExponents = 2047;
};

/// The number from 2^(end - 1) to 2^end whose first 64 bits these are, rounded. `below`: others follow.
template <class T>
HEPTAD_HOST_AND_DEVICE T rounded_to(std::uint64_t first, bool below, int end, bool negative) {
    using Format = ExactFormat<T>;
    using Bits = typename Format::Bits;
    // So many bits are kept, which may be none.
    const int above_least = end - Format::kLeast;
    const int kept = above_least < Format::kPrecision ? above_least : Format::kPrecision;
    Bits bits = 0;
    if (kept >= 0) {
        const std::uint64_t significand = kept == 0 ? 0 : first >> (64 - kept);
        const bool half = (first >> (63 - kept) & 1) != 0;
        const bool more = below || (first << (kept + 1)) != 0;
        const int up = half && (more || (significand & 1) != 0) ? 1 : 0;
        // Of normal numbers the first bit adds one to the exponent, and so does a carry.
        const int exponent = above_least - kept;
        const Bits infinity = static_cast<Bits>(Format::kExponents) << (Format::kPrecision - 1);
        bits = exponent >= Format::kExponents
                   ? infinity
                   : static_cast<Bits>((static_cast<Bits>(exponent) << (Format::kPrecision - 1)) +
                                       static_cast<Bits>(significand) + static_cast<Bits>(up));
        bits = bits > infinity ? infinity : bits;
    }
    bits |= static_cast<Bits>(negative ? 1 : 0) << (8 * sizeof(Bits) - 1);
    return __builtin_bit_cast(T, bits);
}

/// integer * 2^exponent, rounded; the integer in two's complement.
template <class T, std::size_t Limbs>
HEPTAD_HOST_AND_DEVICE T rounded_integer(std::uint32_t (&limb)[Limbs], int exponent) {
    const bool negative = (limb[Limbs - 1] >> 31) != 0;
    // The first limb that is not zero, two behind it, and whether there are bits in others.
    std::uint32_t first = 0, second = 0, third = 0;
    bool below = false;
    int position = 0;
    std::uint32_t carry = negative ? 1 : 0, earlier = 0;
    HEPTAD_UNROLL
    for (std::size_t i = 0; i < Limbs; ++i) {
        if (negative) {
            limb[i] = ~limb[i] + carry;
            carry = carry != 0 && limb[i] == 0 ? 1 : 0;
        }
        earlier |= i > 2 ? limb[i > 2 ? i - 3 : 0] : 0;
        if (limb[i] != 0) {
            first = limb[i];
            second = i > 0 ? limb[i > 0 ? i - 1 : 0] : 0;
            third = i > 1 ? limb[i > 1 ? i - 2 : 0] : 0;
            below = earlier != 0;
            position = static_cast<int>(i);
        }
    }
    if (first == 0) {
        return T(0);
    }
    const std::uint64_t two = static_cast<std::uint64_t>(first) << 32 | second;
    const int zeros = leading_zeros(two);
    const std::uint64_t shifted = static_cast<std::uint64_t>(third) << zeros;
    return rounded_to<T>(two << zeros | shifted >> 32, below || static_cast<std::uint32_t>(shifted) != 0,
                         exponent + 32 * position + 32 - zeros, negative);
}

/// A number of up to 256 bits.
struct ExactTerm {
    std::uint64_t word[4] = {};
    int exponent = 0;  // of its lowest bit
    bool negative = false;

    HEPTAD_HOST_AND_DEVICE void times(double factor) {
        const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, factor);
        const int biased = static_cast<int>(bits >> 52 & 0x7ff);
        const std::uint64_t significand =
            (bits & 0xfffffffffffffU) | (biased == 0 ? std::uint64_t{0} : std::uint64_t{1} << 52);
        DoubleWord carry = 0;
        for (std::uint64_t& one : word) {
            carry += static_cast<DoubleWord>(one) * significand;
            one = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
        exponent += (biased == 0 ? 1 : biased) - 1075;
        negative = negative != ((bits >> 63) != 0);
    }
    HEPTAD_HOST_AND_DEVICE int length() const {
        int bits = 0;
        for (int i = 0; i < 4; ++i) {
            bits = word[i] != 0 ? 64 * i + 64 - leading_zeros(word[i]) : bits;
        }
        return bits;
    }
    HEPTAD_HOST_AND_DEVICE int top() const { return exponent + length(); }
};

/// Where two terms are added: the larger one lies at the top of 320 bits, whole. Tops that are two bits and more apart
/// leave the sum where the larger one is, so that of what lies below the window only its being there counts.
struct ExactWindow {
    static constexpr int kWords = 5, kTop = 64 * kWords - 1;
    std::uint64_t word[kWords] = {};
    bool below = false;

    HEPTAD_HOST_AND_DEVICE void place(const ExactTerm& term, int lowest) {
        for (int i = 0; i < 4; ++i) {
            const std::uint64_t x = term.word[i];
            const int at = lowest + 64 * i;
            if (at <= -64) {
                below = below || x != 0;
            } else if (at < 0) {
                word[0] |= x >> -at;
                below = below || (x << (64 + at)) != 0;
            } else if (x != 0) {
                word[at / 64] |= x << (at % 64);
                if (at % 64 != 0 && at / 64 + 1 < kWords) {
                    word[at / 64 + 1] |= x >> (64 - at % 64);
                }
            }
        }
    }
    HEPTAD_HOST_AND_DEVICE void add(const ExactWindow& other, bool subtracts) {
        // Less what lies below, where there is any, is one less and something above it.
        DoubleWord carry = subtracts && !other.below ? 1 : 0;
        for (int i = 0; i < kWords; ++i) {
            carry += static_cast<DoubleWord>(word[i]) + (subtracts ? ~other.word[i] : other.word[i]);
            word[i] = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
        below = other.below;
    }
    HEPTAD_HOST_AND_DEVICE void negate() {
        std::uint64_t carry = 1;
        for (std::uint64_t& one : word) {
            one = ~one + carry;
            carry = carry != 0 && one == 0 ? 1 : 0;
        }
    }
};

/// alpha * term + beta * c, rounded; all finite. An exact zero is +0.
template <class T>
HEPTAD_HOST_AND_DEVICE T rounded_sum(double alpha, const ExactTerm& term, double beta, double c) {
    ExactTerm larger = term, smaller;
    smaller.word[0] = 1;
    larger.times(alpha);
    smaller.times(beta);
    smaller.times(c);
    if (larger.length() == 0 || (smaller.length() != 0 && smaller.top() > larger.top())) {
        const ExactTerm other = larger;
        larger = smaller;
        smaller = other;
    }
    if (larger.length() == 0) {
        return T(0);
    }
    bool negative = larger.negative;
    const int lowest = ExactWindow::kTop - larger.length();  // a bit is left for a carry
    const int base = larger.exponent - lowest;
    ExactWindow sum, addend;
    sum.place(larger, lowest);
    if (smaller.length() != 0) {
        addend.place(smaller, smaller.exponent - base);
        sum.add(addend, negative != smaller.negative);
        if (negative != smaller.negative && (sum.word[ExactWindow::kWords - 1] >> 63) != 0) {  // of equal tops
            sum.negate();
            negative = !negative;
        }
    }
    int position = ExactWindow::kWords - 1;
    while (position > 0 && sum.word[position] == 0) {
        --position;
    }
    if (sum.word[position] == 0) {
        return T(0);
    }
    const int zeros = leading_zeros(sum.word[position]);
    const std::uint64_t next = position > 0 ? sum.word[position - 1] : 0;
    bool below = sum.below || (next << zeros) != 0;
    for (int i = 0; i + 1 < position; ++i) {
        below = below || sum.word[i] != 0;
    }
    const std::uint64_t first = sum.word[position] << zeros | (zeros == 0 ? 0 : next >> (64 - zeros));
    return rounded_to<T>(first, below, base + 64 * position + 64 - zeros, negative);
}

/// The integer in two's complement as a term.
template <std::size_t Limbs>
HEPTAD_HOST_AND_DEVICE ExactTerm exact_term(const std::uint32_t (&limb)[Limbs], int exponent) {
    ExactTerm term;
    term.exponent = exponent;
    term.negative = (limb[Limbs - 1] >> 31) != 0;
    std::uint32_t carry = term.negative ? 1 : 0;
    for (std::size_t i = 0; i < Limbs; ++i) {
        const std::uint32_t one = term.negative ? ~limb[i] + carry : limb[i];
        carry = carry != 0 && one == 0 ? 1 : 0;
        term.word[i / 2] |= static_cast<std::uint64_t>(one) << (i % 2 * 32);
    }
    return term;
}

}  // namespace heptad::cuda
