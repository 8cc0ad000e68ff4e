#include "base/half.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace heptad {
namespace {

/// Rounds away the low `drop` significand bits, to nearest even. A carry into the exponent is right: it is the next
/// binade.
std::uint32_t round_bits(std::uint32_t bits, int drop) {
    const std::uint32_t odd = (bits >> drop) & 1U;
    return bits + ((1U << (drop - 1)) - 1U) + odd;
}

}  // namespace

float to_float(bf16 x) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

bf16 to_bf16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (std::isnan(x)) {
        return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
    }
    return {static_cast<std::uint16_t>(round_bits(bits, 16) >> 16)};
}

float round_to_tf32(float x) {
    if (!std::isfinite(x)) {
        return x;
    }
    return std::bit_cast<float>(round_bits(std::bit_cast<std::uint32_t>(x), 13) & ~0x1fffU);
}

float to_float(f16 x) {
    const auto sign = static_cast<std::uint32_t>(x.bits & 0x8000U) << 16;
    const std::uint32_t exponent = (x.bits >> 10) & 0x1fU;
    const std::uint32_t fraction = x.bits & 0x3ffU;
    if (exponent == 0x1f) {
        return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
    }
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, exact in f32
        const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
        return sign != 0 ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (fraction << 13));
}

f16 to_f16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
        return {static_cast<std::uint16_t>(sign | 0x7e00U)};
    }
    if (magnitude >= 0x477ff000U) {  // rounds to 65536 or more
        return {static_cast<std::uint16_t>(sign | 0x7c00U)};
    }
    if (magnitude < 0x38800000U) {  // below 2^-14: subnormal; adding 0.5 aligns the last place to 2^-24 and rounds
        const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
        return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000U))};
    }
    return {static_cast<std::uint16_t>(sign | ((round_bits(magnitude, 13) >> 13) - (112U << 10)))};
}

}  // namespace heptad
