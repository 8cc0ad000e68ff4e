// Fused f32 products by tiles of 128 x 256: the fewest loads, but their loading warps have too much to do (design note
// 008).
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_kernel.cuh"

namespace heptad::cuda {

FusedKernel fused_kernel_f32_huge() {
    return fused::kernel_of<fused::Shape<128, 256, 16, 8, 4, 8, 5, 1, 216, 72>>();
}

}  // namespace heptad::cuda
