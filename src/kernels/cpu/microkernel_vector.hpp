// Vectors of the instruction set that the including file is compiled for: the compilers' own vector arithmetic, plus
// the few operations that have to be asked for by name (fused multiply-add, broadcast lanes).
// Only for microkernel_<set>.cpp, which defines HEPTAD_VECTOR_BYTES first.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(HEPTAD_NEON)
#include <arm_neon.h>
#endif
#if defined(HEPTAD_AVX2) || defined(HEPTAD_AVX512)
#include <immintrin.h>
#endif

#define HEPTAD_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#define HEPTAD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HEPTAD_UNROLL _Pragma("GCC unroll 64")
#endif

#ifndef HEPTAD_VECTOR_BYTES
#define HEPTAD_VECTOR_BYTES \
    16  // each instruction set says its own before including this; alone, the header still compiles
#endif

namespace heptad::cpu {
namespace {

template <class T, int bytes>
struct VectorType {
    typedef T type __attribute__((vector_size(bytes)));  // NOLINT(modernize-use-using): GCC drops the attribute there
};
template <class T, int bytes = HEPTAD_VECTOR_BYTES>
using Vector = typename VectorType<T, bytes>::type;

template <class T>
constexpr int lanes = HEPTAD_VECTOR_BYTES / static_cast<int>(sizeof(T));

#if defined(HEPTAD_NEON) || defined(HEPTAD_AVX512)
constexpr int vector_registers = 32;
#else
constexpr int vector_registers = 16;
#endif

/// A plain array whose length is an int.
template <class T, int length>
using Array = T[static_cast<std::size_t>(length)];

template <class V, class T>
HEPTAD_INLINE V load_as(const T* from) {
    V v;
    __builtin_memcpy(&v, from, sizeof(V));
    return v;
}
template <class T>
HEPTAD_INLINE Vector<T> load(const T* from) {
    return load_as<Vector<T>>(from);
}
template <class V, class T>
HEPTAD_INLINE void store(T* to, V v) {
    __builtin_memcpy(to, &v, sizeof(V));
}
/// Stores that do not read the lines they overwrite and leave the caches alone: passes over memory that is used again
/// only much later move a third less and more. Without such an instruction, ordinary ones. `to` lies on a vector
/// boundary.
template <class V, class T>
HEPTAD_INLINE void store_past_caches(T* to, V v) {
#if defined(HEPTAD_AVX512)
    if constexpr (sizeof(V) == 64) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(v));
        return;
    }
#elif defined(HEPTAD_AVX2)
    if constexpr (sizeof(V) == 32) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(v));
        return;
    }
#endif
    store(to, v);
}
#if defined(HEPTAD_AVX512) || defined(HEPTAD_AVX2)
constexpr bool has_streams = true;
inline void finish_streams() {
    _mm_sfence();
}
#else
constexpr bool has_streams = false;
inline void finish_streams() {}
#endif
template <class T>
HEPTAD_INLINE Vector<T> broadcast(T x) {
    return x - Vector<T>{};  // x - 0 keeps every value, the sign of zero too
}

/// Floats: of the integers, only those of 32 bits have an instruction of their own for what follows, on NEON.
template <class T>
constexpr bool is_real = static_cast<T>(-1) < static_cast<T>(0);

// acc + x * y, fused for floats where the processor can.
template <class T>
HEPTAD_INLINE Vector<T> multiply_add(Vector<T> x, Vector<T> y, Vector<T> acc) {
#if defined(HEPTAD_NEON)
    if constexpr (is_real<T> && sizeof(T) == 8) {
        return vfmaq_f64(acc, x, y);
    } else if constexpr (is_real<T>) {
        return vfmaq_f32(acc, x, y);
    } else if constexpr (sizeof(T) == 4) {
        return vmlaq_u32(acc, x, y);
    }
#elif defined(HEPTAD_AVX512)
    if constexpr (is_real<T> && sizeof(T) == 8) {
        return _mm512_fmadd_pd(x, y, acc);
    } else if constexpr (is_real<T>) {
        return _mm512_fmadd_ps(x, y, acc);
    }
#elif defined(HEPTAD_AVX2)
    if constexpr (is_real<T> && sizeof(T) == 8) {
        return _mm256_fmadd_pd(x, y, acc);
    } else if constexpr (is_real<T>) {
        return _mm256_fmadd_ps(x, y, acc);
    }
#endif
    return acc + x * y;
}

// acc + x * y for one x. NEON multiplies by a scalar register: a broadcast would take a place among the
// multiplications.
template <class T>
HEPTAD_INLINE Vector<T> multiply_add_scalar(T x, Vector<T> y, Vector<T> acc) {
#if defined(HEPTAD_NEON)
    if constexpr (is_real<T> && sizeof(T) == 8) {
        return vfmaq_n_f64(acc, y, x);
    } else if constexpr (is_real<T>) {
        return vfmaq_n_f32(acc, y, x);
    } else if constexpr (sizeof(T) == 4) {
        return vmlaq_n_u32(acc, y, x);
    } else {
        return acc + x * y;
    }
#else
    return multiply_add<T>(broadcast(x), y, acc);
#endif
}

// Scalars of A enter a tile in groups: NEON multiplies by a lane of a register, the others broadcast from memory.
#if defined(HEPTAD_NEON)
template <class T>
constexpr int scalar_group = lanes<T>;
#else
template <class T>
constexpr int scalar_group = 1;
#endif

template <class T>
HEPTAD_INLINE Vector<T> load_scalars(const T* from) {
#if defined(HEPTAD_NEON)
    return load(from);
#else
    return broadcast(*from);
#endif
}

// acc + scalars[lane] * y; lane is a constant once the calling loop is unrolled.
template <class T>
HEPTAD_INLINE Vector<T> multiply_add_lane(Vector<T> scalars, int lane, Vector<T> y, Vector<T> acc) {
#if defined(HEPTAD_NEON)
    if constexpr (!is_real<T> && sizeof(T) == 8) {
        return acc + scalars[lane] * y;
    } else if constexpr (sizeof(T) == 8) {
        return lane == 0 ? vfmaq_laneq_f64(acc, y, scalars, 0) : vfmaq_laneq_f64(acc, y, scalars, 1);
    } else if constexpr (is_real<T>) {
        switch (lane) {
            case 0:
                return vfmaq_laneq_f32(acc, y, scalars, 0);
            case 1:
                return vfmaq_laneq_f32(acc, y, scalars, 1);
            case 2:
                return vfmaq_laneq_f32(acc, y, scalars, 2);
            default:
                return vfmaq_laneq_f32(acc, y, scalars, 3);
        }
    } else {
        switch (lane) {
            case 0:
                return vmlaq_laneq_u32(acc, y, scalars, 0);
            case 1:
                return vmlaq_laneq_u32(acc, y, scalars, 1);
            case 2:
                return vmlaq_laneq_u32(acc, y, scalars, 2);
            default:
                return vmlaq_laneq_u32(acc, y, scalars, 3);
        }
    }
#else
    static_cast<void>(lane);
    return multiply_add<T>(scalars, y, acc);
#endif
}

}  // namespace
}  // namespace heptad::cpu
