// The fused f32 kernel for regular products (regular_layout()): at most two terms on either side, aligned, and k a
// multiple of a slab. Every thread loads, adds and multiplies (fused_regular_feed.cuh, fused_regular_multiply.cuh); at
// the end of a tile its targets are updated (fused_store.cuh).
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/device/device_code.cuh"
#include "kernels/cuda/device/launch_order.cuh"
#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_bulk.cuh"
#include "kernels/cuda/fused/fused_kernels.hpp"
#include "kernels/cuda/fused/fused_regular_multiply.cuh"
#include "kernels/cuda/fused/fused_store.cuh"
#include "kernels/cuda/fused/fused_walk.hpp"

namespace heptad::cuda::fused {

/// What comes next for a block. Numbers are drawn in ascending order while blocks run, so whoever waits for an earlier
/// one waits for a block that is running, whatever else occupies the device. `counter` null: every block takes its
/// share by its own number.
__device__ __forceinline__ int draw_item(std::uint32_t* counter, int former) {
    return counter != nullptr ? static_cast<int>(atomicAdd(counter, 1U)) : former + static_cast<int>(gridDim.x);
}

template <class Shape, bool left_along_depth, bool right_along_depth>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResident)
    fused_regular_kernel(const __grid_constant__ FusedArguments<float> args) {
    if constexpr (Shape::kAddsInBackground) {
        if (args.counters != nullptr || args.guard.words != nullptr) {
            await_launch_before();
        }
    }
    if (!should_run(args.guard)) {
        return;
    }
    volatile BlockState& state = block_state();
    if (threadIdx.x == 0) {
        create_barrier(shared_offset(const_cast<std::uint64_t*>(&state.barrier)), Shape::kThreads);
        state.arrivals = 0;
        state.made = 0;
        state.item = args.counters != nullptr ? draw_item(args.counters, 0) : static_cast<int>(blockIdx.x);
    }
    __syncthreads();
    while (state.item < item_count(args)) {
        {
            const Item item = item_of(args, state.item, state.made, args.k / kDepth);
            const TilePlace place = tile_place(args, item.tile);
            multiply_regular<Shape, left_along_depth, right_along_depth>(
                args, args.instances[place.instance], place.row * Shape::kRows, place.col * Shape::kCols,
                item.first_slab, item.slabs);
        }
        const Item item = item_of(args, state.item, state.made, args.k / kDepth);
        int next = 0;
        if (threadIdx.x == 0 && item.left == 0) {
            next = draw_item(args.counters, state.item);  // early: the answer takes as long as a load
        }
        store<Shape>(args, part_of_warp<Shape>(), tile_place(args, item.tile), item.piece);
        __syncthreads();  // all have read the number
        if (threadIdx.x == 0) {
            state.item = item.left == 0 ? next : state.item;
            state.made = item.left == 0 ? 0 : state.made + item.slabs;
            state.arrivals = state.arrivals + static_cast<std::uint32_t>(item.slabs);
        }
        __syncthreads();
    }
    if constexpr (Shape::kAddsInBackground) {
        await_reads_of_bulk_additions();
    }
}

/// The host's half of it.
template <class Shape>
FusedKernel regular_kernel_of(const RegularLayout& layout) {
    const auto of = [&](auto* function) {
        return FusedKernel{reinterpret_cast<const void*>(function),
                           Shape::kRows,
                           Shape::kCols,
                           Shape::kThreads,
                           Shape::kSharedBytes,
                           kDepth,
                           Shape::kAddsInBackground};
    };
    if (layout.left_along_depth) {
        return layout.right_along_depth ? of(&fused_regular_kernel<Shape, true, true>)
                                        : of(&fused_regular_kernel<Shape, true, false>);
    }
    return layout.right_along_depth ? of(&fused_regular_kernel<Shape, false, true>)
                                    : of(&fused_regular_kernel<Shape, false, false>);
}

}  // namespace heptad::cuda::fused
