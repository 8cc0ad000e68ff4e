// The last step of the fused f32 kernel: a tile of M, still in registers, updates the same tile of every target.
#pragma once

#include "backend/cuda/fused_arguments.hpp"
#include "backend/cuda/fused_shape.cuh"

namespace heptad::cuda::fused {

/// All multiplying threads of the block.
template <class Shape>
__device__ __forceinline__ void consumers_sync() {
    asm volatile("bar.sync 1, %0;" ::"n"(Shape::kConsumers) : "memory");
}

template <class Shape>
__device__ __forceinline__ void await_turn(const std::uint32_t* counter, std::uint32_t turn) {
    if (threadIdx.x == 0) {
        std::uint32_t updates = 0;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(updates) : "l"(counter) : "memory");
        } while (updates < turn);
    }
    consumers_sync<Shape>();
}

template <class Shape>
__device__ __forceinline__ void end_turn(std::uint32_t* counter) {
    __threadfence();
    consumers_sync<Shape>();
    if (threadIdx.x == 0) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
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
/// and registers that the multiplication needs.
template <class Shape>
struct WarpPart {
    static constexpr int kLanesAcross = Shape::kWarpCols / 4, kRowsAtOnce = 32 / kLanesAcross;
    float* part;   // of this warp
    int row, col;  // of its corner in the tile
    int lane_row, lane_col;

    __device__ __forceinline__ explicit WarpPart(float* parts) {
        const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
        part = parts + warp * Shape::kPartFloats;
        row = warp / Shape::kWarpsAcross * Shape::kWarpRows;
        col = warp % Shape::kWarpsAcross * Shape::kWarpCols;
        lane_row = lane / kLanesAcross;
        lane_col = lane % kLanesAcross * 4;
    }

    __device__ __forceinline__ void put(const float (&sum)[Shape::kThreadRows][Shape::kThreadCols]) const {
        float* const first = part + lane_down() * 4 * Shape::kPartPitch + lane_across() * 4;
        __syncwarp();  // the former tile has been read
#pragma unroll
        for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
            for (int j = 0; j < Shape::kThreadCols; j += 4) {
                *reinterpret_cast<float4*>(first + (i / 4 * 16 + i % 4) * Shape::kPartPitch + j * 8) =
                    make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            }
        }
        __syncwarp();
    }

    /// The whole tile lies in the target, whose rows begin at multiples of 16 bytes. `corner`: of the tile.
    template <bool atomic, bool reads>
    __device__ __forceinline__ void update_whole(float* corner, std::int64_t stride, float coefficient,
                                                 float beta) const {
        constexpr int kBatch = 8;
        float* to = corner + (row + lane_row) * stride + col + lane_col;
        const float* from = part + lane_row * Shape::kPartPitch + lane_col;
#pragma unroll 1
        for (int done = 0; done < Shape::kWarpRows; done += kBatch * kRowsAtOnce) {
            float4 old[kBatch];
            if constexpr (reads) {
#pragma unroll
                for (int i = 0; i < kBatch; ++i) {
                    old[i] = *reinterpret_cast<const float4*>(to + i * kRowsAtOnce * stride);
                }
            }
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
                float4 value = *reinterpret_cast<const float4*>(from + i * kRowsAtOnce * Shape::kPartPitch);
                value = make_float4(coefficient * value.x, coefficient * value.y, coefficient * value.z,
                                    coefficient * value.w);
                if constexpr (reads) {
                    value = make_float4(fmaf(beta, old[i].x, value.x), fmaf(beta, old[i].y, value.y),
                                        fmaf(beta, old[i].z, value.z), fmaf(beta, old[i].w, value.w));
                }
                if constexpr (atomic) {
                    add_four(to + i * kRowsAtOnce * stride, value);
                } else {
                    *reinterpret_cast<float4*>(to + i * kRowsAtOnce * stride) = value;
                }
            }
            to += kBatch * kRowsAtOnce * stride;
            from += kBatch * kRowsAtOnce * Shape::kPartPitch;
        }
    }

    /// Any strides, and only what there is.
    __device__ __forceinline__ void update_there(const FusedTargetArgument<float>& target,
                                                 const FusedTargetLayout& layout,
                                                 const FusedAddendLayout& addend_layout, int tile_row0, int tile_col0,
                                                 bool atomic) const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int rows = min(Shape::kWarpRows, target.rows - tile_row0 - row);
        const int cols = min(Shape::kWarpCols, target.cols - tile_col0 - col);
        float* const corner =
            target.data + (tile_row0 + row) * layout.row_stride + (tile_col0 + col) * layout.col_stride;
        const float* const addend =
            target.addend + (tile_row0 + row) * addend_layout.row_stride + (tile_col0 + col) * addend_layout.col_stride;
