// The last step of the fused f64 kernel: a tile of M, still in registers, updates the same tile of every target.
#pragma once

#include "backend/cuda/fused_arguments.hpp"
#include "backend/cuda/fused_f64_tile.cuh"

namespace heptad::cuda::fused_f64 {

enum class Update : std::uint8_t {
    store,    // whole, 16 bytes at a time, not read
    add,      // the same, read first
    guarded,  // any strides, and only what there is
    atomic,   // the same, by additions of the memory system
};

/// One target; `corner` is the warp's first entry of it, `rows` x `cols` what there is from there on. Rows go one after
/// another, because the sums leave few registers. Loads and stores are those of the L2 cache: another multiprocessor
/// may have written last.
template <Update update>
__device__ __forceinline__ void update_target(const Sums& sums, double* corner, const FusedTargetLayout& layout,
                                              double coefficient, double beta, int rows, int cols, int lane) {
    const int first_row = lane / 4, first_col = lane % 4 * 2;
    constexpr bool kWhole = update == Update::store || update == Update::add;
    const std::int64_t col_stride = kWhole ? 1 : layout.col_stride;
    double* line = corner + first_row * layout.row_stride + first_col * col_stride;
#pragma unroll
    for (int i = 0; i < kRowBlocks; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            double2 old[kColBlocks];
            if constexpr (update == Update::add) {
#pragma unroll
                for (int j = 0; j < kColBlocks; ++j) {
                    old[j] = __ldcg(reinterpret_cast<const double2*>(line + 8 * j));
                }
            }
#pragma unroll
            for (int j = 0; j < kColBlocks; ++j) {
                double value[2] = {coefficient * sums[i][j][2 * h], coefficient * sums[i][j][2 * h + 1]};
                if constexpr (update == Update::add) {
                    value[0] = fma(beta, old[j].x, value[0]);
                    value[1] = fma(beta, old[j].y, value[1]);
                }
                if constexpr (kWhole) {
                    __stcg(reinterpret_cast<double2*>(line + 8 * j), make_double2(value[0], value[1]));
                } else {
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        double* const to = line + (8 * j + e) * col_stride;
                        if (first_row + 16 * i + 8 * h < rows && first_col + 8 * j + e < cols) {
                            if constexpr (update == Update::atomic) {
                                atomicAdd(to, value[e]);
                            } else {
                                __stcg(to, beta != 0.0 ? fma(beta, __ldcg(to), value[e]) : value[e]);
                            }
                        }
                    }
                }
            }
            line += 8 * layout.row_stride;
            asm volatile("" ::: "memory");  // or else rows are mixed, and registers spilled
        }
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
        double* const corner = target.data + row0 * args.target.row_stride + col0 * args.target.col_stride;
        const int rows = target.rows - row0, cols = target.cols - col0;
        const double coefficient = target.coefficient, beta = target.beta;
        if (args.update == FusedUpdate::atomic) {
            update_target<Update::atomic>(sums, corner, args.target, coefficient, beta, rows, cols, lane);
        } else if (args.target.wide == 0 || rows < kWarpRows || cols < kWarpCols) {
            update_target<Update::guarded>(sums, corner, args.target, coefficient, beta, rows, cols, lane);
        } else if (beta == 0.0) {
            update_target<Update::store>(sums, corner, args.target, coefficient, beta, rows, cols, lane);
        } else {
            update_target<Update::add>(sums, corner, args.target, coefficient, beta, rows, cols, lane);
        }
        if (ordered) {
            end_turn(counter, thread == 0);
        }
    }
}

}  // namespace heptad::cuda::fused_f64
