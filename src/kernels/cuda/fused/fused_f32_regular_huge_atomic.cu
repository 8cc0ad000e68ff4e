// Regular fused f32 products by tiles of 128 x 256, whose atomic updates go on while the next tile is multiplied.
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_regular_kernel.cuh"

namespace heptad::cuda {

FusedKernel fused_kernel_f32_regular_huge_atomic(const RegularLayout& layout) {
    return fused::regular_kernel_of<fused::RegularShape<128, 256, 16, 8, 1, true>>(layout.left_along_depth,
                                                                                   layout.right_along_depth);
}

}  // namespace heptad::cuda
