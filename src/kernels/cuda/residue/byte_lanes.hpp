// Sums of bytes times integers, two to a word of 32 bits with sixteen bits each, and their remainders modulo p. The
// host compiles it too, for its tests.
#pragma once

#include <cstdint>

#include "base/host_and_device.hpp"
#include "base/moduli.hpp"
#include "kernels/cuda/residue/byte_remainders.hpp"

namespace heptad::cuda {

/// Four bytes, or four sums of them: the first two, and the others. As an integer a word is the lower lane plus 2^16
/// times the upper one, whatever their signs, so words can be added up and multiplied.
struct alignas(8) ByteLanes {
    std::uint32_t first = 0, others = 0;
    HEPTAD_HOST_AND_DEVICE void add(std::int32_t coefficient, const ByteLanes& x) {
        first += static_cast<std::uint32_t>(coefficient) * x.first;
        others += static_cast<std::uint32_t>(coefficient) * x.others;
    }
};

static_assert(kMostPlaneSum * 255 < 1 << 15);

/// With or without signs.
template <bool HasSigns>
HEPTAD_HOST_AND_DEVICE ByteLanes lanes_of_bytes(std::uint32_t bytes) {
    const auto lane = [](std::uint32_t byte) {
        return HasSigns ? static_cast<std::uint32_t>(static_cast<std::int8_t>(byte)) : byte & 0xffU;
    };
    return {lane(bytes) + (lane(bytes >> 8) << 16), lane(bytes >> 16) + (lane(bytes >> 24) << 16)};
}

/// What sums of lanes start from, so that no lane borrows from its neighbour.
HEPTAD_HOST_AND_DEVICE ByteLanes start_of_lanes() {
    constexpr std::uint32_t kMiddles = 0x80008000U;
    return {kMiddles, kMiddles};
}

/// In the lowest byte, a lane's sum modulo p: from -p/2 to p/2, or from 0 to p - 1 with `middle` = (p - 1) / 2.
HEPTAD_HOST_AND_DEVICE std::uint32_t byte_of_lane(std::uint32_t lane, float p, float reciprocal, float middle) {
    constexpr std::uint32_t kLastPlaceIsOne = 0x4b000000U;  // 2^23 as a float
    constexpr float kStart = 8388608.0F + 32768.0F;
    const float x = __builtin_bit_cast(float, kLastPlaceIsOne | lane) - kStart;
    // But for p = 256, where nothing rounds, no x - middle is in the middle between two multiples of p, so the
    // reciprocal's own rounding does not matter.
    const float quotient = std::fma(x - middle, reciprocal, kToInteger) - kToInteger;
    return __builtin_bit_cast(std::uint32_t, std::fma(-p, quotient, x) + kToInteger);
}

HEPTAD_HOST_AND_DEVICE std::uint32_t bytes_of_lanes(const ByteLanes& sums, float p, float reciprocal, float middle) {
    const auto byte = [&](std::uint32_t lane) { return byte_of_lane(lane, p, reciprocal, middle) & 0xffU; };
    return byte(sums.first & 0xffffU) | byte(sums.first >> 16) << 8 | byte(sums.others & 0xffffU) << 16 |
           byte(sums.others >> 16) << 24;
}

}  // namespace heptad::cuda
