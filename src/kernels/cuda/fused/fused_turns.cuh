// How updates of one tile of a target by several products come in their order: a counter in global memory for each.
// All threads that write meet between these calls and their reads and writes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace heptad::cuda::fused {

/// By one thread: returns when the tile has had that many updates.
__device__ __forceinline__ void await_updates(const std::uint32_t* counter, std::uint32_t count) {
    std::uint32_t updates = 0;
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(updates) : "l"(counter) : "memory");
    } while (updates < count);
}

/// By one thread, when all have written and called __threadfence().
__device__ __forceinline__ void count_update(std::uint32_t* counter) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

}  // namespace heptad::cuda::fused
