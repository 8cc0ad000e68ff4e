// Additions from shared to global memory that the copy engine of a multiprocessor makes while its threads go on (sm_90
// and later). A thread waits only before what it has sent is overwritten.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/device/shared_barrier.cuh"

namespace heptad::cuda::fused {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool kHasBulkAdditions = true;
#else
inline constexpr bool kHasBulkAdditions = false;
#endif

/// What this thread has written to shared memory is seen by the copy engine.
__device__ __forceinline__ void show_to_bulk_additions() {
    if constexpr (kHasBulkAdditions) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
}
/// to[i] += from[i], each element atomically. Both begin at multiples of 16 bytes, and so many bytes are a multiple
/// too.
template <int bytes>
__device__ __forceinline__ void begin_bulk_addition(float* to, const float* from) {
    static_assert(bytes % 16 == 0);
    if constexpr (kHasBulkAdditions) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
                     "r"(shared_offset(from)), "n"(bytes)
                     : "memory");
    }
}
__device__ __forceinline__ void end_group_of_bulk_additions() {
    if constexpr (kHasBulkAdditions) {
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}
/// All that this thread has begun has been read from shared memory.
__device__ __forceinline__ void await_reads_of_bulk_additions() {
    if constexpr (kHasBulkAdditions) {
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

}  // namespace heptad::cuda::fused
