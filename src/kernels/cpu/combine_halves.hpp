// Conversions between 16-bit floats and f32 over runs, and rounding to tf32; the values are those of base/half.hpp.
// Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

inline std::uint32_t bits_of(float x) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float float_of(std::uint32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

// Branchless bodies, so that the compiler turns the loops into vectors.

inline void widen_bf16(const std::uint16_t* __restrict from, float* __restrict to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = float_of(static_cast<std::uint32_t>(from[i]) << 16);
    }
}

inline void narrow_bf16(const float* __restrict from, std::uint16_t* __restrict to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t bits = bits_of(from[i]);
        const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
        const std::uint32_t nan = bits | 0x400000U;
        to[i] = static_cast<std::uint16_t>(((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded) >> 16);
    }
}

inline void widen_f16(const std::uint16_t* __restrict from, float* __restrict to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t half = from[i];
        const std::uint32_t sign = (half & 0x8000U) << 16;
        const std::uint32_t magnitude = half & 0x7fffU;
        // Moved into place, the exponent is 112 too small; a product by 2^112 sets it right, subnormals included.
        const std::uint32_t number = bits_of(float_of(magnitude << 13) * 0x1p112F);
        const std::uint32_t special = 0x7f800000U | (magnitude << 13);
        to[i] = float_of(sign | (magnitude >= 0x7c00U ? special : number));
    }
}

inline void narrow_f16(const float* __restrict from, std::uint16_t* __restrict to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t bits = bits_of(from[i]);
        const std::uint32_t sign = (bits >> 16) & 0x8000U;
        const std::uint32_t magnitude = bits & 0x7fffffffU;
        const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
        const std::uint32_t normal = (rounded >> 13) - (112U << 10);
        // Adding 0.5 aligns the last place to 2^-24, that of a subnormal half, and rounds.
        const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0.5F) - 0x3f000000U;
        const std::uint32_t number = magnitude < 0x38800000U ? subnormal : normal;
        const std::uint32_t finite = magnitude >= 0x477ff000U ? 0x7c00U : number;
        to[i] = static_cast<std::uint16_t>(sign | (magnitude > 0x7f800000U ? 0x7e00U : finite));
    }
}

inline void round_tf32(const float* from, float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t bits = bits_of(from[i]);
        const std::uint32_t rounded = (bits + 0xfffU + ((bits >> 13) & 1U)) & ~0x1fffU;
        to[i] = float_of((bits & 0x7f800000U) == 0x7f800000U ? bits : rounded);
    }
}

}  // namespace
}  // namespace heptad::cpu
