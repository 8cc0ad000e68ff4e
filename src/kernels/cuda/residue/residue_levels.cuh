// Levels of Winograd's algorithm over residues, in registers. Bytes are kept as integers in f16, four to a Four: sums
// over two levels are of sixteen bytes at most, and f16 holds integers up to 2048 = 16 * 128.
#pragma once

#include <cuda_fp16.h>

#include "algorithm/winograd_sums.hpp"
#include "kernels/cuda/residue/residue_integers.cuh"

namespace heptad::cuda {
namespace {

struct Four {
    __half2 lower, upper;
    friend __device__ __forceinline__ Four operator+(const Four& x, const Four& y) {
        return {__hadd2(x.lower, y.lower), __hadd2(x.upper, y.upper)};
    }
    friend __device__ __forceinline__ Four operator-(const Four& x, const Four& y) {
        return {__hsub2(x.lower, y.lower), __hsub2(x.upper, y.upper)};
    }
};

__device__ __forceinline__ __half2 both(float x) {
    return __float2half2_rn(x);
}
__device__ __forceinline__ __half2 as_halves(unsigned bits) {
    return *reinterpret_cast<const __half2*>(&bits);
}
__device__ __forceinline__ unsigned as_bits(__half2 x) {
    return *reinterpret_cast<const unsigned*>(&x);
}

/// Bytes from 0 to 255, less 128.
__device__ __forceinline__ Four four_of_bytes(unsigned bytes) {
    constexpr unsigned kOf1024 = 0x64646464U;  // 0x6400 + b is 1024 + b in f16
    const __half2 offset = both(1024 + 128);
    return {__hsub2(as_halves(__byte_perm(bytes, kOf1024, 0x4140)), offset),
            __hsub2(as_halves(__byte_perm(bytes, kOf1024, 0x4342)), offset)};
}

/// Bytes from -p/2 to p/2 of sums up to 2048. The reciprocal in f16 is good enough: an integer that is farther than p/2
/// from the multiple of p taken off is so by less than one, and 127 is not exceeded (device_residues_test).
struct ByteRemainder {
    __half2 reciprocal, minus_p;
    __device__ __forceinline__ ByteRemainder(const ModulusConstants& constants, int t)
        : reciprocal(both(constants.reciprocal[t])), minus_p(both(-constants.modulus[t])) {}
    __device__ __forceinline__ unsigned of(__half2 x) const {
        const __half2 to_integer = both(1536);
        const __half2 quotient = __hsub2(__hfma2(x, reciprocal, to_integer), to_integer);
        return as_bits(__hadd2(__hfma2(minus_p, quotient, x), to_integer));
    }
    __device__ __forceinline__ unsigned of(const Four& x) const {
        return __byte_perm(of(x.lower), of(x.upper), 0x6420);
    }
    /// Of bytes as they are.
    static __device__ __forceinline__ unsigned as_it_is(const Four& x) {
        const __half2 to_integer = both(1536);
        return __byte_perm(as_bits(__hadd2(x.lower, to_integer)), as_bits(__hadd2(x.upper, to_integer)), 0x6420);
    }
};

/// Blocks along one side of a matrix.
template <int Levels>
constexpr int kSideBlocks = 1 << Levels;
template <int Levels>
constexpr int kBlocks = kSideBlocks<Levels>* kSideBlocks<Levels>;

template <int Levels>
constexpr int kProducts = winograd_products(Levels);

/// Blocks of a matrix by rows of blocks, and its four blocks of a level.
template <int Levels>
__device__ __forceinline__ FourBlocks<Four> block_of_blocks(const Four (&x)[kBlocks<Levels>], int row, int col) {
    constexpr int kSide = kSideBlocks<Levels>;
    const int first = 2 * row * kSide + 2 * col;
    return {{x[first], x[first + 1], x[first + kSide], x[first + kSide + 1]}};
}

template <bool OfB, class T>
__device__ __forceinline__ void winograd_sums(const T& x11, const T& x12, const T& x21, const T& x22,
                                              T (&sums)[kWinogradProducts]) {
    if constexpr (OfB) {
        winograd_sums_of_b(x11, x12, x21, x22, sums);
    } else {
        winograd_sums_of_a(x11, x12, x21, x22, sums);
    }
}

}  // namespace
}  // namespace heptad::cuda
