// Launches that begin before the one before them has ended (sm_90 and later): such a kernel comes to its
// multiprocessors as they become free, and waits where it needs what the former one has written. In a launch that was
// not asked to begin early neither of these does anything.
#pragma once

#include <cuda_runtime.h>

namespace heptad::cuda {

/// The launch before has ended, and what it wrote can be read.
__device__ __forceinline__ void await_launch_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next launch may come to this multiprocessor when all blocks have said so.
__device__ __forceinline__ void let_next_launch_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace heptad::cuda
