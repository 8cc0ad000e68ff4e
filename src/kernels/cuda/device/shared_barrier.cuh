// Barriers in shared memory, on which a thread may arrive long before it waits. Works from sm_80 on. All threads
// arrive, not one for its warp: compute-sanitizer's racecheck takes the latter for hazards.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace heptad::cuda {

__device__ __forceinline__ std::uint32_t shared_offset(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ __forceinline__ void create_barrier(std::uint32_t barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void signal_barrier(std::uint32_t barrier) {
    asm volatile(
        "{\n"
        ".reg .b64 state;\n"
        "mbarrier.arrive.shared.b64 state, [%0];\n"
        "}\n" ::"r"(barrier)
        : "memory");
}
/// Returns when the barrier has completed the phase of that parity.
__device__ __forceinline__ void await_barrier(std::uint32_t barrier, std::uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
#if __CUDA_ARCH__ >= 900
        "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
#else
        "mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
#endif
        "@!done bra again;\n"
        "}\n" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

}  // namespace heptad::cuda
