// The fused f64 kernel on the tensor cores:  M = (sum of left)(sum of right), then every target = beta * target + g *
// M. Every thread loads, adds and multiplies: while it multiplies one slab (fused_f64_tile.cuh), the terms of a later
// one are on their way to its registers (fused_f64_feed.cuh), and their sum goes to shared memory between two steps.
// Barriers in shared memory tell when a slab is complete, so that warps need not march in step. At the end of a tile
// its targets are updated (fused_f64_store.cuh).
#pragma once

#include <cuda_runtime.h>

#include "backend/cuda/device_code.cuh"
#include "backend/cuda/fused_arguments.hpp"
#include "backend/cuda/fused_f64.hpp"
#include "backend/cuda/fused_f64_feed.cuh"
#include "backend/cuda/fused_f64_pipeline.cuh"
#include "backend/cuda/fused_f64_store.cuh"
#include "backend/cuda/fused_f64_tile.cuh"

namespace heptad::cuda::fused_f64 {

/// Most terms of an operand that are loaded ahead, and where the neighbours of each operand lie.
template <int terms, bool left_along_depth, bool right_along_depth>
struct Shape {
    static constexpr int kTerms = terms, kBatches = terms > 2 ? 4 : 2;
    static constexpr bool kLeftAlongDepth = left_along_depth, kRightAlongDepth = right_along_depth;
};

struct TilePlace {
    int instance, row, col;
};

/// Neighbours in time are neighbours in M, so that what they read is in the L2 cache.
__device__ __forceinline__ TilePlace tile_place(const FusedArguments<double>& args, int index) {
    const int per_instance = args.tiles_down * args.tiles_across;
    const int instance = index / per_instance, number = index - instance * per_instance;
    const int per_strip = args.strip * args.tiles_across;
    const int first = number / per_strip * args.strip, within = number % per_strip;
    const int height = min(args.strip, args.tiles_down - first);
    return {instance, first + within % height, within / height};
}

/// Slabs of a tile; two at least, so that the loading is never two tiles ahead of the multiplying. Beyond k they are
/// zero.
__device__ __forceinline__ int slabs_of(const FusedArguments<double>& args) {
    return max((args.k + kStep - 1) / kStep, 2);
}

/// The loading side of a thread: fills stage after stage with the slabs of one tile after another, in parts.
template <class Shape>
class Loading {
public:
    __device__ __forceinline__ Loading(const FusedArguments<double>& args, const Ring& ring, const TileQueue& queue)
        : args_(args),
          ring_(ring),
          queue_(queue),
          left_(args.left, static_cast<int>(threadIdx.x)),
          right_(args.right, static_cast<int>(threadIdx.x)),
          slab_(slabs_of(args)) {
        draw();
    }
    /// The number of the tile that was begun last.
    __device__ __forceinline__ int tile() const { return tile_; }

    /// Begins a slab. Nothing else happens when there are no more tiles. True: the slab is plain, see below.
    __device__ __forceinline__ bool begin() {
        if (slab_ == slabs_of(args_)) {
            start_tile();
        }
        working_ = tile_ < args_.instance_count * args_.tiles_down * args_.tiles_across;
        left_loaded_ = working_ && left_.is_whole();
        right_loaded_ = working_ && right_.is_whole();
        return left_loaded_ && right_loaded_ && args_.left.wide != 0 && args_.right.wide != 0;
    }
    /// The parts of a slab. `plain`: both operands are there in whole and can be read 16 bytes at a time; what that
    /// leaves is short, so that it stays in the instruction cache together with the products.
    template <bool plain>
    __device__ __forceinline__ void load(int batch) {
        if constexpr (!kCopied) {
            left_.template load<plain>(left_values_, batch, plain || left_loaded_);
            right_.template load<plain>(right_values_, batch, plain || right_loaded_);
        }
    }
    template <bool plain>
    __device__ __forceinline__ void store(int batch) {
        if constexpr (!kCopied) {
            if (plain || left_loaded_) {
                left_.store(left_values_, batch, ring_.left_slab());
            }
            if (plain || right_loaded_) {
                right_.store(right_values_, batch, ring_.right_slab());
            }
        }
    }
    template <bool plain>
    __device__ __forceinline__ void end() {
        if (!plain && !working_) {
            return;
        }
        if constexpr (kCopied) {
            left_.template copy<plain>(ring_.left_slab());
            right_.template copy<plain>(ring_.right_slab());
            signal_after_copies(ring_.full());
        } else {
            if (!plain && !left_loaded_) {
                left_.fill(ring_.left_slab());
            }
            if (!plain && !right_loaded_) {
                right_.fill(ring_.right_slab());
            }
            signal_by_warp(ring_.full());
        }
        ring_.advance();
        left_.advance();
        right_.advance();
        ++slab_;
    }

private:
    static constexpr bool kCopied = Shape::kTerms == 1;
    using Left = SlabFeed<Shape::kTerms, Shape::kLeftAlongDepth, Shape::kBatches>;
    using Right = SlabFeed<Shape::kTerms, Shape::kRightAlongDepth, Shape::kBatches>;

    __device__ __forceinline__ void draw() {
        if (threadIdx.x == 0) {
            queue_.draw(args_.counters);
        }
        __syncwarp();
    }
    __device__ __forceinline__ void start_tile() {
        tile_ = queue_.next();
        slab_ = 0;
        if (tile_ >= args_.instance_count * args_.tiles_down * args_.tiles_across) {
            return;
        }
        draw();  // early: the answer takes as long as a load
        const TilePlace place = tile_place(args_, tile_);
        const FusedInstanceArgument& instance = args_.instances[place.instance];
        left_.start(args_.terms + instance.left_begin, instance.left_count, place.row * kTile);
        right_.start(args_.terms + instance.right_begin, instance.right_count, place.col * kTile);
    }

