// From counts in the registers of a warp to bits of C. The accumulators of the tensor cores' integer products lie so:
// lane 4 g + q holds, of every eight columns j of a tile 16 rows high, columns 8 j + 2 q and 8 j + 2 q + 1 of row g in
// d[4 j] and d[4 j + 1], and of row g + 8 in d[4 j + 2] and d[4 j + 3].
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/bits/bit_leaf.hpp"

namespace heptad::cuda {

/// Where a leaf puts its results, the same for every kernel.
struct LeafResult {
    void* data;
    std::int64_t row_stride, block_stride;
    std::int64_t m, n;
    bool accumulate;
    bool wide;  // data, rows and blocks lie on 16-byte boundaries
};

inline LeafResult leaf_result(const BitLeafLaunch& launch) {
    const bool wide = reinterpret_cast<std::uintptr_t>(launch.c) % 16 == 0 && launch.c_row_stride % 2 == 0 &&
                      launch.c_block_stride % 2 == 0;
    return {launch.c, launch.c_row_stride, launch.c_block_stride, launch.m, launch.n, launch.accumulate, wide};
}

namespace detail {

/// The results for `count` counts of one row of this lane as one word, count i in bit i.
template <BitOperation operation, int count = 32>
__device__ __forceinline__ std::uint32_t collect(const int* d) {
    std::uint32_t bits = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) {
        if constexpr (operation == BitOperation::parity) {
            // Shifts bit 0 of the count in from above: one instruction.
            bits = __funnelshift_r(bits, static_cast<std::uint32_t>(d[i / 2 * 4 + i % 2]), 1);
        } else {
            // The sign of count + 2^31 - 1 says whether the count is above zero; shifted in from below, last one first.
            const int last = count - 1 - i;
            const auto sign = static_cast<std::uint32_t>(d[last / 2 * 4 + last % 2]) + 0x7fffffffU;
            bits = __funnelshift_l(sign, bits, 1);
        }
    }
    return operation == BitOperation::parity ? bits >> (32 - count) : bits;
}

/// Four by four fields of two bits, transposed.
__device__ __forceinline__ std::uint32_t transpose_pairs(std::uint32_t x) {
    std::uint32_t t = (x ^ (x >> 6)) & 0x00cc00ccU;
    x ^= t ^ (t << 6);
    t = (x ^ (x >> 12)) & 0x0000f0f0U;
    return x ^ t ^ (t << 12);
}

}  // namespace detail

/// Lane q of every four lanes gets what all four have in own[q], as 128 consecutive columns of one row.
__device__ __forceinline__ uint4 share_in_quad(const std::uint32_t (&own)[4]) {
    const int q = static_cast<int>(threadIdx.x) % 4;
    const bool odd = q % 2 != 0, high = q / 2 != 0;
    // Lanes in pairs: the even one takes both lanes' words 0 and 2, the odd one their words 1 and 3.
    std::uint32_t of_pair[2][2];  // [word / 2][even or odd lane]
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const std::uint32_t given = __shfl_xor_sync(0xffffffffU, odd ? own[2 * i] : own[2 * i + 1], 1);
        of_pair[i][0] = odd ? given : own[2 * i];
        of_pair[i][1] = odd ? own[2 * i + 1] : given;
    }
    // Pairs of lanes: the lower one takes the lower words.
    std::uint32_t of_quad[4];
#pragma unroll
    for (int lane = 0; lane < 2; ++lane) {
        const std::uint32_t given = __shfl_xor_sync(0xffffffffU, high ? of_pair[0][lane] : of_pair[1][lane], 2);
        of_quad[lane] = high ? given : of_pair[0][lane];
        of_quad[2 + lane] = high ? of_pair[1][lane] : given;
    }
    // Byte w of of_quad[q] belongs to columns 32 w ...; gather the bytes of equal w, then order the pairs of bits.
    const std::uint32_t low01 = __byte_perm(of_quad[0], of_quad[1], 0x5140);
    const std::uint32_t high01 = __byte_perm(of_quad[0], of_quad[1], 0x7362);
    const std::uint32_t low23 = __byte_perm(of_quad[2], of_quad[3], 0x5140);
    const std::uint32_t high23 = __byte_perm(of_quad[2], of_quad[3], 0x7362);
    return {detail::transpose_pairs(__byte_perm(low01, low23, 0x5410)),
            detail::transpose_pairs(__byte_perm(low01, low23, 0x7632)),
            detail::transpose_pairs(__byte_perm(high01, high23, 0x5410)),
            detail::transpose_pairs(__byte_perm(high01, high23, 0x7632))};
}

