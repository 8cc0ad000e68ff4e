// Fused f32 products by tiles of 128 x 256: the fewest loads per product, but nothing multiplies while a tile is
// stored.
#include "backend/cuda/fused_f32.hpp"
#include "backend/cuda/fused_kernel.cuh"

namespace heptad::cuda {

FusedKernel fused_kernel_f32_huge() {
    return fused::kernel_of<fused::Shape<128, 256, 16, 8, 8, 4, 1>>();
}

}  // namespace heptad::cuda
