// Fused f32 products by tiles of 64 x 64, for small results.
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_kernel.cuh"

namespace heptad::cuda {

FusedKernel fused_kernel_f32_small() {
    return fused::kernel_of<fused::Shape<64, 64, 8, 8, 2, 8, 4, 4, 0, 0>>();
}

}  // namespace heptad::cuda
