// The last step of the fused f64 kernel: a tile of M, still in registers, updates the same tile of every target.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_f64_tile.cuh"
#include "kernels/cuda/fused/fused_turns.cuh"
#include "kernels/cuda/fused/fused_walk.hpp"

namespace heptad::cuda::fused_f64 {

/// A lane's first row and column in the part of the tile that its warp has made; see Sums.
__device__ __forceinline__ int first_row(int lane) {
    return lane / 4;
}
__device__ __forceinline__ int first_col(int lane) {
    return lane % 4 * 2;
}

/// A target that lies there in whole, 16 bytes at a time; `corner` is the warp's first entry of it. Half of the row
/// blocks go at once: the sums leave no registers for more. Loads and stores are those of the L2 cache: another
/// multiprocessor may have written last.
template <bool reads>
__device__ __forceinline__ void update_whole(const Sums& sums, double* corner, std::int64_t row_stride,
                                             double coefficient, double beta, int lane) {
    constexpr int kAtOnce = kRowBlocks / 2;
    double* line = corner + first_row(lane) * row_stride + first_col(lane);
#pragma unroll
    for (int first = 0; first < kRowBlocks; first += kAtOnce) {
        double2 old[kAtOnce][2][kColBlocks];
        const auto at = [&](int i, int h, int j) {
            return reinterpret_cast<double2*>(line + (16 * i + 8 * h) * row_stride + 8 * j);
        };
        const auto for_all = [&](auto&& act) {
#pragma unroll
            for (int place = 0; place < kAtOnce * 2 * kColBlocks; ++place) {
                act(place / (2 * kColBlocks), place / kColBlocks % 2, place % kColBlocks);
            }
        };
        if constexpr (reads) {
            for_all([&](int i, int h, int j) { old[i][h][j] = __ldcg(at(i, h, j)); });
        }
        for_all([&](int i, int h, int j) {
            const auto& sum = sums[first + i][j];
            double2 value = {coefficient * sum[2 * h], coefficient * sum[2 * h + 1]};
            if constexpr (reads) {
                value = {fma(beta, old[i][h][j].x, value.x), fma(beta, old[i][h][j].y, value.y)};
            }
            __stcg(at(i, h, j), value);
        });
        line += 16 * kAtOnce * row_stride;
        asm volatile("" ::: "memory");  // or else the halves are mixed, and registers spilled
    }
}

/// Where a lane stands in a block while it goes through its entries column by column, row by row. The compiler is kept
/// from computing all places ahead, for which there are no registers.
template <class Pointer>
struct Walk {
    Pointer line, at;
    std::int64_t row_stride, col_stride;

    __device__ __forceinline__ Walk(Pointer block, std::int64_t row_step, std::int64_t col_step, int row, int col)
        : line(block + row * row_step + col * col_step), at(line), row_stride(row_step), col_stride(col_step) {}
    /// From column 2 * i to 2 * i + 1 of the lane, which lie side by side, or on to the next pair.
    __device__ __forceinline__ void next_column(int column) {
        at += column % 2 == 0 ? col_stride : 7 * col_stride;
        asm volatile("" : "+l"(at));
    }
    __device__ __forceinline__ void next_row() {
        line += 8 * row_stride;
        at = line;
    }
};

/// Any strides, and only what there is from (row0, col0) on.
template <bool atomic>
__device__ __forceinline__ void update_there(const Sums& sums, const FusedTargetArgument<double>& target,
                                             const FusedTargetLayout& layout, const FusedAddendLayout& addend_layout,
                                             double beta, int row0, int col0, int lane) {
    const int row = row0 + first_row(lane), col = col0 + first_col(lane);
    Walk<double*> to(target.data, layout.row_stride, layout.col_stride, row, col);
    Walk<const double*> addend(target.addend, addend_layout.row_stride, addend_layout.col_stride, row, col);
    const double coefficient = target.coefficient, addend_coefficient = target.addend_coefficient;
    const int rows = target.rows - row, cols = target.cols - col;
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) {
#pragma unroll
        for (int j = 0; j < 2 * kColBlocks; ++j) {
            if (8 * i < rows && 8 * (j / 2) + j % 2 < cols) {
                const double product = sums[i / 2][j / 2][2 * (i % 2) + j % 2];
                double value = coefficient != 0.0 ? coefficient * product : 0.0;
                if constexpr (atomic) {
                    atomicAdd(to.at, value);
                } else {
                    if (addend_coefficient != 0.0) {
                        value = fma(addend_coefficient, __ldcg(addend.at), value);
                    }
                    __stcg(to.at, beta != 0.0 ? fma(beta, __ldcg(to.at), value) : value);
                }
            }
            to.next_column(j);
            addend.next_column(j);
        }
        to.next_row();
        addend.next_row();
        asm volatile("" ::: "memory");
    }
}

