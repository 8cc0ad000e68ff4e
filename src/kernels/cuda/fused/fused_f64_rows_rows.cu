// Fused f64 products with both operands by rows, where the targets lie by rows.
#include "kernels/cuda/fused/fused_f64_kernel.cuh"

namespace heptad::cuda::fused_f64 {

const void* kernel_rows_rows() {
    return kernel_for<true, false>();
}

}  // namespace heptad::cuda::fused_f64
