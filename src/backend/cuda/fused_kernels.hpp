// The kernels for products with sums inside, as the host half finds them; included by both halves.
#pragma once

#include "base/fused.hpp"

namespace heptad::cuda {

/// A kernel that makes one tile of M per thread block; its only parameter is FusedArguments of its element type.
struct FusedKernel {
    const void* function = nullptr;  // null: there is none
    int tile_rows = 0, tile_cols = 0;
    int threads = 0, shared_bytes = 0;  // of a block
};
FusedKernel fused_kernel_f32(FusedTile tile);

}  // namespace heptad::cuda
