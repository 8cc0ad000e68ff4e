// Barriers in shared memory between the warps that load and sum and the warps that multiply: a ring of stages, each
// full or empty, and a queue of tile numbers. Works from sm_80 on.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/device/shared_barrier.cuh"

namespace heptad::cuda::fused {

/// The stage that a warp works on, and how often the ring went round. Barriers of a stage lie in pairs: full, empty.
template <int stages>
struct StageRing {
    std::uint32_t barriers;  // shared_offset of the first pair
    int stage = 0;
    std::uint32_t parity = 0;

    __device__ __forceinline__ explicit StageRing(std::uint32_t first) : barriers(first) {}
    __device__ __forceinline__ std::uint32_t full() const { return barriers + static_cast<std::uint32_t>(stage) * 16; }
    __device__ __forceinline__ std::uint32_t empty() const { return full() + 8; }
    __device__ __forceinline__ void await_full() const { await_barrier(full(), parity); }
    __device__ __forceinline__ void await_empty() const { await_barrier(empty(), parity ^ 1U); }
    __device__ __forceinline__ void advance() {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
};

/// Tile numbers on their way from the one thread that draws them to all warps. A number beyond the last tile ends the
/// work. Numbers are drawn in ascending order while blocks run, so whoever waits for an earlier tile waits for a block
/// that is running, whatever else occupies the device.
struct TileQueue {
    static constexpr int kSlots = 2;
    std::uint32_t barriers;  // pairs as above
    volatile std::int32_t* slots;
    int slot = 0;  // of the reader
    std::uint32_t parity = 0;
    int drawn = 0;  // by the writer

    __device__ __forceinline__ TileQueue(std::uint32_t first, std::int32_t* numbers)
        : barriers(first), slots(numbers) {}
    __device__ __forceinline__ std::int32_t next() {
        const std::uint32_t full = barriers + static_cast<std::uint32_t>(slot) * 16;
        await_barrier(full, parity);
        const std::int32_t number = slots[slot];
        signal_barrier(full + 8);
        if (++slot == kSlots) {
            slot = 0;
            parity ^= 1U;
        }
        return number;
    }
    /// By one thread of the block. `counter` null: every block takes its share of the tiles by its own number.
    __device__ __forceinline__ void draw(std::uint32_t* counter) {
        const int at = drawn % kSlots;
        const std::uint32_t full = barriers + static_cast<std::uint32_t>(at) * 16;
        await_barrier(full + 8, (static_cast<std::uint32_t>(drawn / kSlots) & 1U) ^ 1U);
        slots[at] = counter != nullptr
                        ? static_cast<std::int32_t>(atomicAdd(counter, 1U))
                        : static_cast<std::int32_t>(blockIdx.x + static_cast<unsigned>(drawn) * gridDim.x);
        signal_barrier(full);
        ++drawn;
    }
};

}  // namespace heptad::cuda::fused
