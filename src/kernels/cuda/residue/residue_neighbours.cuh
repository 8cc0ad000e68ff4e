// Neighbours of a line, read 16 bytes at a time on whatever boundary the line begins.
#pragma once

#include "kernels/cuda/residue/residue_complex.cuh"

namespace heptad::cuda {
namespace {

/// Numbers in 16 bytes.
template <class T>
constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));

/// From a boundary. By numbers, not by words of 32 bits: where those are put together to doubles first, a load is
/// waited for before the next one starts.
template <class T>
__device__ __forceinline__ void load_vector(const T* from, T* to) {
    if constexpr (sizeof(PartOf<T>) == 8) {
        reinterpret_cast<double2*>(to)[0] = __ldg(reinterpret_cast<const double2*>(from));
    } else {
        reinterpret_cast<float4*>(to)[0] = __ldg(reinterpret_cast<const float4*>(from));
    }
}

/// How many numbers there are between the last boundary and this one.
template <class T>
__device__ __forceinline__ int place_in_vector(const T* at) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % 16 / sizeof(T));
}

/// `Count` neighbours. All that a thread wants is loaded first and taken then, so that it is on its way together.
template <class T, int Count>
struct Neighbours {
    static constexpr int kOf = kOfVector<T>;
    // Numbers of 8 bytes that do not begin on a boundary are read one by one: others with them would have no registers.
    static constexpr int kMore = sizeof(T) == 4 ? kOf : 0;
    alignas(16) T read[Count + kMore];
    int before;  // others that were read with them

    /// Numbers p, p + 1, ... of a line that has so many; zeros behind its end. Nothing outside of the line is read.
    __device__ __forceinline__ void load(const T* line, std::int64_t stride, std::int64_t p, std::int64_t end) {
        const T* const at = line + p * stride;
        before = place_in_vector(at);
        if (stride == 1 && before <= p && p - before + (before == 0 ? Count : Count + kMore) <= end &&
            (before == 0 || kMore > 0)) {
#pragma unroll
            for (int e = 0; e < Count; e += kOf) {
                load_vector(at - before + e, read + e);
            }
            if constexpr (kMore > 0) {
                if (before != 0) {
                    load_vector(at - before + Count, read + Count);
                }
            }
            return;
        }
        before = 0;
#pragma unroll
        for (int e = 0; e < Count; ++e) {
            read[e] = p + e < end ? load_constant(at + e * stride) : T{};
        }
    }

    __device__ __forceinline__ void take(T (&to)[Count]) {
        if (kMore > 0 && before != 0) {
#pragma unroll
            for (int step = kMore / 2; step > 0; step /= 2) {
#pragma unroll
                for (int e = 0; e + step < Count + kMore; ++e) {
                    read[e] = (before & step) != 0 ? read[e + step] : read[e];
                }
            }
        }
#pragma unroll
        for (int e = 0; e < Count; ++e) {
            to[e] = read[e];
        }
    }
};

}  // namespace
}  // namespace heptad::cuda
