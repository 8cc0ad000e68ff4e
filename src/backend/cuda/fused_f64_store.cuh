// The last step of the fused f64 kernel: a tile of M, still in registers, updates the same tile of every target.
#pragma once

#include "backend/cuda/fused_arguments.hpp"
#include "backend/cuda/fused_f64_tile.cuh"

namespace heptad::cuda::fused_f64 {

/// A lane's first row and column in the part of the tile that its warp has made; see Sums.
__device__ __forceinline__ int first_row(int lane) {
    return lane / 4;
}
__device__ __forceinline__ int first_col(int lane) {
    return lane % 4 * 2;
}

/// A target that lies there in whole, 16 bytes at a time; `corner` is the warp's first entry of it. Row blocks go one
/// after another, because the sums leave few registers. Loads and stores are those of the L2 cache: another
/// multiprocessor may have written last.
template <bool reads>
__device__ __forceinline__ void update_whole(const Sums& sums, double* corner, std::int64_t row_stride,
                                             double coefficient, double beta, int lane) {
    double* line = corner + first_row(lane) * row_stride + first_col(lane);
#pragma unroll
    for (int i = 0; i < kRowBlocks; ++i) {
        double2 old[2][kColBlocks];
#pragma unroll
        for (int place = 0; reads && place < 2 * kColBlocks; ++place) {
            const int h = place / kColBlocks, j = place % kColBlocks;
            old[h][j] = __ldcg(reinterpret_cast<const double2*>(line + 8 * h * row_stride + 8 * j));
        }
#pragma unroll
        for (int place = 0; place < 2 * kColBlocks; ++place) {
            const int h = place / kColBlocks, j = place % kColBlocks;
            double2 value = {coefficient * sums[i][j][2 * h], coefficient * sums[i][j][2 * h + 1]};
            if constexpr (reads) {
                value = {fma(beta, old[h][j].x, value.x), fma(beta, old[h][j].y, value.y)};
            }
            __stcg(reinterpret_cast<double2*>(line + 8 * h * row_stride + 8 * j), value);
        }
        line += 16 * row_stride;
        asm volatile("" ::: "memory");  // or else row blocks are mixed, and registers spilled
    }
}

/// Any strides, and only what there is from (row0, col0) on.
template <bool atomic>
__device__ __forceinline__ void update_there(const Sums& sums, const FusedTargetArgument<double>& target,
                                             const FusedTargetLayout& layout, const FusedAddendLayout& addend_layout,
                                             int row0, int col0, int lane) {
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) {
        const int row = row0 + first_row(lane) + 8 * i;
#pragma unroll
        for (int j = 0; j < 2 * kColBlocks; ++j) {
            const int col = col0 + first_col(lane) + 8 * (j / 2) + j % 2;
            if (row < target.rows && col < target.cols) {
                double* const to = target.data + row * layout.row_stride + col * layout.col_stride;
                const double product = sums[i / 2][j / 2][2 * (i % 2) + j % 2];
                double value = target.coefficient != 0.0 ? target.coefficient * product : 0.0;
                if constexpr (atomic) {
                    atomicAdd(to, value);
                } else {
                    if (target.addend_coefficient != 0.0) {
                        const double* const addend =
                            target.addend + row * addend_layout.row_stride + col * addend_layout.col_stride;
                        value = fma(target.addend_coefficient, __ldcg(addend), value);
                    }
                    __stcg(to, target.beta != 0.0 ? fma(target.beta, __ldcg(to), value) : value);
                }
            }
        }
        asm volatile("" ::: "memory");
    }
}

__device__ __forceinline__ void await_turn(const std::uint32_t* counter, std::uint32_t turn, bool asks) {
    if (asks) {
        std::uint32_t updates = 0;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(updates) : "l"(counter) : "memory");
        } while (updates < turn);
    }
    __syncthreads();
}

__device__ __forceinline__ void end_turn(std::uint32_t* counter, bool tells) {
    __threadfence();
    __syncthreads();
    if (tells) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
    }
}

/// The tile (tile_row, tile_col) of all targets of a product, by all threads.
__device__ __forceinline__ void store(const FusedArguments<double>& args, const FusedInstanceArgument& instance,
                                      const Sums& sums, int tile_row, int tile_col, int thread) {
    const int lane = thread % 32, warp = thread / 32;
    const int row0 = tile_row * kTile + warp / 4 * kWarpRows, col0 = tile_col * kTile + warp % 4 * kWarpCols;
#pragma unroll 1
    for (int t = 0; t < instance.target_count; ++t) {
        const FusedTargetArgument<double>& target = args.targets[instance.target_begin + t];
        const bool ordered = args.update == FusedUpdate::ordered;
        const std::int64_t tiles = std::int64_t{args.tiles_down} * args.tiles_across;
        std::uint32_t* const counter =
            ordered ? args.counters + 1 + target.block * tiles + tile_row * args.tiles_across + tile_col : nullptr;
        if (ordered && target.turn > 0) {
            await_turn(counter, static_cast<std::uint32_t>(target.turn), thread == 0);
        }
        const bool whole = args.target.wide != 0 && row0 + kWarpRows <= target.rows &&
                           col0 + kWarpCols <= target.cols && target.coefficient != 0.0 &&
                           target.addend_coefficient == 0.0;
        double* const corner = target.data + row0 * args.target.row_stride + col0;
        if (args.update == FusedUpdate::atomic) {
            update_there<true>(sums, target, args.target, args.addend, row0, col0, lane);
        } else if (!whole) {
            update_there<false>(sums, target, args.target, args.addend, row0, col0, lane);
        } else if (target.beta == 0.0) {
            update_whole<false>(sums, corner, args.target.row_stride, target.coefficient, 0, lane);
        } else {
            update_whole<true>(sums, corner, args.target.row_stride, target.coefficient, target.beta, lane);
        }
        if (ordered) {
            end_turn(counter, thread == 0);
        }
    }
}

}  // namespace heptad::cuda::fused_f64
