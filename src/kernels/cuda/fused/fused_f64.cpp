#include "kernels/cuda/fused/fused_f64.hpp"

#include <cstdint>
#include <utility>

#include "kernels/cuda/fused/fused_tiles.hpp"

namespace heptad::cuda {
namespace {

/// Whether neighbours in memory lie along the depth, as build_fused() sees an operand.
bool along_depth(std::int64_t outer_stride, std::int64_t depth_stride) {
    return depth_stride == 1 || outer_stride != 1;
}

}  // namespace

FusedKernel fused_kernel_f64(std::span<const FusedProduct> products) {
    using namespace fused_f64;
    bool left = true, right = false;
    if (!products.empty()) {
        const FusedProduct& product = products[0];
        const ConstView &a = product.left[0].block, &b = product.right[0].block;
        const View& c = product.targets[0].block;
        left = along_depth(a.row_stride, a.col_stride);
        right = along_depth(b.col_stride, b.row_stride);
        if (c.row_stride == 1 && c.col_stride != 1) {  // build_fused() transposes the product
            std::swap(left, right);
        }
    }
    return {kernel_of(left, right), kTile, kTile, kThreads, kSharedBytes, kStep};
}

}  // namespace heptad::cuda