#pragma unroll 1
        for (int r = 0; r < rows; ++r) {
#pragma unroll
            for (int half = 0; half < Shape::kWarpCols; half += 32) {
                const int c = half + lane;
                if (c < cols) {
                    float* const to = corner + r * layout.row_stride + c * layout.col_stride;
                    const float product = part[r * Shape::kPartPitch + c];
                    float value = target.coefficient != 0.0F ? target.coefficient * product : 0.0F;
                    if (target.addend_coefficient != 0.0F) {
                        value = fmaf(target.addend_coefficient,
                                     addend[r * addend_layout.row_stride + c * addend_layout.col_stride], value);
                    }
                    if (atomic) {
                        atomicAdd(to, value);
                    } else {
                        *to = target.beta != 0.0F ? fmaf(target.beta, *to, value) : value;
                    }
                }
            }
        }
    }

    /// A lane's place among the 4 x 8 of its warp when multiplying: neighbours share a row or a column of the slabs, so
    /// that reading fragments of 16 bytes takes two passes over the banks instead of four.
    static __device__ __forceinline__ int lane_down() {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        return lane / 16 * 2 + lane % 2;
    }
    static __device__ __forceinline__ int lane_across() {
        return static_cast<int>(threadIdx.x) % 32 / 2 % 8;
    }
};

/// `tile` is the tile's number within its product.
template <class Shape>
__device__ __forceinline__ void store(const FusedArguments<float>& args, const FusedInstanceArgument& instance,
                                      const WarpPart<Shape>& part, int tile, int tile_row, int tile_col) {
    const bool atomic = args.update == FusedUpdate::atomic;
    const int row0 = tile_row * Shape::kRows, col0 = tile_col * Shape::kCols;
#pragma unroll 1
    for (int t = 0; t < instance.target_count; ++t) {
        const FusedTargetArgument<float>& target = args.targets[instance.target_begin + t];
        std::uint32_t* const counter =
            args.counters + 1 + static_cast<std::int64_t>(target.block) * args.tiles_down * args.tiles_across + tile;
        if (args.update == FusedUpdate::ordered && target.turn > 0) {
            await_turn<Shape>(counter, static_cast<std::uint32_t>(target.turn));
        }
        __syncwarp();  // an addend may be a target before or after this one, which other lanes read or write
        if (args.target.wide != 0 && target.coefficient != 0.0F && target.addend_coefficient == 0.0F &&
            row0 + Shape::kRows <= target.rows && col0 + Shape::kCols <= target.cols) {
            const std::int64_t stride = args.target.row_stride;
            float* const corner = target.data + row0 * stride + col0;
            if (atomic) {
                part.template update_whole<true, false>(corner, stride, target.coefficient, target.beta);
            } else if (target.beta != 0.0F) {
                part.template update_whole<false, true>(corner, stride, target.coefficient, target.beta);
            } else {
                part.template update_whole<false, false>(corner, stride, target.coefficient, target.beta);
            }
        } else {
            part.update_there(target, args.target, args.addend, row0, col0, atomic);
        }
        if (args.update == FusedUpdate::ordered) {
            end_turn<Shape>(counter);
        }
    }
}

}  // namespace heptad::cuda::fused
