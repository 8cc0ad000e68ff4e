// The fused f32 kernels for products that are not regular.
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_kernel.cuh"

namespace heptad::cuda {

/// Tiles of 64 x 64, for small results.
FusedKernel fused_kernel_f32_small() {
    return fused::kernel_of<fused::Shape<64, 64, 8, 8, 2, 8, 4, 4, 0, 0>>();
}
/// For results with too few larger tiles to go round.
FusedKernel fused_kernel_f32_tall() {
    return fused::kernel_of<fused::Shape<128, 64, 8, 8, 4, 8, 4, 3, 112, 48>>();
}
/// Two blocks per multiprocessor: one of them multiplies while the other stores.
FusedKernel fused_kernel_f32_large() {
    return fused::kernel_of<fused::Shape<128, 128, 16, 8, 4, 8, 5, 2, 200, 56>>();
}
/// The fewest loads, but their loading warps have too much to do (design note 008).
FusedKernel fused_kernel_f32_huge() {
    return fused::kernel_of<fused::Shape<128, 256, 16, 8, 4, 8, 5, 1, 216, 72>>();
}

}  // namespace heptad::cuda
