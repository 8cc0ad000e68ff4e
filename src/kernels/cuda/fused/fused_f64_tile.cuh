// The geometry of the fused f64 kernel: tiles of M of 128 x 128, made 16 of k at a time. A slab of an operand (128 x
// 16) lies in shared memory as it lay in global memory: 128 lines of 16 along k, or 16 lines of 128 along m or n.
// Pieces of 32 bytes are turned against each other from line to line, so that 16 lanes reading a fragment meet every
// bank once.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/fused/fused_f64.hpp"

namespace heptad::cuda::fused_f64 {

/// A multiplying warp has 64 x 32 of the tile, in row blocks of 16 and column blocks of 8.
inline constexpr int kWarpRows = 64, kWarpCols = 32, kRowBlocks = kWarpRows / 16, kColBlocks = kWarpCols / 8;

/// A warp's part of M: entry (i, j, 2 * h + e) lies in row 16 * i + 8 * h + lane / 4, column 8 * j + 2 * (lane % 4) +
/// e.
using Sums = double[kRowBlocks][kColBlocks][4];

/// How a loading thread goes through a slab: so many times two neighbours (16 bytes).
inline constexpr int kPlaces = kTile * kStep / 2 / kLoading;
template <bool along_depth>
struct SlabPlaces {
    static constexpr int kOuterStep = along_depth ? kTile / kPlaces : 0, kDepthStep = along_depth ? 0 : kStep / kPlaces;
    int outer, depth;                     // of the first element of place 0
    std::uint32_t even_bytes, odd_bytes;  // from the start of the slab to place 0; to place 1, without its step

    __device__ __forceinline__ explicit SlabPlaces(int thread)
        : outer(along_depth ? thread / 8 : thread % 64 * 2), depth(along_depth ? thread % 8 * 2 : thread / 64) {
        even_bytes = static_cast<std::uint32_t>(along_depth ? outer * 128 + ((depth * 8) ^ (outer % 4 * 32))
                                                            : depth * 1024 + ((outer * 8) ^ (depth * 32)));
        odd_bytes = even_bytes ^ (kDepthStep % 4 == 2 ? 64U : 0U);  // two lines of k further the turn is another one
    }
    __device__ __forceinline__ std::uint32_t offset(int place) const {
        return (place % 2 == 0 ? even_bytes : odd_bytes) + static_cast<std::uint32_t>(kSlabBytes / kPlaces * place);
    }
};

__device__ __forceinline__ double read_shared(std::uint32_t address) {
    double value = 0;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address));
    return value;
}

/// Where a lane finds entry (8 * block + lane / 4, 4 * quad + lane % 4) of a slab, counted from the warp's first line.
template <bool along_depth>
struct Fragment {
    std::uint32_t at[along_depth ? 4 : 2];

    __device__ __forceinline__ Fragment(int first, int lane) {
        const int row = lane / 4, k = lane % 4;
        if constexpr (along_depth) {
#pragma unroll
            for (int quad = 0; quad < 4; ++quad) {
                at[quad] = static_cast<std::uint32_t>((first + row) * 128 + (((4 * quad + k) * 8) ^ (row % 4 * 32)));
            }
        } else {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                at[half] = static_cast<std::uint32_t>(k * 1024 + first * 8 + (((8 * half + row) * 8) ^ (k * 32)));
            }
        }
    }
    __device__ __forceinline__ double read(std::uint32_t slab, int block, int quad) const {
        if constexpr (along_depth) {
            return read_shared(slab + at[quad] + static_cast<std::uint32_t>(block * 1024));
        } else {
            return read_shared(slab + at[block % 2] + static_cast<std::uint32_t>(block / 2 * 128 + quad * 4096));
        }
    }
};

/// sum += a * b for 16 rows, 8 columns, 4 of k. a: rows lane / 4 and 8 more.
__device__ __forceinline__ void multiply_16x8x4(double (&sum)[4], const double (&a)[2], double b) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b));
#else
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1])
                     : "d"(a[half]), "d"(b));
    }
#endif
}

}  // namespace heptad::cuda::fused_f64
