// The fused f32 kernel on the CUDA cores for products that are not regular:  M = (sum of left)(sum of right), then
// every target = beta * target + g * M. Loading warps fill a ring of stages in shared memory with sums of terms
// (fused_loads.cuh); multiplying warps do nothing but read fragments and multiply, so their loop is the same for every
// number of terms, stride and fringe; at the end of a tile they update its targets (fused_store.cuh), while the loading
// warps have begun the next one.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/device/device_code.cuh"
#include "kernels/cuda/device/shared_barrier.cuh"
#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_fragments.cuh"
#include "kernels/cuda/fused/fused_kernels.hpp"
#include "kernels/cuda/fused/fused_loads.cuh"
#include "kernels/cuda/fused/fused_pipeline.cuh"
#include "kernels/cuda/fused/fused_shape.cuh"
#include "kernels/cuda/fused/fused_store.cuh"
#include "kernels/cuda/fused/fused_walk.hpp"

namespace heptad::cuda::fused {

/// sum += the product of all slabs of a tile, four rows of a thread at a time. A column of the left slab is fetched in
/// pieces of four entries, kAhead pieces before they are needed, and a row of the right slab one row ahead: more would
/// not fit into registers beside the sums.
template <class Shape>
__device__ __forceinline__ void multiply(float (&sum)[Shape::kThreadRows][Shape::kThreadCols], const float* left,
                                         const float* right, StageRing<Shape::kStages>& ring, int slabs) {
    constexpr int kPieces = Shape::kThreadRows / 4, kSteps = Shape::kDepth * kPieces, kAhead = 2;
    constexpr int kFours = Shape::kThreadCols / 4;
    float column[kAhead + 1][4], row[2][kFours][4];
#pragma unroll 1
    for (int slab = 0; slab < slabs; ++slab) {
        const float* const left_at = left + ring.stage * Shape::kStageFloats;
        const float* const right_at = right + ring.stage * Shape::kStageFloats;
        const auto load_column = [&](int step) {
            load_four(column[step % (kAhead + 1)], left_at + step / kPieces * Shape::kLeftPitch + step % kPieces * 16);
        };
        const auto load_row = [&](int depth) {
#pragma unroll
            for (int f = 0; f < kFours; ++f) {
                load_four(row[depth % 2][f], right_at + depth * Shape::kRightPitch + f * 32);
            }
        };
        ring.await_full();
        load_row(0);
#pragma unroll
        for (int step = 0; step < kAhead; ++step) {
            load_column(step);
        }
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            const int depth = step / kPieces, piece = step % kPieces;
            if (step + kAhead < kSteps) {
                load_column(step + kAhead);
            }
            if (piece == 0 && depth + 1 < Shape::kDepth) {
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
        signal_barrier(ring.empty());
        ring.advance();
    }
}

/// Blocks per multiprocessor: without the exchange of registers between warps, all take as many as the largest needs.
template <class Shape>
constexpr int resident() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    return Shape::kResident;
#else
    return Shape::kConsumerRegisters > 0 ? 1 : Shape::kResident;
#endif
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, resident<Shape>())
    fused_kernel(const __grid_constant__ FusedArguments<float> args) {
    if (!should_run(args.guard)) {
        return;
    }
    extern __shared__ __align__(128) unsigned char memory[];
    const std::uint32_t stage_barriers = shared_offset(memory);
    const std::uint32_t queue_barriers = stage_barriers + 16 * Shape::kStages;
    auto* const numbers = reinterpret_cast<std::int32_t*>(memory + Shape::kBarrierBytes);
    auto* const stages = reinterpret_cast<float*>(memory + Shape::kHeadBytes);
    if (threadIdx.x == 0) {
        for (int s = 0; s < Shape::kStages; ++s) {
            create_barrier(stage_barriers + static_cast<std::uint32_t>(s) * 16, Shape::kProducers);
            create_barrier(stage_barriers + static_cast<std::uint32_t>(s) * 16 + 8, Shape::kConsumers);
        }
        for (int s = 0; s < TileQueue::kSlots; ++s) {
            create_barrier(queue_barriers + static_cast<std::uint32_t>(s) * 16, 1);
            create_barrier(queue_barriers + static_cast<std::uint32_t>(s) * 16 + 8, Shape::kThreads);
        }
    }
    __syncthreads();
    StageRing<Shape::kStages> ring(stage_barriers);
    TileQueue queue(queue_barriers, numbers);
    const int tiles = args.instance_count * args.tiles_down * args.tiles_across;
    const int slabs = (args.k + Shape::kDepth - 1) / Shape::kDepth;
    if (threadIdx.x >= Shape::kConsumers) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        if constexpr (Shape::kProducerRegisters > 0) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Shape::kProducerRegisters));
        }
#endif
        const int thread = static_cast<int>(threadIdx.x) - Shape::kConsumers;
        if (thread == 0) {
            queue.draw(args.counters);
        }
        __syncwarp();
        for (int index = queue.next(); index < tiles; index = queue.next()) {
            if (thread == 0) {
                queue.draw(args.counters);  // early: the answer takes as long as a load
            }
            __syncwarp();
            const TilePlace place = tile_place(args, index);
            const FusedInstanceArgument& instance = args.instances[place.instance];
            OperandLoader<Shape, Shape::kRows> left(args.terms + instance.left_begin, instance.left_count, args.left,
                                                    place.row * Shape::kRows, thread);
            OperandLoader<Shape, Shape::kCols> right(args.terms + instance.right_begin, instance.right_count,
                                                     args.right, place.col * Shape::kCols, thread);
#pragma unroll 1
            for (int slab = 0; slab < slabs; ++slab) {
                ring.await_empty();
                float* const stage = stages + ring.stage * Shape::kStageFloats;
                left.load(slab * Shape::kDepth, thread, stage);
                right.load(slab * Shape::kDepth, thread, stage + Shape::kDepth * Shape::kLeftPitch);
                signal_barrier(ring.full());
                ring.advance();
            }
        }
    } else {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        if constexpr (Shape::kConsumerRegisters > 0) {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Shape::kConsumerRegisters));
        }
#endif
        const WarpPart<Shape> part(stages + Shape::kStages * Shape::kStageFloats, static_cast<int>(threadIdx.x));
        const float* const left = stages + part.row + part.lane_down() * 4;
        const float* const right = stages + Shape::kDepth * Shape::kLeftPitch + part.col + part.lane_across() * 4;
        for (int index = queue.next(); index < tiles; index = queue.next()) {
            float sum[Shape::kThreadRows][Shape::kThreadCols] = {};
            multiply<Shape>(sum, left, right, ring, slabs);
            part.put(sum);
            store<Shape>(args, part, tile_place(args, index), 0);
        }
    }
}

/// The host's half of it.
template <class Shape>
FusedKernel kernel_of() {
    return {reinterpret_cast<const void*>(&fused_kernel<Shape>), Shape::kRows, Shape::kCols, Shape::kThreads,
            Shape::kSharedBytes};
}

}  // namespace heptad::cuda::fused
