// Fused f64 products with the left operand by columns, the right one by rows, where the targets lie by rows.
#include "kernels/cuda/fused/fused_f64_kernel.cuh"

namespace heptad::cuda::fused_f64 {

const void* kernel_cols_rows() {
    return kernel_for<false, false>();
}

}  // namespace heptad::cuda::fused_f64
