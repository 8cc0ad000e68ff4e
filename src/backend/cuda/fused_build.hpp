// From products with views to the arguments of one launch.
#pragma once

#include <span>

#include "backend/backend.hpp"
#include "backend/cuda/fused_arguments.hpp"

namespace heptad::cuda {

/// Products of one shape that fit into one launch: how many of them from the front.
std::size_t fused_run_length(std::span<const FusedProduct> products);

/// Everything but the tiles, the update mode, the counters and the guard. A result stored by columns is made as the
/// transposed product, so rows of targets are contiguous wherever one of their strides is 1.
template <class T>
void build_fused(std::span<const FusedProduct> products, FusedArguments<T>& args);
extern template void build_fused(std::span<const FusedProduct>, FusedArguments<float>&);
extern template void build_fused(std::span<const FusedProduct>, FusedArguments<double>&);

/// Do two products update the same block?
bool fused_conflict(const FusedProduct& one, const FusedProduct& other);

}  // namespace heptad::cuda