/// The bits of 16 rows x 256 columns: lane 4 g + q gets columns 128 (q / 2) to 128 (q / 2) + 127 of row g + 8 (q % 2).
template <BitOperation operation>
__device__ __forceinline__ uint4 pack_16x256(const int (&d)[128]) {
    return share_in_quad({detail::collect<operation>(d), detail::collect<operation>(d + 2),
                          detail::collect<operation>(d + 64), detail::collect<operation>(d + 66)});
}

/// The bits of 32 rows x 128 columns, d[0] and d[1] being 16 rows each: lane 4 g + q gets row g + 8 (q % 2) of d[q /
/// 2].
template <BitOperation operation, int length>
__device__ __forceinline__ uint4 pack_32x128(const int (&d)[2][length]) {
    return share_in_quad({detail::collect<operation>(d[0]), detail::collect<operation>(d[0] + 2),
                          detail::collect<operation>(d[1]), detail::collect<operation>(d[1] + 2)});
}

/// Likewise the 64 columns after those.
template <BitOperation operation>
__device__ __forceinline__ uint2 pack_next_32x64(const int (&d)[2][96]) {
    const uint4 bits =
        share_in_quad({detail::collect<operation, 16>(d[0] + 64), detail::collect<operation, 16>(d[0] + 66),
                       detail::collect<operation, 16>(d[1] + 64), detail::collect<operation, 16>(d[1] + 66)});
    return {bits.x, bits.y};
}

/// What is added is sent to the memory, which does it: nobody has to wait for the old word to arrive. No two threads
/// of a launch have the same word.
template <BitOperation operation>
__device__ __forceinline__ void put_bits(std::uint64_t& to, std::uint32_t low, std::uint32_t high, bool accumulate) {
    const std::uint64_t bits = std::uint64_t{low} | std::uint64_t{high} << 32;
    static_assert(sizeof(unsigned long long) == sizeof to);
    if (!accumulate) {
        to = bits;
    } else if constexpr (operation == BitOperation::parity) {
        atomicXor(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(bits));
    } else {
        atomicOr(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(bits));
    }
}

/// 64 columns of a row, from a multiple of 64 on. Bits of the word beyond the last column stay as they are: they are
/// zero in `bits`, and no other thread writes the word.
template <BitOperation operation>
__device__ __forceinline__ void store_bits(const LeafResult& c, std::int64_t block, std::int64_t row, std::int64_t col,
                                           const uint2& bits) {
    if (row < c.m && col < c.n) {
        std::uint64_t& to = static_cast<std::uint64_t*>(c.data)[block * c.block_stride + row * c.row_stride + col / 64];
        const std::uint64_t kept = c.accumulate || col + 64 <= c.n ? 0 : to & ~std::uint64_t{0} << (c.n - col);
        put_bits<operation>(to, bits.x | static_cast<std::uint32_t>(kept),
                            bits.y | static_cast<std::uint32_t>(kept >> 32), c.accumulate);
    }
}

/// 128 columns of a row, from a multiple of 64 on.
template <BitOperation operation>
__device__ __forceinline__ void store_bits(const LeafResult& c, std::int64_t block, std::int64_t row, std::int64_t col,
                                           const uint4& bits) {
    if (c.accumulate || !c.wide || col / 64 % 2 != 0 || col + 128 > c.n) {
        store_bits<operation>(c, block, row, col, uint2{bits.x, bits.y});
        store_bits<operation>(c, block, row, col + 64, uint2{bits.z, bits.w});
    } else if (row < c.m) {
        *reinterpret_cast<uint4*>(static_cast<std::uint64_t*>(c.data) + block * c.block_stride + row * c.row_stride +
                                  col / 64) = bits;
    }
}

/// The counts of 16 rows x 8 * groups columns.
template <int groups>
__device__ __forceinline__ void store_counts(const LeafResult& c, std::int64_t block, std::int64_t row,
                                             std::int64_t col, const int* d) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const std::int64_t i = row + lane / 4 + 8 * half;
        if (i >= c.m) {
            continue;
        }
        auto* const target = static_cast<std::int32_t*>(c.data) + block * c.block_stride + i * c.row_stride;
#pragma unroll
        for (int group = 0; group < groups; ++group) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const std::int64_t j = col + 8 * group + 2 * (lane % 4) + e;
                if (j < c.n) {
                    target[j] = d[4 * group + 2 * half + e] + (c.accumulate ? target[j] : 0);
                }
            }
        }
    }
}

}  // namespace heptad::cuda
