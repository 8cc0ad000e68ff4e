// The fused f32 kernel on the CUDA cores:  M = (sum of left)(sum of right), then every target = beta * target + g * M.
// A block walks tiles of M. While it multiplies one slab of k from shared memory, the terms of the next one are on
// their way to registers (fused_loads.cuh); numbers of terms, strides and fringes are branches there, so that one
// kernel per tile serves every algorithm. At the end of a tile its targets are updated (fused_store.cuh), while another
// block of the multiprocessor goes on multiplying.
#pragma once

#include <cuda_runtime.h>

#include "backend/cuda/device_code.cuh"
#include "backend/cuda/fused_arguments.hpp"
#include "backend/cuda/fused_kernels.hpp"
#include "backend/cuda/fused_loads.cuh"
#include "backend/cuda/fused_shape.cuh"
#include "backend/cuda/fused_store.cuh"

namespace heptad::cuda::fused {

struct TilePlace {
    int instance, number, row, col;
};

/// Neighbours in time are neighbours in M, so that what they read is in the L2 cache.
__device__ __forceinline__ TilePlace tile_place(const FusedArguments<float>& args, int index) {
    const int per_instance = args.tiles_down * args.tiles_across;
    const int instance = index / per_instance, number = index - instance * per_instance;
    const int per_strip = args.strip * args.tiles_across;
    const int first = number / per_strip * args.strip, within = number % per_strip;
    const int height = min(args.strip, args.tiles_down - first);
    return {instance, number, first + within % height, within / height};
}

__device__ __forceinline__ void load_four(float (&to)[4], const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

/// sum += Shape::kSteps steps of the slab, four rows of a thread at a time. A column of the left slab is fetched in
/// pieces of four entries, kAhead pieces before they are needed, and a row of the right slab one row ahead.
template <class Shape>
__device__ __forceinline__ void multiply(float (&sum)[Shape::kThreadRows][Shape::kThreadCols], const float* left,
                                         const float* right) {
    constexpr int kPieces = Shape::kThreadRows / 4, kAhead = 2, kAll = Shape::kSteps * kPieces;
    constexpr int kFours = Shape::kThreadCols / 4;
    float column[kAhead + 1][4], row[2][kFours][4];
    const auto load_column = [&](int step) {
        load_four(column[step % (kAhead + 1)], left + step / kPieces * Shape::kLeftPitch + step % kPieces * 16);
    };
    const auto load_row = [&](int depth) {
#pragma unroll
        for (int f = 0; f < kFours; ++f) {
            load_four(row[depth % 2][f], right + depth * Shape::kRightPitch + f * 32);
        }
    };
    load_row(0);
#pragma unroll
    for (int step = 0; step < kAhead; ++step) {
        load_column(step);
    }
#pragma unroll
    for (int step = 0; step < kAll; ++step) {
        const int depth = step / kPieces, piece = step % kPieces;
        if (step + kAhead < kAll) {
            load_column(step + kAhead);
        }
        if (piece == 0 && depth + 1 < Shape::kSteps) {
            load_row(depth + 1);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < Shape::kThreadCols; ++j) {
                // There and back again: neighbours share an operand that is still at the arithmetic unit.
                const int col = i % 2 == 0 ? j : Shape::kThreadCols - 1 - j;
                float& entry = sum[piece * 4 + i][col];
                entry = fmaf(column[step % (kAhead + 1)][i], row[depth % 2][col / 4][col % 4], entry);
            }
        }
    }
}

/// sum = the tile's part of (sum of left)(sum of right). `slabs` points to two of them.
template <class Shape, bool wide>
__device__ __forceinline__ void multiply_tile(const FusedArguments<float>& args, const TilePlace& place, float* slabs,
                                              const WarpPart<Shape>& part,
                                              float (&sum)[Shape::kThreadRows][Shape::kThreadCols]) {
    constexpr int kRight = Shape::kDepth * Shape::kLeftPitch;  // where the right slab begins
    const FusedInstanceArgument& instance = args.instances[place.instance];
    OperandLoader<Shape, Shape::kRows, wide> left(args.terms + instance.left_begin, instance.left_count, args.left,
                                                  place.row * Shape::kRows);
    OperandLoader<Shape, Shape::kCols, wide> right(args.terms + instance.right_begin, instance.right_count, args.right,
                                                   place.col * Shape::kCols);
    const int count = (args.k + Shape::kDepth - 1) / Shape::kDepth;
    const auto fetch = [&](int slab) {
        if (slab < count) {
            left.fetch();
            right.fetch();
        }
    };
    const auto put = [&](int slab) {
        if (slab < count) {
            float* const to = slabs + slab % 2 * Shape::kSlabFloats;
            left.put(to);
            right.put(to + kRight);
        }
    };
    fetch(0);
    put(0);
    fetch(1);
    const float* const left_at = slabs + part.row + WarpPart<Shape>::lane_down() * 4;
    const float* const right_at = slabs + kRight + part.col + WarpPart<Shape>::lane_across() * 4;
#pragma unroll 1
    for (int slab = 0; slab < count; ++slab) {
        const int at = slab % 2 * Shape::kSlabFloats;
        __syncthreads();
#pragma unroll 1
        for (int depth = 0; depth < Shape::kDepth; depth += Shape::kSteps) {
            multiply<Shape>(sum, left_at + at + depth * Shape::kLeftPitch, right_at + at + depth * Shape::kRightPitch);
            if (depth == 0) {
                put(slab + 1);
                fetch(slab + 2);
            }
        }
    }
    __syncthreads();
}

template <class Shape, bool wide>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResident)
    fused_kernel(const __grid_constant__ FusedArguments<float> args) {
    if (!should_run(args.guard)) {
        return;
    }
    extern __shared__ __align__(128) unsigned char memory[];
    auto* const next_number = reinterpret_cast<volatile std::int32_t*>(memory);
    auto* const slabs = reinterpret_cast<float*>(memory + Shape::kHeadBytes);
    const WarpPart<Shape> part(slabs + 2 * Shape::kSlabFloats);
    const int tiles = args.instance_count * args.tiles_down * args.tiles_across;
    // Numbers are drawn in ascending order while blocks run, so whoever waits for an earlier tile waits for a block
    // that is running, whatever else occupies the device.
    const auto draw = [&](int before) {
        return args.counters != nullptr ? static_cast<int>(atomicAdd(args.counters, 1U))
                                        : before + static_cast<int>(gridDim.x);
    };
    int index = static_cast<int>(blockIdx.x);
    if (args.counters != nullptr) {
        if (threadIdx.x == 0) {
            *next_number = draw(0);
        }
        __syncthreads();
        index = *next_number;
        __syncthreads();
    }
    while (index < tiles) {
        int next = 0;
        if (threadIdx.x == 0) {
            next = draw(index);  // early: the answer takes as long as a load
        }
        float sum[Shape::kThreadRows][Shape::kThreadCols] = {};
        const TilePlace place = tile_place(args, index);
        multiply_tile<Shape, wide>(args, place, slabs, part, sum);
        part.put(sum);
        store<Shape>(args, args.instances[place.instance], part, place.number, place.row, place.col);
        if (threadIdx.x == 0) {
            *next_number = next;
        }
        __syncthreads();
        index = *next_number;
        __syncthreads();
    }
}

/// The host's half of it.
template <class Shape>
FusedKernel kernel_of() {
    return {reinterpret_cast<const void*>(&fused_kernel<Shape, true>),
            reinterpret_cast<const void*>(&fused_kernel<Shape, false>),
            Shape::kRows,
            Shape::kCols,
            Shape::kThreads,
            Shape::kSharedBytes};
}

}  // namespace heptad::cuda::fused
