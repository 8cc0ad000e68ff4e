// The fused f64 kernel on the tensor cores:  M = (sum of left)(sum of right), then every target = beta * target + g *
// M. Every thread loads, adds and multiplies. All of that is one stream of instructions in which loads, sums and reads
// of fragments stand between the products, because the two warps of a scheduler do the same at about the same time:
// what one of them does in a stretch of its own, both do, and the tensor cores wait. At the end of a tile its targets
// are updated (fused_f64_store.cuh).
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

/// A warp's view of the stages: where it reads fragments, and what they have become so far.
template <bool left_along_depth, bool right_along_depth>
struct Multiplier {
    static constexpr int kQuads = kStep / 4, kProducts = kRowBlocks * kColBlocks;
    static constexpr int kReads = 2 * kRowBlocks + kColBlocks;  // of a quad

    const std::uint32_t slabs;  // the first stage
    const Fragment<left_along_depth> left;
    const Fragment<right_along_depth> right;
    WarpsInStep step;
    Sums sums;

    __device__ __forceinline__ std::uint32_t stage(int slab) const {
        return slabs + static_cast<std::uint32_t>(slab) % kStages * kStageBytes;
    }

    /// sums += the product of `count` slabs, of which the feeds bring one after another. `count` is the same for all
    /// threads.
    template <class LeftFeed, class RightFeed>
    __device__ __forceinline__ void multiply(LeftFeed left_feed, RightFeed right_feed, int count) {
        constexpr bool kCopies = LeftFeed::kCopies || RightFeed::kCopies;
        __syncthreads();  // nobody reads the slabs of an earlier call
#pragma unroll 1
        for (int slab = 0; slab < 2; ++slab) {
            const FilledSlabs filled{stage(slab + kStages - 1), stage(slab)};
#pragma unroll
            for (int quad = 0; quad < kQuads; ++quad) {
                left_feed.early(quad, slab < count, filled);
                right_feed.early(quad, slab < count, {filled.next + kSlabBytes, filled.after + kSlabBytes});
                left_feed.late(quad, slab < count, filled);
                right_feed.late(quad, slab < count, {filled.next + kSlabBytes, filled.after + kSlabBytes});
            }
            if constexpr (kCopies) {
                end_copy_group();
            }
        }
        if constexpr (kCopies) {
            await_copies<1>();
        }
        __syncthreads();
        double a[2][kRowBlocks][2], b[2][kColBlocks];
        // In the order of their use by the products of a quad.
        const auto read = [&](std::uint32_t from, int quad, int number) {
            if (number < 2) {
                a[quad % 2][0][number] = left.read(from, number, quad);
            } else if (number < 2 + kColBlocks) {
                b[quad % 2][number - 2] = right.read(from + kSlabBytes, number - 2, quad);
            } else {
                const int row = number - kColBlocks;
                a[quad % 2][row / 2][row % 2] = left.read(from, row, quad);
            }
        };
#pragma unroll
        for (int number = 0; number < kReads; ++number) {
            read(stage(0), 0, number);
        }
#pragma unroll 1
        for (int slab = 0; slab < count; ++slab) {
            const std::uint32_t now = stage(slab), next = stage(slab + 1), after = stage(slab + 2);
            const bool more = slab + 2 < count;
#pragma unroll
            for (int quad = 0; quad < kQuads; ++quad) {
#pragma unroll
                for (int p = 0; p < kProducts; ++p) {
                    const int i = p / kColBlocks, j = p % kColBlocks;
                    multiply_16x8x4(sums[i][j], a[quad % 2][i], b[quad % 2][j]);
                    if (quad == kQuads - 1 && p == kProducts - kReads - 1) {
                        step.await_all();
                    }
                    if (p >= kProducts - kReads) {
                        read(quad < kQuads - 1 ? now : next, (quad + 1) % kQuads, p - (kProducts - kReads));
                    }
                    if (p == 0) {
                        left_feed.early(quad, more, {next, after});
                    } else if (p == 2) {
                        right_feed.early(quad, more, {next + kSlabBytes, after + kSlabBytes});
                    }
                }
                left_feed.late(quad, more, {next, after});
                right_feed.late(quad, more, {next + kSlabBytes, after + kSlabBytes});
                if (quad == 1) {  // the next slab is complete as far as it comes from this warp
                    if constexpr (kCopies) {
                        await_copies<0>();
                    }
                    step.announce();
                }
            }
            if constexpr (kCopies) {
                end_copy_group();
            }
        }
    }

