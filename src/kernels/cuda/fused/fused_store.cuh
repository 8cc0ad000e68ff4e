// The last step of the fused f32 kernel: a tile of M, still in registers, updates the same tile of every target.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_bulk.cuh"
#include "kernels/cuda/fused/fused_shape.cuh"
#include "kernels/cuda/fused/fused_turns.cuh"
#include "kernels/cuda/fused/fused_walk.hpp"

namespace heptad::cuda::fused {

/// All threads of the block that multiply.
template <class Shape>
__device__ __forceinline__ void consumers_sync() {
    asm volatile("bar.sync 1, %0;" ::"n"(Shape::kConsumers) : "memory");
}

template <class Shape>
__device__ __forceinline__ void await_turn(const std::uint32_t* counter, std::uint32_t turn) {
    if (threadIdx.x == 0) {
        await_updates(counter, turn);
    }
    consumers_sync<Shape>();
}

template <class Shape>
__device__ __forceinline__ void end_turn(std::uint32_t* counter) {
    __threadfence();
    consumers_sync<Shape>();
    if (threadIdx.x == 0) {
        count_update(counter);
    }
}

__device__ __forceinline__ void add_four(float* to, float4 value) {
#if __CUDA_ARCH__ >= 900
    atomicAdd(reinterpret_cast<float4*>(to), value);
#else
    atomicAdd(to, value.x);
    atomicAdd(to + 1, value.y);
    atomicAdd(to + 2, value.z);
    atomicAdd(to + 3, value.w);
#endif
}

/// The part of the tile that a warp has made, as it lies in shared memory between its registers and the targets.
/// Registers can only be indexed by constants, so updating targets straight from them takes hundreds of instructions
/// and registers that the multiplication needs. Column c of a row lies at c % 4 * 16 + c / 4: then the sums of a thread
/// can go there one by one without meeting in a bank, and ptxas is free to give them any registers. If they had to
/// stand in fours, the multiplication would read two operands of most instructions from one bank of registers. Every
/// row begins at a multiple of 16 bytes, and eight floats are left free after each four of them.
template <class Shape>
struct WarpPart {
    static_assert(Shape::kWarpCols == 64);
    float* part;   // of this warp
    int row, col;  // of its corner in the tile
    int lane;

    __device__ __forceinline__ WarpPart(float* parts, int thread) : lane(thread % 32) {
        const int warp = thread / 32;
        part = parts + warp * Shape::kPartFloats;
        row = warp / Shape::kWarpsAcross * Shape::kWarpRows;
        col = warp % Shape::kWarpsAcross * Shape::kWarpCols;
    }

    __device__ __forceinline__ void put(const float (&sum)[Shape::kThreadRows][Shape::kThreadCols]) const {
        float* const first = part + row_offset(lane_down() * 4) + lane_across();
        if constexpr (Shape::kAddsInBackground) {
            await_reads_of_bulk_additions();
        }
        __syncwarp();  // the former tile has been read
#pragma unroll
        for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
            for (int j = 0; j < Shape::kThreadCols; ++j) {
                first[row_offset(i / 4 * 16 + i % 4) + j % 4 * 16 + j / 4 * 8] = sum[i][j];
            }
        }
        __syncwarp();
    }