    const FusedArguments<double>& args_;
    Ring ring_;
    TileQueue queue_;
    Left left_;
    Right right_;
    typename Left::Batch left_values_;
    typename Right::Batch right_values_;
    int slab_, tile_ = 0;
    bool working_ = false, left_loaded_ = false, right_loaded_ = false;
};

/// sums += the product of a slab that is complete, while `loading` deals with a later one. Fragments are read one quad
/// of k ahead of their use.
template <class Shape, bool plain>
__device__ __forceinline__ void multiply(Sums& sums, const Fragment<Shape::kLeftAlongDepth>& left,
                                         const Fragment<Shape::kRightAlongDepth>& right, const Ring& ring,
                                         Loading<Shape>& loading) {
    constexpr int kQuads = kStep / 4, kQuadsPerBatch = kQuads / Shape::kBatches;
    double a[2][kRowBlocks][2], b[2][kColBlocks];
    const auto read = [&](int quad) {
#pragma unroll
        for (int i = 0; i < 2 * kRowBlocks; ++i) {
            a[quad % 2][i / 2][i % 2] = left.read(ring.left_slab(), i, quad);
        }
#pragma unroll
        for (int j = 0; j < kColBlocks; ++j) {
            b[quad % 2][j] = right.read(ring.right_slab(), j, quad);
        }
    };
    read(0);
#pragma unroll
    for (int quad = 0; quad < kQuads; ++quad) {
        if (quad % kQuadsPerBatch == 0) {
            loading.template load<plain>(quad / kQuadsPerBatch);
        }
        if (quad + 1 < kQuads) {
            read(quad + 1);
        }
#pragma unroll
        for (int i = 0; i < kRowBlocks; ++i) {
#pragma unroll
            for (int j = 0; j < kColBlocks; ++j) {
                multiply_16x8x4(sums[i][j], a[quad % 2][i], b[quad % 2][j]);
            }
        }
        if ((quad + 1) % kQuadsPerBatch == 0) {
            loading.template store<plain>(quad / kQuadsPerBatch);
        }
    }
    loading.template end<plain>();
}

template <class Shape>
__global__ void __launch_bounds__(kThreads, 1) fused_kernel(const __grid_constant__ FusedArguments<double> args) {
    if (!should_run(args.guard)) {
        return;
    }
    extern __shared__ __align__(1024) unsigned char memory[];
    std::uint32_t shared_bytes = 0;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared_bytes));
    const std::uint32_t start = shared_offset(memory);
    Ring ring{start, start + kHeadBytes, static_cast<int>((shared_bytes - kHeadBytes) / kStageBytes)};
    const TileQueue queue{start + 16 * kMostStages,
                          reinterpret_cast<std::int32_t*>(memory + 16 * (kMostStages + TileQueue::kSlots))};
    if (threadIdx.x == 0) {
        for (int s = 0; s < ring.stages; ++s) {
            create_barrier(ring.barriers + static_cast<std::uint32_t>(s) * 16,
                           Shape::kTerms == 1 ? kThreads : kThreads / 32);
        }
        for (int s = 0; s < TileQueue::kSlots; ++s) {
            create_barrier(queue.barriers + static_cast<std::uint32_t>(s) * 16, 1);
            create_barrier(queue.barriers + static_cast<std::uint32_t>(s) * 16 + 8, kThreads / 32);
        }
    }
    __syncthreads();
    Loading<Shape> loading(args, ring, queue);
    // A thread that multiplies slab i knows that all threads have loaded it, which they did while they multiplied slab
    // i - ahead; so what lies before that has been read by all, and slab i + ahead may take its place.
    const int ahead = (ring.stages - 1) / 2;
    int tile = 0;
    for (int i = 0; i < ahead; ++i) {
        loading.begin();
        if (i == 0) {
            tile = loading.tile();
        }
#pragma unroll
        for (int batch = 0; batch < Shape::kBatches; ++batch) {
            loading.template load<false>(batch);
            loading.template store<false>(batch);
        }
        loading.template end<false>();
    }
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32, warp = thread / 32, slabs = slabs_of(args);
    const Fragment<Shape::kLeftAlongDepth> left(warp / 4 * kWarpRows, lane);
    const Fragment<Shape::kRightAlongDepth> right(warp % 4 * kWarpCols, lane);
    while (tile < args.instance_count * args.tiles_down * args.tiles_across) {
        Sums sums = {};
#pragma unroll 1
        for (int slab = 0; slab < slabs; ++slab) {
            const bool is_plain = loading.begin();
            ring.await_full();
            if (is_plain) {
                multiply<Shape, true>(sums, left, right, ring, loading);
            } else {
                multiply<Shape, false>(sums, left, right, ring, loading);
            }
            ring.advance();
        }
        const TilePlace place = tile_place(args, tile);
        store(args, args.instances[place.instance], sums, place.row, place.col, thread);
        tile = loading.tile();
    }
}

/// The kernels of one pair of layouts, by the most terms of an operand.
template <bool left_along_depth, bool right_along_depth>
const void* kernel_for(int terms) {
    if (terms == 1) {
        return reinterpret_cast<const void*>(&fused_kernel<Shape<1, left_along_depth, right_along_depth>>);
    }
    return terms == 2 ? reinterpret_cast<const void*>(&fused_kernel<Shape<2, left_along_depth, right_along_depth>>)
                      : reinterpret_cast<const void*>(&fused_kernel<Shape<4, left_along_depth, right_along_depth>>);
}

}  // namespace heptad::cuda::fused_f64
