// Numbers as integers, and integers modulo each modulus: their bytes times powers of 256 modulo it, and of that sum the
// remainder in floating point, with the quotient by a magic number.
#pragma once

#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

struct ModulusConstants {
    int powers[kMostModuli][2];  // of 256, modulo each, in bytes
    float modulus[kMostModuli], reciprocal[kMostModuli];
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

/// Added to a number of moderate size, it leaves the integer part in the lower bits, and its bits plus a small integer
/// are those of the sum.
constexpr float kToInteger = 12582912.0F;  // 1.5 * 2^23

/// An integer in signed bytes, four to a word.
template <int Words>
struct IntegerBytes {
    static constexpr int kWords = Words;
    int word[Words];
    /// From -p/2 to p/2 in the lowest byte.
    __device__ __forceinline__ unsigned modulo(const ModulusConstants& constants, int t) const {
        int sum = __float_as_int(kToInteger);
#pragma unroll
        for (int i = 0; i < Words; ++i) {
            sum = __dp4a(word[i], constants.powers[t][i], sum);
        }
        const float shifted = __int_as_float(sum);
        const float quotient = fmaf(shifted - kToInteger, constants.reciprocal[t], kToInteger) - kToInteger;
        return __float_as_uint(fmaf(-constants.modulus[t], quotient, shifted));
    }
};

/// An integer below 2^30.
struct ShortInteger : IntegerBytes<1> {
    __device__ __forceinline__ explicit ShortInteger(int bytes) : IntegerBytes{{bytes}} {}
    __device__ __forceinline__ explicit ShortInteger(float scaled) : IntegerBytes{{bytes_of(scaled)}} {}
    /// With 128 added to every byte and taken off again, without a carry.
    static __device__ __forceinline__ int bytes_of(float scaled) {
        constexpr unsigned kMiddles = 0x80808080U;
        return static_cast<int>((static_cast<unsigned>(__float2int_rn(scaled)) + kMiddles) ^ kMiddles);
    }
};

/// An integer below 2^62.9.
struct LongInteger : IntegerBytes<2> {
    __device__ __forceinline__ explicit LongInteger(long long bytes)
        : IntegerBytes{{static_cast<int>(bytes), static_cast<int>(bytes >> 32)}} {}
    __device__ __forceinline__ explicit LongInteger(double scaled) : LongInteger(bytes_of(scaled)) {}
    static __device__ __forceinline__ long long bytes_of(double scaled) {
        constexpr unsigned long long kMiddles = 0x8080808080808080ULL;
        return static_cast<long long>((static_cast<unsigned long long>(__double2ll_rn(scaled)) + kMiddles) ^ kMiddles);
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
        int power = 1;
        for (int i = 0; i < 8; ++i) {
            constants.powers[t][i / 4] |= (power & 0xff) << (i % 4 * 8);
            power = power * 256 % p;
            power = power > p / 2 ? power - p : power < -p / 2 ? power + p : power;
        }
        constants.modulus[t] = static_cast<float>(p);
        constants.reciprocal[t] = static_cast<float>(1.0 / p);
    }
    return constants;
}

}  // namespace
}  // namespace heptad::cuda
