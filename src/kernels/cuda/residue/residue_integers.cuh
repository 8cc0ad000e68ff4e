// Numbers as integers, and integers modulo each modulus, in floating point: quotients by magic numbers.
#pragma once

#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

struct ModulusConstants {
    double modulus[kMostModuli], reciprocal[kMostModuli];
    double two_to_27[kMostModuli];  // modulo each
    int of_halves[kMostModuli];     // one, and 2^14 modulo each, in bytes
    float short_modulus[kMostModuli], short_reciprocal[kMostModuli], two_to_12[kMostModuli];
};

/// 2^exponent as a product of two numbers that a float has.
struct TwoShortPowers {
    float first, second;
    __device__ __forceinline__ explicit TwoShortPowers(int exponent) {
        constexpr int kMost = 252;
        const int whole = min(max(exponent, -kMost), kMost), half = whole >> 1;
        first = __int_as_float((half + 127) << 23);
        second = __int_as_float((whole - half + 127) << 23);
    }
    __device__ __forceinline__ float times(float x) const { return x * first * second; }
};

/// Added to a number of moderate size, they leave its integer part in the lower bits.
constexpr double kToInteger = 6755399441055744.0;  // 1.5 * 2^52
constexpr float kToShortInteger = 12582912.0F;     // 1.5 * 2^23

/// An integer below 2^63, of which f32 needs 2^40.
template <class T>
struct LongInteger {
    double upper = 0, lower;
    __device__ __forceinline__ explicit LongInteger(double scaled) {
        lower = rint(scaled);
        if constexpr (sizeof(T) == 8) {
            const double whole = lower;
            upper = fma(whole, 0x1p-27, kToInteger) - kToInteger;
            lower = fma(upper, -0x1p27, whole);
        }
    }
    /// From -p/2 to p/2 in the lowest byte.
    __device__ __forceinline__ unsigned modulo(const ModulusConstants& constants, int t) const {
        const double x = sizeof(T) == 8 ? fma(upper, constants.two_to_27[t], lower) : lower;
        const double quotient = fma(x, constants.reciprocal[t], kToInteger) - kToInteger;
        return static_cast<unsigned>(__double2loint(fma(-constants.modulus[t], quotient, x) + kToInteger));
    }
};

/// An integer below 2^27.6, in floats: as  upper * 2^12 + lower  modulo p it is below 2^23, and its quotient is found
/// to one part in 2^25, where 2^24 would do.
struct ShortInteger {
    float upper, lower;
    __device__ __forceinline__ explicit ShortInteger(float scaled) {
        upper = fmaf(scaled, 0x1p-12F, kToShortInteger) - kToShortInteger;
        lower = (fmaf(upper, -0x1p12F, scaled) + kToShortInteger) - kToShortInteger;
    }
    __device__ __forceinline__ unsigned modulo(const ModulusConstants& constants, int t) const {
        const float x = fmaf(upper, constants.two_to_12[t], lower);
        const float quotient = fmaf(x, constants.short_reciprocal[t], kToShortInteger) - kToShortInteger;
        return __float_as_uint(fmaf(-constants.short_modulus[t], quotient, x) + kToShortInteger);
    }
};

/// The same as two halves of 16 bits, of which one instruction makes what is to be reduced.
struct PackedInteger {
    static constexpr int kLowerBits = 14;
    int halves;
    __device__ __forceinline__ explicit PackedInteger(int packed) : halves(packed) {}
    static __device__ __forceinline__ int pack(float scaled) {
        const int x = __float2int_rn(scaled);
        const int upper = (x + (1 << (kLowerBits - 1))) >> kLowerBits, lower = x - (upper << kLowerBits);
        return upper << 16 | (lower & 0xffff);
    }
    __device__ __forceinline__ unsigned modulo(const ModulusConstants& constants, int t) const {
        // The bits of kToShortInteger plus a small integer are those of the float.
        const float shifted =
            __int_as_float(__dp2a_lo(halves, constants.of_halves[t], __float_as_int(kToShortInteger)));
        const float x = shifted - kToShortInteger;
        const float quotient = fmaf(x, constants.short_reciprocal[t], kToShortInteger) - kToShortInteger;
        return __float_as_uint(fmaf(-constants.short_modulus[t], quotient, shifted));
    }
};

/// Short integers hold those of f32 with so many moduli, without powers of two along k.
constexpr int kMostShortModuli = 7;

/// The lowest bytes of four.
__device__ __forceinline__ unsigned lowest_bytes(const unsigned (&x)[4]) {
    constexpr unsigned kLowestBytes = 0x0040, kBothHalves = 0x5410;
    return __byte_perm(__byte_perm(x[0], x[1], kLowestBytes), __byte_perm(x[2], x[3], kLowestBytes), kBothHalves);
}

inline ModulusConstants modulus_constants() {
    ModulusConstants constants{};
    for (int t = 0; t < kMostModuli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)];
        const auto power = [p](int exponent) {
            const int rest = static_cast<int>((std::int64_t{1} << exponent) % p);
            return rest > p / 2 ? rest - p : rest;
        };
        constants.modulus[t] = p;
        constants.reciprocal[t] = 1.0 / p;
        constants.two_to_27[t] = power(27);
        constants.of_halves[t] = 1 | (power(14) & 0xff) << 8;
        constants.short_modulus[t] = static_cast<float>(p);
        constants.short_reciprocal[t] = static_cast<float>(1.0 / p);
        constants.two_to_12[t] = static_cast<float>(power(12));
    }
    return constants;
}

}  // namespace
}  // namespace heptad::cuda
