// Products of complex numbers modulo p, by three real ones: with P = re a re b, Q = im a im b and
// R = (re a + im a)(re b + im b),
//
//   re(a b) = P - Q,   im(a b) = R - P - Q,
//
// which is exact modulo p. Bytes come four to a word.
#pragma once

#include <cstdint>

#include "base/host_and_device.hpp"

namespace heptad::cuda {

/// Planes of each modulus: real parts, imaginary parts and their sums.
inline constexpr int kComplexParts = 3;

namespace detail {
/// Calls `f` with the bytes of two words in lanes of 16 bits, and takes the lower bytes of what it returns.
template <class F>
HEPTAD_HOST_AND_DEVICE std::uint32_t in_lanes(std::uint32_t x, std::uint32_t y, F&& f) {
    constexpr std::uint32_t kBytes = 0x00ff00ffU;
    return (f(x & kBytes, y & kBytes) & kBytes) | (f(x >> 8 & kBytes, y >> 8 & kBytes) & kBytes) << 8;
}
}  // namespace detail

/// x + y modulo p of bytes with a sign. Residues of either are within p / 2, the sum's within -128 and 127.
HEPTAD_HOST_AND_DEVICE std::uint32_t sum_of_bytes(std::uint32_t x, std::uint32_t y, std::uint32_t p) {
    constexpr std::uint32_t kEach = 0x00010001U, kSigns = 0x80808080U;
    return detail::in_lanes(x ^ kSigns, y ^ kSigns, [p](std::uint32_t u, std::uint32_t v) {
        const std::uint32_t sum = u + v;  // 256 more than it is
        const std::uint32_t above = (sum + 128 * kEach) >> 9 & kEach, not_below = (sum + 384 * kEach) >> 9 & kEach;
        return sum + above * (256 - p) + (kEach - not_below) * p;
    });
}

/// x - y modulo p, all three from 0 to p.
HEPTAD_HOST_AND_DEVICE std::uint32_t difference_of_bytes(std::uint32_t x, std::uint32_t y, std::uint32_t p) {
    constexpr std::uint32_t kEach = 0x00010001U;
    return detail::in_lanes(x, y, [p](std::uint32_t u, std::uint32_t v) {
        const std::uint32_t difference = u + 256 * kEach - v;
        return difference + (kEach - (difference >> 8 & kEach)) * p;
    });
}

/// The parts of four entries of C from their three products.
struct ComplexBytes {
    std::uint32_t real, imaginary;
};
HEPTAD_HOST_AND_DEVICE ComplexBytes complex_bytes(std::uint32_t of_reals, std::uint32_t of_imaginaries,
                                                  std::uint32_t of_sums, std::uint32_t p) {
    return {difference_of_bytes(of_reals, of_imaginaries, p),
            difference_of_bytes(difference_of_bytes(of_sums, of_reals, p), of_imaginaries, p)};
}

}  // namespace heptad::cuda
