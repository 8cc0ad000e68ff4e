// The f32 kernels by tile.
#pragma once

#include "kernels/cuda/fused/fused_kernels.hpp"

namespace heptad::cuda {

FusedKernel fused_kernel_f32_small();
FusedKernel fused_kernel_f32_tall();
FusedKernel fused_kernel_f32_large();
FusedKernel fused_kernel_f32_huge();
/// For products that regular_layout() admits.
FusedKernel fused_kernel_f32_regular_large(const RegularLayout& layout);
FusedKernel fused_kernel_f32_regular_huge(const RegularLayout& layout);
/// The same; its atomic updates go on while it multiplies.
FusedKernel fused_kernel_f32_regular_huge_atomic(const RegularLayout& layout);

}  // namespace heptad::cuda
