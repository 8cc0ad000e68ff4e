// Fused f32 products by tiles of 128 x 128, two blocks per multiprocessor: one of them multiplies while the other
// stores.
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_kernel.cuh"

namespace heptad::cuda {

FusedKernel fused_kernel_f32_large() {
    return fused::kernel_of<fused::Shape<128, 128, 16, 8, 4, 8, 5, 2, 200, 56>>();
}

}  // namespace heptad::cuda
