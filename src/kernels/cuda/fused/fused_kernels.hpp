// The kernels for products with sums inside, as the host half finds them; included by both halves.
#pragma once

namespace heptad::cuda {

/// A kernel that makes one tile of M per thread block; its only parameter is FusedArguments of its element type.
struct FusedKernel {
    const void* function = nullptr;
    int tile_rows = 0, tile_cols = 0;
    int threads = 0, shared_bytes = 0;  // of a block
    int slab = 0;                       // how much of k a step takes, if it can make tiles in pieces along k; else 0
    bool judges = false;                // tells of products that are not finite or nearly so (FusedArguments::verdict)
};

/// Whether the lines of regular operands run along k (regular_layout()).
struct RegularLayout {
    bool left_along_depth, right_along_depth;
};

}  // namespace heptad::cuda
