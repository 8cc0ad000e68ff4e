// How the warps of a block of the fused f64 kernel keep step: a barrier in shared memory at which a warp announces
// that it has done its part of a slab, and somewhat later asks whether all others have. Works from sm_80 on.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backend/cuda/fused_f64.hpp"

namespace heptad::cuda::fused_f64 {

__device__ __forceinline__ std::uint32_t shared_offset(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void end_copy_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Returns when all groups of copies of this thread but the last `pending` have arrived.
template <int pending>
__device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

class WarpsInStep {
public:
    /// By all threads, which have to meet before the first announce().
    __device__ __forceinline__ explicit WarpsInStep(std::uint32_t barrier) : barrier_(barrier) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(kThreads / 32) : "memory");
        }
    }
    __device__ __forceinline__ void announce() const {
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            asm volatile(
                "{\n"
                ".reg .b64 state;\n"
                "mbarrier.arrive.shared.b64 state, [%0];\n"
                "}\n" ::"r"(barrier_)
                : "memory");
        }
    }
    /// Returns when every warp has announced as often as this one.
    __device__ __forceinline__ void await_all() {
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
            "}\n" ::"r"(barrier_),
            "r"(parity_)
            : "memory");
        parity_ ^= 1U;
    }

private:
    const std::uint32_t barrier_;
    std::uint32_t parity_ = 0;
};

}  // namespace heptad::cuda::fused_f64
