// Numbers as integers of signed bytes, four to a word, and those modulo each modulus.
#pragma once

#include "kernels/cuda/residue/byte_remainders.hpp"
#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

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

/// An integer in signed bytes, four to a word.
template <int Words>
struct IntegerBytes {
    static constexpr int kWords = Words;
    int word[Words];
    /// In the lowest byte, as byte_of_sum().
    __device__ __forceinline__ unsigned modulo(const ModulusConstants& constants, int t) const {
        int sum = constants.sum_start[t];
#pragma unroll
        for (int i = 0; i < Words; ++i) {
            sum = __dp4a(word[i], constants.powers[t][i], sum);
        }
        return byte_of_sum(constants, t, sum);
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
    LongInteger() = default;
    __device__ __forceinline__ explicit LongInteger(long long bytes)
        : IntegerBytes{{static_cast<int>(bytes), static_cast<int>(bytes >> 32)}} {}
    __device__ __forceinline__ explicit LongInteger(double scaled) : LongInteger(bytes_of(scaled)) {}
    static __device__ __forceinline__ long long bytes_of(double scaled) {
        return static_cast<long long>(signed_bytes(static_cast<std::uint64_t>(__double2ll_rn(scaled))));
    }
};

/// One of 64 bits, modulo 2^64: what its bytes stand for is below 2^kLog2OfWords.
struct WordInteger : LongInteger {
    WordInteger() = default;
    __device__ __forceinline__ explicit WordInteger(std::int64_t x)
        : LongInteger(static_cast<long long>(signed_bytes(static_cast<std::uint64_t>(x)))) {}
};

/// Short integers hold those of f32 with so many moduli, without powers of two along k.
constexpr int kMostShortModuli = 7;

/// The lowest bytes of four.
__device__ __forceinline__ unsigned lowest_bytes(const unsigned (&x)[4]) {
    constexpr unsigned kLowestBytes = 0x0040, kBothHalves = 0x5410;
    return __byte_perm(__byte_perm(x[0], x[1], kLowestBytes), __byte_perm(x[2], x[3], kLowestBytes), kBothHalves);
}

}  // namespace
}  // namespace heptad::cuda
