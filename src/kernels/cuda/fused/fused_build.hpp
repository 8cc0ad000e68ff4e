// From products with views to the arguments of one launch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_kernels.hpp"

namespace heptad::cuda {

/// Products of one shape that fit into one launch: how many of them from the front.
std::size_t fused_run_length(std::span<const FusedProduct> products);

/// Everything but the tiles, the update mode, the counters and the guard. A result stored by columns is made as the
/// transposed product, so rows of targets are contiguous wherever one of their strides is 1.
template <class T>
void build_fused(std::span<const FusedProduct> products, FusedArguments<T>& args);
extern template void build_fused(std::span<const FusedProduct>, FusedArguments<float>&);
extern template void build_fused(std::span<const FusedProduct>, FusedArguments<double>&);

/// Regular products are those that the faster f32 kernel takes: one or two terms on either side, k a multiple of 8 and
/// at least 8, terms as large as m x k and k x n say, with lines that begin at multiples of 16 bytes, hold a multiple
/// of four elements and lie less than 2^23 elements apart. Tells how their lines run as build_fused() turns them;
/// nothing for products that are not regular.
std::optional<RegularLayout> regular_layout(std::span<const FusedProduct> products);

/// Do two products update the same block?
bool fused_conflict(const FusedProduct& one, const FusedProduct& other);

/// Which of two streams each product goes to, 0 or 1: the one where it can begin first if all take the same time and a
/// product waits for those before it that update one of its blocks; and if both will do, the one that it waits for.
std::vector<int> stream_numbers(std::span<const FusedProduct> products);

}  // namespace heptad::cuda
