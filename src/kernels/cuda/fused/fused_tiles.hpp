// Which kernel makes which products.
#pragma once

#include <span>

#include "kernels/backend.hpp"
#include "kernels/cuda/fused/fused_kernels.hpp"

namespace heptad::cuda {

int multiprocessors();
/// Blocks of the kernel that a multiprocessor of the current device takes at a time; 0: it has too little shared
/// memory.
int blocks_of_multiprocessor(const FusedKernel& kernel);

/// The f64 kernel for products of that layout; there is one tile. No products: for those by
/// rows.
FusedKernel fused_kernel_f64(std::span<const FusedProduct> products);

/// The kernel of that tile, or of the nearest one that this device can run; FusedTile::automatic: the one that is
/// expected to finish these products first.
FusedKernel fused_kernel(Type type, FusedTile tile, std::span<const FusedProduct> products, FusedOrder order);

}  // namespace heptad::cuda
