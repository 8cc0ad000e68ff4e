// Fused f64 products with both operands by columns, where the targets lie by rows.
#include "backend/cuda/fused_f64_kernel.cuh"

namespace heptad::cuda::fused_f64 {

const void* kernel_cols_cols(int terms) {
    return kernel_for<false, true>(terms);
}

}  // namespace heptad::cuda::fused_f64
