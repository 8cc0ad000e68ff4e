// Fused f64 products with both operands by columns, where the targets lie by rows.
#include "kernels/cuda/fused/fused_f64_kernel.cuh"

namespace heptad::cuda::fused_f64 {

const void* kernel_cols_cols() {
    return kernel_for<false, true>();
}

}  // namespace heptad::cuda::fused_f64
