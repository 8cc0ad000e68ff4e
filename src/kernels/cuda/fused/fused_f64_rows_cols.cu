// Fused f64 products with the left operand by rows, the right one by columns, where the targets lie by rows.
#include "kernels/cuda/fused/fused_f64_kernel.cuh"

namespace heptad::cuda::fused_f64 {

const void* kernel_rows_cols() {
    return kernel_for<true, true>();
}

}  // namespace heptad::cuda::fused_f64
