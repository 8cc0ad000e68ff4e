// Which tile of which product has which number.
#pragma once

#include <cuda_runtime.h>

#include "backend/cuda/fused_arguments.hpp"

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

}  // namespace heptad::cuda::fused
