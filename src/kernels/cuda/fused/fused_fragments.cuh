// How the multiplying threads of the fused f32 kernels read shared memory.
#pragma once

#include <cuda_runtime.h>

namespace heptad::cuda::fused {

__device__ __forceinline__ void load_four(float (&to)[4], const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

}  // namespace heptad::cuda::fused