/// All multiplying threads.
__device__ __forceinline__ void multiplying_threads_meet() {
    asm volatile("bar.sync 1, %0;" ::"n"(kMultiplying) : "memory");
}

/// The tile at that place of all targets of its product. `piece`: which one of those that are made of this tile, 0 if
/// it is whole. Updates of all targets wait and are told together, because either takes as long as a load.
__device__ __forceinline__ void store(const FusedArguments<double>& args, const Sums& sums,
                                      const fused::TilePlace& place, int piece, int thread) {
    const FusedInstanceArgument& instance = args.instances[place.instance];
    const bool ordered = args.update == FusedUpdate::ordered;
    const auto for_one_thread_each = [&](auto&& act) {
        for (int t = thread; t < instance.target_count; t += kMultiplying) {
            const FusedTargetArgument<double>& target = args.targets[instance.target_begin + t];
            act(target, args.counters + 1 +
                            static_cast<std::int64_t>(target.block) * args.tiles_down * args.tiles_across +
                            place.number);
        }
        __syncwarp();
    };
    if (ordered) {
        for_one_thread_each([&](const FusedTargetArgument<double>& target, const std::uint32_t* counter) {
            const int turn = fused::turn_of(args, target, place.number, piece);
            if (turn > 0) {
                fused::await_updates(counter, static_cast<std::uint32_t>(turn));
            }
        });
        multiplying_threads_meet();
    }
    const int lane = thread % 32, warp = thread / 32;
    const int row0 = place.row * kTile + warp / 4 * kWarpRows, col0 = place.col * kTile + warp % 4 * kWarpCols;
#pragma unroll 1
    for (int t = 0; t < instance.target_count; ++t) {
        const FusedTargetArgument<double>& target = args.targets[instance.target_begin + t];
        const double beta = piece == 0 ? target.beta : 1.0;
        const bool whole = args.target.wide != 0 && row0 + kWarpRows <= target.rows &&
                           col0 + kWarpCols <= target.cols && target.coefficient != 0.0 &&
                           target.addend_coefficient == 0.0;
        double* const corner = target.data + row0 * args.target.row_stride + col0;
        if (args.update == FusedUpdate::atomic) {
            update_there<true>(sums, target, args.target, args.addend, beta, row0, col0, lane);
        } else if (!whole) {
            update_there<false>(sums, target, args.target, args.addend, beta, row0, col0, lane);
        } else if (beta == 0.0) {
            update_whole<false>(sums, corner, args.target.row_stride, target.coefficient, 0, lane);
        } else {
            update_whole<true>(sums, corner, args.target.row_stride, target.coefficient, beta, lane);
        }
    }
    if (ordered) {
        __threadfence();
        multiplying_threads_meet();
        for_one_thread_each(
            [](const FusedTargetArgument<double>&, std::uint32_t* counter) { fused::count_update(counter); });
    }
}

}  // namespace heptad::cuda::fused_f64
