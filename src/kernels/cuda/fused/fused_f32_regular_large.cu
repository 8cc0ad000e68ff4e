// Regular fused f32 products by tiles of 128 x 128, two blocks per multiprocessor: one of them multiplies while the
// other stores.
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_regular_kernel.cuh"

namespace heptad::cuda {

FusedKernel fused_kernel_f32_regular_large(const RegularLayout& layout) {
    return fused::regular_kernel_of<fused::RegularShape<128, 128, 16, 8, 2>>(layout.left_along_depth,
                                                                             layout.right_along_depth);
}

}  // namespace heptad::cuda
