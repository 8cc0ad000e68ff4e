// Entries of a row of C that the lanes of a warp make, some neighbours each, stored side by side. The row begins on any
// boundary: stored by the lanes that made them, entries that cannot go in 16 bytes would each be a write to the L2
// cache.
#pragma once

#include <cstdint>
#include <type_traits>

namespace heptad::cuda {
namespace {

/// In shared memory, one for each warp.
template <class T, int Each>
struct alignas(16) WarpEntries {
    static constexpr int kCount = 32 * Each;
    T entry[kCount];

    /// Where a lane puts what it made.
    __device__ __forceinline__ T* of_lane() { return entry + threadIdx.x % 32 * Each; }

    /// The first `count` of them. Every lane calls it, having put its own.
    __device__ __forceinline__ void store(T* to, std::int64_t count, std::int64_t stride) const {
        using Word = std::conditional_t<sizeof(T) == 4, unsigned, std::conditional_t<sizeof(T) == 8, uint2, uint4>>;
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const auto* const own = reinterpret_cast<const Word*>(entry) + lane;
        __syncwarp();
        if (count >= kCount && stride == 1) {
#pragma unroll
            for (int e = 0; e < kCount; e += 32) {
                __stcs(reinterpret_cast<Word*>(to) + lane + e, own[e]);
            }
        } else {
#pragma unroll
            for (int e = 0; e < kCount; e += 32) {
                if (lane + e < count) {
                    __stcs(reinterpret_cast<Word*>(to) + (lane + e) * stride, own[e]);
                }
            }
        }
        __syncwarp();  // before the next ones are put
    }
};

/// A lane's own neighbours, the first `count` of them, 16 bytes at a time where they begin on a boundary.
template <class T, int Each>
__device__ __forceinline__ void store_entries(const T (&made)[Each], std::int64_t count, T* to, std::int64_t stride) {
    if (stride == 1 && count >= Each && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
#pragma unroll
        for (int v = 0; v < static_cast<int>(sizeof(made)) / 16; ++v) {
            __stcs(reinterpret_cast<uint4*>(to) + v, reinterpret_cast<const uint4*>(made)[v]);
        }
        return;
    }
#pragma unroll
    for (int e = 0; e < Each; ++e) {
        if (e < count) {
            to[e * stride] = made[e];
        }
    }
}

/// Neighbours that begin on a boundary there.
template <class T, int Count>
__device__ __forceinline__ void put_entries(const T (&made)[Count], T* to) {
#pragma unroll
    for (int v = 0; v < static_cast<int>(sizeof(made)) / 16; ++v) {
        reinterpret_cast<uint4*>(to)[v] = reinterpret_cast<const uint4*>(made)[v];
    }
}

}  // namespace
}  // namespace heptad::cuda