    /// sums = the tile of M at that place.
    __device__ __forceinline__ void multiply_tile(const FusedArguments<double>& args, const TilePlace& place) {
        const FusedInstanceArgument& instance = args.instances[place.instance];
        const FusedTermArgument<double>*const left_terms = args.terms + instance.left_begin, *const right_terms =
                                                                                                 args.terms +
                                                                                                 instance.right_begin;
        const int row = place.row * kTile, col = place.col * kTile;
        const int left_count = instance.left_count, right_count = instance.right_count;
        const int all = (args.k + kStep - 1) / kStep;
        const int whole = min(whole_slabs(left_terms, left_count, args.left, row),
                              whole_slabs(right_terms, right_count, args.right, col));
#pragma unroll
        for (int p = 0; p < kProducts * 4; ++p) {
            sums[p / 4 / kColBlocks][p / 4 % kColBlocks][p % 4] = 0;
        }
        const auto with_feeds = [&]<class Left, class Right>() {
            multiply(Left(left_terms, args.left, row), Right(right_terms, args.right, col), whole);
        };
        using OneLeft = CopiedFeed<left_along_depth>;
        using TwoLeft = SummedFeed<left_along_depth>;
        using OneRight = CopiedFeed<right_along_depth>;
        using TwoRight = SummedFeed<right_along_depth>;
        if (whole > 0 && left_count == 1 && right_count == 1) {
            with_feeds.template operator()<OneLeft, OneRight>();
        } else if (whole > 0 && left_count == 1) {
            with_feeds.template operator()<OneLeft, TwoRight>();
        } else if (whole > 0 && right_count == 1) {
            with_feeds.template operator()<TwoLeft, OneRight>();
        } else if (whole > 0) {
            with_feeds.template operator()<TwoLeft, TwoRight>();
        }
        if (whole < all) {
            multiply(GuardedFeed<left_along_depth>(left_terms, left_count, args.left, row, whole * kStep),
                     GuardedFeed<right_along_depth>(right_terms, right_count, args.right, col, whole * kStep),
                     all - whole);
        }
    }
};

template <bool left_along_depth, bool right_along_depth>
__global__ void __launch_bounds__(kThreads, 1) fused_kernel(const __grid_constant__ FusedArguments<double> args) {
    if (!should_run(args.guard)) {
        return;
    }
    extern __shared__ __align__(1024) unsigned char memory[];
    const std::uint32_t start = shared_offset(memory);
    auto* const next_tile = reinterpret_cast<volatile std::int32_t*>(memory + 8);
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32, warp = thread / 32;
    // Tiles are drawn in ascending order by blocks that run, so whoever waits for an earlier tile waits for a running
    // block.
    const auto draw = [&](int before) {
        return args.counters != nullptr ? static_cast<int>(atomicAdd(args.counters, 1U))
                                        : before + static_cast<int>(gridDim.x);
    };
    Multiplier<left_along_depth, right_along_depth> multiplier{
        start + kHeadBytes, Fragment<left_along_depth>(warp / 4 * kWarpRows, lane),
        Fragment<right_along_depth>(warp % 4 * kWarpCols, lane), WarpsInStep(start)};
    if (thread == 0) {
        *next_tile = args.counters != nullptr ? draw(0) : static_cast<int>(blockIdx.x);
    }
    __syncthreads();
    const int tiles = args.instance_count * args.tiles_down * args.tiles_across;
    for (int tile = *next_tile; tile < tiles; tile = *next_tile) {
        __syncthreads();
        if (thread == 0) {
            *next_tile = draw(tile);
        }
        const TilePlace place = tile_place(args, tile);
        multiplier.multiply_tile(args, place);
        store(args, args.instances[place.instance], multiplier.sums, place.row, place.col, thread);
        __syncthreads();
    }
}

template <bool left_along_depth, bool right_along_depth>
const void* kernel_for() {
    return reinterpret_cast<const void*>(&fused_kernel<left_along_depth, right_along_depth>);
}

}  // namespace heptad::cuda::fused_f64