    /// The whole tile lies in the target, whose rows begin at multiples of 16 bytes. `corner`: of the tile.
    template <bool atomic, bool reads>
    __device__ __forceinline__ void update_whole(float* corner, std::int64_t stride, float coefficient,
                                                 float beta) const {
        // Half a warp takes a row; the other half the one eight rows below, which lies in the other half of the banks.
        constexpr int kBatch = Shape::kThreadRows;  // rows of a lane that are under way at once
        const int first = lane / 16 * 8, four = lane % 16;
        float* to = corner + (row + first) * stride + col + four * 4;
        const float* from = part + row_offset(first) + four;
#pragma unroll 1
        for (int done = 0; done < Shape::kWarpRows; done += 2 * kBatch) {
            float4 old[kBatch];
            if constexpr (reads) {
#pragma unroll
                for (int i = 0; i < kBatch; ++i) {
                    old[i] = *reinterpret_cast<const float4*>(to + (i / 8 * 16 + i % 8) * stride);
                }
            }
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
                const int below = i / 8 * 16 + i % 8;
                const float* const at = from + row_offset(below);
                float4 value =
                    make_float4(coefficient * at[0], coefficient * at[16], coefficient * at[32], coefficient * at[48]);
                if constexpr (reads) {
                    value = make_float4(fmaf(beta, old[i].x, value.x), fmaf(beta, old[i].y, value.y),
                                        fmaf(beta, old[i].z, value.z), fmaf(beta, old[i].w, value.w));
                }
                if constexpr (atomic) {
                    add_four(to + below * stride, value);
                } else {
                    *reinterpret_cast<float4*>(to + below * stride) = value;
                }
            }
            to += 2 * kBatch * stride;
            from += row_offset(2 * kBatch);
        }
    }

    /// Makes columns stand side by side, times the coefficient, for add_in_background().
    __device__ __forceinline__ void arrange(float coefficient) const {
        constexpr int kBatch = 8;  // rows of each half of the warp
        const int first = lane / 16 * 8, four = lane % 16;
#pragma unroll 1
        for (int done = 0; done < Shape::kWarpRows; done += 2 * kBatch) {
            float* const rows = part + row_offset(done + first);
            float4 value[kBatch];
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
                const float* const at = rows + row_offset(i) + four;
                value[i] =
                    make_float4(coefficient * at[0], coefficient * at[16], coefficient * at[32], coefficient * at[48]);
            }
            __syncwarp();  // a row is read by half a warp before it is written
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
                *reinterpret_cast<float4*>(rows + row_offset(i) + four * 4) = value[i];
            }
        }
    }

    /// After arrange(), when nothing reads the part any more.
    __device__ __forceinline__ void negate() const {
        const int first = lane / 16, four = lane % 16;
#pragma unroll 4
        for (int r = first; r < Shape::kWarpRows; r += 2) {
            float4& value = *reinterpret_cast<float4*>(part + row_offset(r) + four * 4);
            value = make_float4(-value.x, -value.y, -value.z, -value.w);
        }
    }

    /// Adds the arranged part to the tile whose corner is given, atomically and while the warp goes on.
    __device__ __forceinline__ void add_in_background(float* corner, std::int64_t stride) const {
        show_to_bulk_additions();
        __syncwarp();
        if (lane == 0) {  // the instruction takes addresses from registers of the warp, so lanes would go one by one
            float* to = corner + row * stride + col;
#pragma unroll 4
            for (int r = 0; r < Shape::kWarpRows; ++r, to += stride) {
                begin_bulk_addition<Shape::kWarpCols * 4>(to, part + row_offset(r));
            }
            end_group_of_bulk_additions();
        }
    }

    /// Any strides, and only what there is.
    __device__ __forceinline__ void update_there(const FusedTargetArgument<float>& target,
                                                 const FusedTargetLayout& layout,
                                                 const FusedAddendLayout& addend_layout, int tile_row0, int tile_col0,
                                                 float beta, bool atomic) const {
        const int rows = min(Shape::kWarpRows, target.rows - tile_row0 - row);
        const int cols = min(Shape::kWarpCols, target.cols - tile_col0 - col);
        float* const corner =
            target.data + (tile_row0 + row) * layout.row_stride + (tile_col0 + col) * layout.col_stride;
        const float* const addend =
            target.addend + (tile_row0 + row) * addend_layout.row_stride + (tile_col0 + col) * addend_layout.col_stride;
        // A few rows are read before any of them is written, so that a lane waits for all of them at once.
        constexpr int kBatch = 8;
        const bool reads = !atomic && beta != 0.0F, adds = target.addend_coefficient != 0.0F;
#pragma unroll 1
        for (int first = 0; first < rows; first += kBatch) {
            float old[kBatch][2], added[kBatch][2];
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int r = first + i, c = half * 32 + lane;
                    const bool is_there = r < rows && c < cols;
                    old[i][half] = is_there && reads ? corner[r * layout.row_stride + c * layout.col_stride] : 0.0F;
                    added[i][half] =
                        is_there && adds ? addend[r * addend_layout.row_stride + c * addend_layout.col_stride] : 0.0F;
                }
            }
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int r = first + i, c = half * 32 + lane;
                    if (r >= rows || c >= cols) {
                        continue;
                    }
                    float* const to = corner + r * layout.row_stride + c * layout.col_stride;
                    const float product = part[row_offset(r) + c % 4 * 16 + c / 4];
                    float value = target.coefficient != 0.0F ? target.coefficient * product : 0.0F;
                    if (adds) {
                        value = fmaf(target.addend_coefficient, added[i][half], value);
                    }
                    if (atomic) {
                        atomicAdd(to, value);
                    } else {
                        *to = reads ? fmaf(beta, old[i][half], value) : value;
                    }
                }
            }
        }
    }

    static constexpr __device__ __forceinline__ int row_offset(int r) {
        return r / 4 * (4 * Shape::kPartPitch) + r % 4 * Shape::kWarpCols;
    }

    /// A lane's place among the 4 x 8 of its warp when multiplying: neighbours share a row or a column of the slabs, so
    /// that reading fragments of 16 bytes takes two passes over the banks instead of four.
    __device__ __forceinline__ int lane_down() const {
        return lane / 16 * 2 + lane % 2;
    }
    __device__ __forceinline__ int lane_across() const {
        return lane / 2 % 8;
    }
};

