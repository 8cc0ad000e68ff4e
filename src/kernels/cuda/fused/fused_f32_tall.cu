// Fused f32 products by tiles of 128 x 64, for results with too few larger tiles to go round.
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_kernel.cuh"

namespace heptad::cuda {

FusedKernel fused_kernel_f32_tall() {
    return fused::kernel_of<fused::Shape<128, 64, 8, 8, 4, 8, 4, 3, 112, 48>>();
}

}  // namespace heptad::cuda
