// The multiplying side of the regular fused f32 kernel. In the middle of a slab each thread also moves its share of a
// later one (fused_regular_feed.cuh): what is written there is read from the end of the next slab on, so a warp waits
// only for one that is a whole slab behind.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/device/launch_order.cuh"
#include "kernels/cuda/device/shared_barrier.cuh"
#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_fragments.cuh"
#include "kernels/cuda/fused/fused_regular_feed.cuh"
#include "kernels/cuda/fused/fused_regular_shape.cuh"
#include "kernels/cuda/fused/fused_store.cuh"

namespace heptad::cuda::fused {

/// Registers that keep their banks apart are found only if there are some to spare. So nothing outlives a tile in them:
/// what a block has to remember is in shared memory.
struct BlockState {
    std::uint64_t barrier;  // every thread arrives once per slab, when its share of the slab after the next is in place
    std::uint32_t arrivals;  // of each thread so far
    std::int32_t item;       // what the block is working on
    std::int32_t made;       // slabs of it that are done
};

__device__ __forceinline__ volatile BlockState& block_state() {
    extern __shared__ __align__(128) unsigned char memory[];
    return *reinterpret_cast<volatile BlockState*>(memory);
}
template <class Shape>
__device__ __forceinline__ float* stages_of_block() {
    extern __shared__ __align__(128) unsigned char memory[];
    return reinterpret_cast<float*>(memory + Shape::kHeadBytes);
}
/// The number of this thread, made anew: if the compiler knew that it is the same for every tile, it would keep what
/// follows from it.
__device__ __forceinline__ int thread_number() {
    int number = 0;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
    return number;
}
template <class Shape>
__device__ __forceinline__ WarpPart<Shape> part_of_warp() {
    return WarpPart<Shape>(stages_of_block<Shape>() + kStages * Shape::kStageFloats, thread_number());
}

/// Tells of a product that is not finite, or so large that a few hundred thousand of its size could add up to something
/// that is not: C then holds nothing that was not told of here, in whatever order it is added up.
template <int rows, int cols>
__device__ __forceinline__ void judge(const FusedArguments<float>& args, const FusedInstanceArgument& instance,
                                      const float (&sum)[rows][cols]) {
    if (args.verdict == nullptr) {
        return;
    }
    constexpr float kLargestJudged = 0x1p108F;
    constexpr unsigned long long kInfinity = 0x7ff0ULL << 48;
    float total = 0;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
        for (int j = 0; j < cols; ++j) {
            total += fabsf(sum[i][j]);
        }
    }
    float factor = 0;
    for (int t = 0; t < instance.target_count; ++t) {
        factor = fmaxf(factor, fabsf(args.targets[instance.target_begin + t].coefficient));
    }
    if (!(total * factor < kLargestJudged)) {
        atomicMax(args.verdict, kInfinity);
    }
}

/// The product of `slabs` slabs from `first` on goes to the part of each warp. It is made four rows of a thread at a
/// time: a column of the left slab is fetched in pieces of four entries, kAhead pieces before they are needed, and a
/// row of the right slab one row ahead; more would not fit into registers beside the sums. All threads of the block
/// come here together.
template <class Shape, bool left_along_depth, bool right_along_depth>
__device__ __forceinline__ void multiply_regular(const FusedArguments<float>& args,
                                                 const FusedInstanceArgument& instance, int row0, int col0, int first,
                                                 int slabs) {
    constexpr int kPieces = Shape::kThreadRows / 4, kSteps = kDepth * kPieces, kAhead = 3;
    constexpr int kFours = Shape::kThreadCols / 4;
    static_assert(kSteps % (kAhead + 1) == 0, "the pieces of the next slab go on where those of this one end");
    const int thread = thread_number();
    float* const stages = stages_of_block<Shape>();
    const WarpPart<Shape> part = part_of_warp<Shape>();
    const std::uint32_t barrier = shared_offset(const_cast<std::uint64_t*>(&block_state().barrier));
    std::uint32_t arrivals = block_state().arrivals;
    RegularFeed<Shape::kThreads, Shape::kRows, left_along_depth> left(
        args.terms + instance.left_begin, instance.left_count, args.left, row0, first, thread);
    RegularFeed<Shape::kThreads, Shape::kCols, right_along_depth> right(
        args.terms + instance.right_begin, instance.right_count, args.right, col0, first, thread);
    const auto begin = [&](bool is_there) {
        if (is_there) {
            left.begin();
            right.begin();
        }
    };
    const auto put = [&](bool is_there, int at) {
        if (is_there) {
            left.put(stages + at);
            right.put(stages + at + Shape::kLeftFloats);
        }
    };
    begin(true);
    put(true, 0);
    begin(slabs > 1);
    put(slabs > 1, Shape::kStageFloats);
    begin(slabs > 2);
    __syncthreads();

    float sum[Shape::kThreadRows][Shape::kThreadCols] = {};
    float column[kAhead + 1][4], row[2][kFours][4];
    const float* const left_at = stages + part.row + part.lane_down() * 4;
    const float* const right_at = stages + Shape::kLeftFloats + part.col + part.lane_across() * 4;
    const auto load_column = [&](int step, int at) {
        load_four(column[step % (kAhead + 1)], left_at + at + step / kPieces * Shape::kLeftPitch + step % kPieces * 16);
    };
    const auto load_row = [&](int depth, int at) {
#pragma unroll
        for (int f = 0; f < kFours; ++f) {
            load_four(row[depth % 2][f], right_at + at + depth * Shape::kRightPitch + f * 32);
        }
    };
    load_row(0, 0);
#pragma unroll
    for (int step = 0; step < kAhead; ++step) {
        load_column(step, 0);
    }
    int at = 0;
#pragma unroll 1
    for (int left_over = slabs; left_over > 0; --left_over) {
        constexpr int kEnd = kStages * Shape::kStageFloats;
        const int next = at + Shape::kStageFloats == kEnd ? 0 : at + Shape::kStageFloats;
        const int after_next = at >= kEnd / 2 ? at - kEnd / 2 : at + kEnd / 2;
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            const int depth = step / kPieces, piece = step % kPieces;
            if (step == kSteps / 2) {
                // All others are past the middle of the slab before: the next slab is complete, and nobody reads what
                // is overwritten now. (A new barrier has completed the phase before its first.)
                await_barrier(barrier, (arrivals - 1U) & 1U);
                put(left_over > 2, after_next);
                signal_barrier(barrier);
                ++arrivals;
                begin(left_over > 3);
            }
            if (step + kAhead < kSteps) {
                load_column(step + kAhead, at);
            } else {
                load_column(step + kAhead - kSteps, next);
            }
            if (piece == 0 && depth + 1 < kDepth) {
                load_row(depth + 1, at);
            } else if (piece == 0) {
                load_row(0, next);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < Shape::kThreadCols; ++j) {
                    // There and back again: neighbours share an operand that is still at the arithmetic unit. With
                    // every other piece the other way round ptxas finds registers with fewer conflicts of banks.
                    const int col = (i + step) % 2 == 0 ? j : Shape::kThreadCols - 1 - j;
                    float& entry = sum[piece * 4 + i][col];
                    entry = fmaf(column[step % (kAhead + 1)][i], row[depth % 2][col / 4][col % 4], entry);
                }
            }
        }
        at = next;
    }
    if constexpr (Shape::kAddsInBackground) {
        await_launch_before();  // which clears the targets
        judge(args, instance, sum);
    }
    part.put(sum);
    __syncthreads();  // the next tile writes the stages from the first one on
}

}  // namespace heptad::cuda::fused
