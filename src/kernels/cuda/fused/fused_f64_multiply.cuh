// What the multiplying warps of the fused f64 kernel do with the slabs that lie in shared memory. Fragments are read a
// quad of k ahead of their use, from one slab to the next, too, so that the tensor cores never wait for them.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_f64.hpp"
#include "kernels/cuda/fused/fused_f64_load.cuh"
#include "kernels/cuda/fused/fused_f64_store.cuh"
#include "kernels/cuda/fused/fused_f64_tile.cuh"
#include "kernels/cuda/fused/fused_pipeline.cuh"
#include "kernels/cuda/fused/fused_walk.hpp"

namespace heptad::cuda::fused_f64 {

template <bool left_along_depth, bool right_along_depth>
struct Multiplier {
    static constexpr int kQuads = kStep / 4, kProducts = kRowBlocks * kColBlocks;
    static constexpr int kReads = 2 * kRowBlocks + kColBlocks;  // of a quad
    static constexpr int kFirstRead = kProducts - kReads;       // product after which the reads of the next quad begin

    const std::uint32_t first_stage;
    const Fragment<left_along_depth> left;
    const Fragment<right_along_depth> right;
    fused::StageRing<kStages> ring;

    /// sums += the product of the next `slabs` slabs.
    __device__ __forceinline__ void multiply(Sums& sums, int slabs) {
        double a[2][kRowBlocks][2], b[2][kColBlocks];
        std::uint32_t stage = 0;
        const auto enter = [&] {
            ring.await_full();
            stage = first_stage + static_cast<std::uint32_t>(ring.stage * kStageBytes);
        };
        // In the order of their use by the products of a quad.
        const auto read = [&](int quad, int number) {
            if (number < 2) {
                a[quad % 2][0][number] = left.read(stage, number, quad);
            } else if (number < 2 + kColBlocks) {
                b[quad % 2][number - 2] = right.read(stage + kSlabBytes, number - 2, quad);
            } else {
                const int row = number - kColBlocks;
                a[quad % 2][row / 2][row % 2] = left.read(stage, row, quad);
            }
        };
        // A slab whose first fragments have been read; `more`: those of the next one are read on the way.
        const auto multiply_slab = [&]<bool more>() {
#pragma unroll
            for (int quad = 0; quad < kQuads; ++quad) {
                const bool last = quad == kQuads - 1;
#pragma unroll
                for (int p = 0; p < kProducts; ++p) {
                    const int i = p / kColBlocks, j = p % kColBlocks;
                    multiply_16x8x4(sums[i][j], a[quad % 2][i], b[quad % 2][j]);
                    if (last && p == kFirstRead - 1) {
                        signal_barrier(ring.empty());
                        ring.advance();
                        if (more) {
                            enter();
                        }
                    }
                    if (p >= kFirstRead && (!last || more)) {
                        read((quad + 1) % kQuads, p - kFirstRead);
                    }
                }
            }
        };
        enter();
#pragma unroll
        for (int number = 0; number < kReads; ++number) {
            read(0, number);
        }
#pragma unroll 1
        for (int slab = 1; slab < slabs; ++slab) {
            multiply_slab.template operator()<true>();
        }
        multiply_slab.template operator()<false>();
    }
};

template <bool left_along_depth, bool right_along_depth>
__device__ __forceinline__ void multiply_items(const FusedArguments<double>& args, std::uint32_t first_stage,
                                               std::uint32_t barriers, fused::TileQueue queue) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32, warp = thread / 32;
    Multiplier<left_along_depth, right_along_depth> multiplier{
        first_stage, Fragment<left_along_depth>(warp / 4 * kWarpRows, lane),
        Fragment<right_along_depth>(warp % 4 * kWarpCols, lane), fused::StageRing<kStages>(barriers)};
    for (int number = queue.next(); number < fused::item_count(args); number = queue.next()) {
        for (int made = 0, left = 1; left > 0;) {
            Sums sums = {};
            multiplier.multiply(sums, fused::item_of(args, number, made, slabs_of(args)).slabs);
            // Or else what follows from them is kept in registers meanwhile.
            asm volatile("" : "+r"(number), "+r"(made));
            const fused::Item item = fused::item_of(args, number, made, slabs_of(args));
            store(args, sums, fused::tile_place(args, item.tile), item.piece, thread);
            made += item.slabs;
            left = item.left;
        }
    }
}

}  // namespace heptad::cuda::fused_f64
