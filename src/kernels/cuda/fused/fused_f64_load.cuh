// What the loading warps of the fused f64 kernel do: slab after slab, item after item, as far ahead of the multiplying
// warps as there are stages.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_f64.hpp"
#include "kernels/cuda/fused/fused_f64_feed.cuh"
#include "kernels/cuda/fused/fused_pipeline.cuh"
#include "kernels/cuda/fused/fused_walk.hpp"

namespace heptad::cuda::fused_f64 {

/// Slabs of a tile: one at least, which is zero where k is.
__device__ __forceinline__ int slabs_of(const FusedArguments<double>& args) {
    return max((args.k + kStep - 1) / kStep, 1);
}

/// Slabs of a tile, counted from the first one of all, whose operands can be copied as they are.
__device__ __forceinline__ int whole_slabs(const FusedArguments<double>& args, const fused::TilePlace& place) {
    const FusedInstanceArgument& instance = args.instances[place.instance];
    return min(whole_slabs(args.terms + instance.left_begin, instance.left_count, args.left, place.row * kTile),
               whole_slabs(args.terms + instance.right_begin, instance.right_count, args.right, place.col * kTile));
}

template <bool left_along_depth, bool right_along_depth>
class Loader {
public:
    __device__ __forceinline__ Loader(const FusedArguments<double>& args, std::uint32_t first_stage,
                                      std::uint32_t barriers)
        : args_(args), first_stage_(first_stage), filled_(barriers), complete_(barriers) {}

    __device__ __forceinline__ void run(fused::TileQueue queue) {
        if (thread_ == 0) {
            queue.draw(args_.counters);
        }
        __syncwarp();
        for (int number = queue.next(); number < fused::item_count(args_); number = queue.next()) {
            if (thread_ == 0) {
                queue.draw(args_.counters);  // early: the answer takes as long as a load
            }
            __syncwarp();
            for (int made = 0, left = 1; left > 0;) {
                const fused::Item item = fused::item_of(args_, number, made, slabs_of(args_));
                const fused::TilePlace place = fused::tile_place(args_, item.tile);
                load_item(item, place);
                fetch_targets(place, item.piece);
                made += item.slabs;
                left = item.left;
            }
        }
    }

private:
    __device__ __forceinline__ void load_item(const fused::Item& item, const fused::TilePlace& place) {
        const FusedInstanceArgument& instance = args_.instances[place.instance];
        const auto* const left_terms = args_.terms + instance.left_begin;
        const auto* const right_terms = args_.terms + instance.right_begin;
        const int row = place.row * kTile, col = place.col * kTile;
        const int left_count = instance.left_count, right_count = instance.right_count;
        const int whole = max(0, min(whole_slabs(args_, place) - item.first_slab, item.slabs));
        const int depth0 = item.first_slab * kStep;
        const auto copy = [&]<int left, int right>() {
            load(CopiedFeed<left, left_along_depth>(left_terms, args_.left, row, depth0, thread_),
                 CopiedFeed<right, right_along_depth>(right_terms, args_.right, col, depth0, thread_), whole);
        };
        if (whole > 0 && max(left_count, right_count) > 2) {
            load(ManyCopiedFeed<left_along_depth>(left_terms, left_count, args_.left, row, depth0, thread_),
                 ManyCopiedFeed<right_along_depth>(right_terms, right_count, args_.right, col, depth0, thread_), whole,
                 max(left_count, right_count) - 1);
        } else if (whole > 0) {
            if (left_count == 1) {
                if (right_count == 1) {
                    copy.template operator()<1, 1>();
                } else {
                    copy.template operator()<1, 2>();
                }
            } else if (right_count == 1) {
                copy.template operator()<2, 1>();
            } else {
                copy.template operator()<2, 2>();
            }
        }
        if (whole < item.slabs) {
            const int depth = depth0 + whole * kStep;
            load(GuardedFeed<left_along_depth>(left_terms, left_count, args_.left, row, depth, thread_),
                 GuardedFeed<right_along_depth>(right_terms, right_count, args_.right, col, depth, thread_),
                 item.slabs - whole);
        }
    }

    __device__ __forceinline__ SlabPair left_slabs(int stage, int side) const {
        return {first_stage_ + static_cast<std::uint32_t>(stage * kStageBytes),
                first_stage_ + static_cast<std::uint32_t>((kStages + side) * kStageBytes)};
    }
    __device__ __forceinline__ SlabPair right_slabs(int stage, int side) const {
        const SlabPair left = left_slabs(stage, side);
        return {left.first + kSlabBytes, left.second + kSlabBytes};
    }

    /// `count` slabs in so many rounds each. In every step a thread starts a round and finishes the one kAhead before
    /// it.
    template <class LeftFeed, class RightFeed>
    __device__ __forceinline__ void load(LeftFeed left, RightFeed right, int count, int rounds = 1) {
        int start_side = 0, start_round = 0, finish_side = 0, finish_round = 0;
        const auto start = [&] {
            if (start_round == 0) {
                filled_.await_empty();
            }
            left.start(left_slabs(filled_.stage, start_side), start_round);
            right.start(right_slabs(filled_.stage, start_side), start_round);
            start_side = start_side + 1 < kSides ? start_side + 1 : 0;
            if (++start_round == rounds) {
                start_round = 0;
                filled_.advance();
            }
        };
        const auto finish = [&] {
            left.finish(left_slabs(complete_.stage, finish_side), finish_round);
            right.finish(right_slabs(complete_.stage, finish_side), finish_round);
            finish_side = finish_side + 1 < kSides ? finish_side + 1 : 0;
            if (++finish_round == rounds) {
                finish_round = 0;
                signal_barrier(complete_.full());
                complete_.advance();
            }
        };
        const int steps = count * rounds;
#pragma unroll 1
        for (int step = 0; step < steps + kAhead; ++step) {
            if (step < steps) {
                start();
            }
            end_copy_group();  // an empty one counts, too
            if (step >= kAhead) {
                await_copies<kAhead>();
                finish();
            }
        }
    }

    /// Targets that will be read go to the L2 cache while their tile is still multiplied.
    __device__ __forceinline__ void fetch_targets(const fused::TilePlace& place, int piece) const {
        const FusedInstanceArgument& instance = args_.instances[place.instance];
        const int row = place.row * kTile + thread_, col = place.col * kTile;
        static_assert(kLoading == kTile);
#pragma unroll 1
        for (int t = 0; t < instance.target_count; ++t) {
            const FusedTargetArgument<double>& target = args_.targets[instance.target_begin + t];
            if ((target.beta != 0.0 || piece > 0) && args_.target.wide != 0 && row < target.rows &&
                col + kTile <= target.cols) {
                const double* const line = target.data + row * args_.target.row_stride + col;
#pragma unroll
                for (int i = 0; i < kTile; i += 16) {
                    asm volatile("prefetch.global.L2 [%0];" ::"l"(line + i));
                }
            }
        }
    }

    const FusedArguments<double>& args_;
    const int thread_ = static_cast<int>(threadIdx.x) - kMultiplying;
    const std::uint32_t first_stage_;
    fused::StageRing<kStages> filled_, complete_;
};

}  // namespace heptad::cuda::fused_f64
