// What kernels that make numbers of bytes with levels inside share: residues of the blocks of C from those of products.
#pragma once

#include "kernels/cuda/residue/residue_levels.cuh"

namespace heptad::cuda {
namespace {

/// What a block of C is of products that are all one.
template <int Levels>
__device__ constexpr int ones_in_block(int row, int col) {
    constexpr int kOfLevel[4] = {2, 4, 2, 4};
    int ones = 1;
    for (int level = 0; level < Levels; ++level) {
        ones *= kOfLevel[(row >> level & 1) * 2 + (col >> level & 1)];
    }
    return ones;
}

/// Sums of bytes less 128, back to what they are modulo p: from 0 to p - 1, or to 255.
__device__ __forceinline__ unsigned bytes_of_sums(const Four& sums, float offset, float p, float reciprocal) {
    const float2 lower = __half22float2(sums.lower), upper = __half22float2(sums.upper);
    const float x[4] = {lower.x + offset, lower.y + offset, upper.x + offset, upper.y + offset};
    const float middle = (p - 1) / 2;
    unsigned bytes[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        // No x is in the middle between two multiples, so the quotient's own rounding does not matter.
        const float quotient = fmaf(x[e] - middle, reciprocal, kToInteger) - kToInteger;
        bytes[e] = __float_as_uint(fmaf(-p, quotient, x[e]) + kToInteger);
    }
    return lowest_bytes(bytes);
}

template <int Levels>
__device__ __forceinline__ void blocks_of_c(const std::uint8_t* from, std::int64_t plane_bytes,
                                            Four (&c)[kBlocks<Levels>]) {
    const auto products = [&](int first, Four(&p)[kWinogradProducts]) {
#pragma unroll
        for (int r = 0; r < kWinogradProducts; ++r) {
            p[r] = four_of_bytes(__ldcs(reinterpret_cast<const unsigned*>(from + (first + r) * plane_bytes)));
        }
    };
    if constexpr (Levels == 1) {
        Four p[kWinogradProducts];
        products(0, p);
        winograd_result(p, c);
    } else {
        FourBlocks<Four> outer[kWinogradProducts], result[4];
#pragma unroll
        for (int r = 0; r < kWinogradProducts; ++r) {
            Four p[kWinogradProducts];
            products(r * kWinogradProducts, p);
            winograd_result(p, outer[r].block);
        }
        winograd_result(outer, result);
#pragma unroll
        for (int row = 0; row < 4; ++row) {
#pragma unroll
            for (int col = 0; col < 4; ++col) {
                c[row * 4 + col] = result[row / 2 * 2 + col / 2].block[row % 2 * 2 + col % 2];
            }
        }
    }
}

/// Bytes of four neighbours in every block of C, of so many moduli, for one of `Stride` threads.
template <int Levels, int Stride>
__device__ __forceinline__ void bytes_of_blocks(const BytePlanes& from, int moduli, const ModulusConstants& constants,
                                                std::int64_t row, std::int64_t col, std::uint32_t* own) {
    constexpr int kSide = kSideBlocks<Levels>;
    const std::uint8_t* at = from.data + row * from.line_bytes + col;
    for (int t = 0; t < moduli; ++t) {
        Four c[kBlocks<Levels>];
        blocks_of_c<Levels>(at, from.plane_bytes, c);
        at += kProducts<Levels> * from.plane_bytes;
        const float p = constants.modulus[t], reciprocal = constants.reciprocal[t];
#pragma unroll
        for (int block = 0; block < kBlocks<Levels>; ++block) {
            const float offset = 128.0F * ones_in_block<Levels>(block / kSide, block % kSide);
            own[(t * kBlocks<Levels> + block) * Stride] = bytes_of_sums(c[block], offset, p, reciprocal);
        }
    }
}

}  // namespace
}  // namespace heptad::cuda
