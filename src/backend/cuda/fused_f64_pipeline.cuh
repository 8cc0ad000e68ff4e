// What the loading and the multiplying warps of the fused f64 kernel pass to each other in shared memory: stages, each
// full or empty, and tile numbers. Works from sm_80 on.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backend/cuda/fused_f64.hpp"

namespace heptad::cuda::fused_f64 {

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
/// Once per warp, when all its lanes are done.
__device__ __forceinline__ void signal_by_warp(std::uint32_t barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        signal_barrier(barrier);
    }
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

/// The ring of stages, as one thread goes round it. Barriers lie in pairs: full, empty.
struct Ring {
    std::uint32_t barriers, first_stage;
    int stages;
    int stage = 0;
    std::uint32_t parity = 0;

    __device__ __forceinline__ std::uint32_t full() const { return barriers + static_cast<std::uint32_t>(stage) * 16; }
    __device__ __forceinline__ std::uint32_t empty() const { return full() + 8; }
    __device__ __forceinline__ std::uint32_t left_slab() const {
        return first_stage + static_cast<std::uint32_t>(stage) * kStageBytes;
    }
    __device__ __forceinline__ std::uint32_t right_slab() const { return left_slab() + kSlabBytes; }
    __device__ __forceinline__ void await_full() const { await_barrier(full(), parity); }
    __device__ __forceinline__ void await_empty() const { await_barrier(empty(), parity ^ 1U); }
    __device__ __forceinline__ void advance() {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
};

/// Tile numbers on their way from the thread that draws them to all warps of the block. They are drawn in ascending
/// order by blocks that run, so whoever waits for an earlier tile waits for a running block.
struct TileQueue {
    static constexpr int kSlots = 2;
    std::uint32_t barriers;  // pairs as above
    volatile std::int32_t* numbers;
    int taken = 0, drawn = 0;

    __device__ __forceinline__ std::int32_t next() {
        const int slot = taken % kSlots;
        const std::uint32_t full = barriers + static_cast<std::uint32_t>(slot) * 16;
        await_barrier(full, static_cast<std::uint32_t>(taken / kSlots) & 1U);
        const std::int32_t number = numbers[slot];
        signal_by_warp(full + 8);
        ++taken;
        return number;
    }
    /// By one thread of the block. `counter` null: every block takes its share by its own number.
    __device__ __forceinline__ void draw(std::uint32_t* counter) {
        const int slot = drawn % kSlots;
        const std::uint32_t full = barriers + static_cast<std::uint32_t>(slot) * 16;
        await_barrier(full + 8, (static_cast<std::uint32_t>(drawn / kSlots) & 1U) ^ 1U);
        const unsigned number =
            counter != nullptr ? atomicAdd(counter, 1U) : blockIdx.x + static_cast<unsigned>(drawn) * gridDim.x;
        numbers[slot] = static_cast<std::int32_t>(number);
        signal_barrier(full);
        ++drawn;
    }
};

}  // namespace heptad::cuda::fused_f64
