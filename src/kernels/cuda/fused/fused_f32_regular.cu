// The fused f32 kernels for regular products.
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_regular_kernel.cuh"

namespace heptad::cuda {

/// Two blocks per multiprocessor: one of them multiplies while the other stores.
FusedKernel fused_kernel_f32_regular_large(const RegularLayout& layout) {
    return fused::regular_kernel_of<fused::RegularShape<128, 128, 16, 8, 2>>(layout);
}
/// The fewest loads.
FusedKernel fused_kernel_f32_regular_huge(const RegularLayout& layout) {
    return fused::regular_kernel_of<fused::RegularShape<128, 256, 16, 8, 1>>(layout);
}
FusedKernel fused_kernel_f32_regular_huge_atomic(const RegularLayout& layout) {
    return fused::regular_kernel_of<fused::RegularShape<128, 256, 16, 8, 1, true>>(layout);
}

}  // namespace heptad::cuda
