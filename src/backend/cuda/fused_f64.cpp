#include <cuda_runtime_api.h>

#include <algorithm>

#include "backend/cuda/fused_f64.hpp"
#include "backend/cuda/fused_tiles.hpp"
#include "backend/cuda/status.hpp"

namespace heptad::cuda {
namespace {

int most_terms(std::span<const FusedProduct> products) {
    std::size_t most = 1;
    for (const FusedProduct& product : products) {
        most = std::max({most, product.left.size(), product.right.size()});
    }
    return static_cast<int>(most);
}

/// Whether neighbours in memory lie along the depth, as build_fused() sees an operand.
bool along_depth(std::int64_t outer_stride, std::int64_t depth_stride) {
    return depth_stride == 1 || outer_stride != 1;
}

/// Stages as many as fit, up to the number that is of use; an odd one, because loading is half of them ahead.
int stages_of_device() {
    int device = 0, most_bytes = 0;
    check(cudaGetDevice(&device), "tell the current device");
    check(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "tell its shared memory");
    return fused_f64::kHeadBytes + fused_f64::kMostStages * fused_f64::kStageBytes <= most_bytes
               ? fused_f64::kMostStages
               : fused_f64::kLeastStages;
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
    const int terms = most_terms(products);
    const void* const function = left ? (right ? kernel_rows_cols(terms) : kernel_rows_rows(terms))
                                      : (right ? kernel_cols_cols(terms) : kernel_cols_rows(terms));
    return {function, kTile, kTile, kThreads, kHeadBytes + stages_of_device() * kStageBytes};
}

}  // namespace heptad::cuda