/// Whether every target takes the tile as a whole, by 16 bytes at a time, and with the same factor but for the sign.
template <class Shape>
__device__ __forceinline__ bool can_add_in_background(const FusedArguments<float>& args,
                                                      const FusedInstanceArgument& instance, int row0, int col0) {
    if (args.update != FusedUpdate::atomic || args.target.wide == 0) {
        return false;
    }
    const float size = fabsf(args.targets[instance.target_begin].coefficient);
    bool can = size != 0.0F;
    for (int t = 0; t < instance.target_count; ++t) {
        const FusedTargetArgument<float>& target = args.targets[instance.target_begin + t];
        can = can && fabsf(target.coefficient) == size && row0 + Shape::kRows <= target.rows &&
              col0 + Shape::kCols <= target.cols;
    }
    return can;
}

template <class Shape>
__device__ __forceinline__ void store_in_background(const FusedArguments<float>& args, const WarpPart<Shape>& part,
                                                    const FusedInstanceArgument& instance, int row0, int col0) {
    const std::int64_t stride = args.target.row_stride;
    float there = args.targets[instance.target_begin].coefficient;  // what M has been multiplied by
    part.arrange(there);
#pragma unroll 1
    for (int t = 0; t < instance.target_count; ++t) {
        const FusedTargetArgument<float>& target = args.targets[instance.target_begin + t];
        if (target.coefficient != there) {
            await_reads_of_bulk_additions();
            __syncwarp();
            part.negate();
            there = target.coefficient;
        }
        part.add_in_background(target.data + row0 * stride + col0, stride);
    }
}

/// `piece`: which one of those that are made of this tile, 0 if it is whole.
template <class Shape>
__device__ __forceinline__ void store(const FusedArguments<float>& args, const WarpPart<Shape>& part,
                                      const TilePlace& place, int piece) {
    const FusedInstanceArgument& instance = args.instances[place.instance];
    const bool atomic = args.update == FusedUpdate::atomic, ordered = args.update == FusedUpdate::ordered;
    const int row0 = place.row * Shape::kRows, col0 = place.col * Shape::kCols;
    if constexpr (Shape::kAddsInBackground && kHasBulkAdditions) {
        if (can_add_in_background<Shape>(args, instance, row0, col0)) {
            store_in_background(args, part, instance, row0, col0);
            return;
        }
    }
#pragma unroll 1
    for (int t = 0; t < instance.target_count; ++t) {
        const FusedTargetArgument<float>& target = args.targets[instance.target_begin + t];
        const float beta = piece == 0 ? target.beta : 1.0F;
        const int turn = turn_of(args, target, place.number, piece);
        std::uint32_t* const counter = args.counters + 1 +
                                       static_cast<std::int64_t>(target.block) * args.tiles_down * args.tiles_across +
                                       place.number;
        if (ordered && turn > 0) {
            await_turn<Shape>(counter, static_cast<std::uint32_t>(turn));
        }
        __syncwarp();  // an addend may be a target before or after this one, which other lanes read or write
        if (args.target.wide != 0 && target.coefficient != 0.0F && target.addend_coefficient == 0.0F &&
            row0 + Shape::kRows <= target.rows && col0 + Shape::kCols <= target.cols) {
            const std::int64_t stride = args.target.row_stride;
            float* const corner = target.data + row0 * stride + col0;
            if (atomic) {
                part.template update_whole<true, false>(corner, stride, target.coefficient, beta);
            } else if (beta != 0.0F) {
                part.template update_whole<false, true>(corner, stride, target.coefficient, beta);
            } else {
                part.template update_whole<false, false>(corner, stride, target.coefficient, beta);
            }
        } else {
            part.update_there(target, args.target, args.addend, row0, col0, beta, atomic);
        }
        if (ordered) {
            end_turn<Shape>(counter);
        }
    }
}

}  // namespace heptad::cuda::fused
