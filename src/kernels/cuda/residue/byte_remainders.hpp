// Integers modulo each modulus: their bytes times powers of 256 modulo it are summed up, and of that sum the remainder
// is taken, with the quotient by a magic number in floating point. The host compiles it too, for its tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/host_and_device.hpp"
#include "base/moduli.hpp"

namespace heptad::cuda {

/// Added to a number of moderate size, it leaves the integer part in the lower bits, and its bits plus a small integer
/// are those of the sum.
inline constexpr float kToInteger = 12582912.0F;  // 1.5 * 2^23

struct ModulusConstants {
    int powers[kMostModuli][2];  // of 256, modulo each, in bytes
    float modulus[kMostModuli], reciprocal[kMostModuli];
    int minus_modulus[kMostModuli];
    int sum_start[kMostModuli];         // the bits of a float, a multiple of 256 p, whose last place is one
    float quotient_start[kMostModuli];  // kToInteger less the quotient of that multiple
};

inline ModulusConstants modulus_constants() {
    constexpr int kLastPlaceIsOne = 1 << 23, kMostOfSum = 8 * 128 * 128;
    ModulusConstants constants{};
    for (std::size_t t = 0; t < kModuli.size(); ++t) {
        const int p = kModuli[t], multiple = p % 2 == 0 ? p : 256 * p;
        int power = 1;
        for (int i = 0; i < 8; ++i) {
            constants.powers[t][i / 4] |= (power & 0xff) << (i % 4 * 8);
            power = power * 256 % p;
            power = power > p / 2 ? power - p : power < -p / 2 ? power + p : power;
        }
        constants.modulus[t] = static_cast<float>(p);
        constants.reciprocal[t] = static_cast<float>(1.0 / p);
        constants.minus_modulus[t] = -p;
        const int start = (kLastPlaceIsOne + kMostOfSum + multiple - 1) / multiple * multiple;
        constants.sum_start[t] = __builtin_bit_cast(int, static_cast<float>(start));
        constants.quotient_start[t] = kToInteger - static_cast<float>(start / p);
    }
    return constants;
}

/// Signed bytes, from the lowest one on, of an integer that is congruent modulo 2^64: 128 is added to every byte and
/// taken off again, without a carry.
HEPTAD_HOST_AND_DEVICE std::uint64_t signed_bytes(std::uint64_t integer) {
    constexpr std::uint64_t kMiddles = 0x8080808080808080U;
    return (integer + kMiddles) ^ kMiddles;
}

/// In the lowest byte, what the bits of sum_start plus a sum of eight bytes times eight bytes stand for, from -p/2 to
/// p/2; -128 for 127 where p = 255. The reciprocal's error times the start counts as half of one at most, which no sum
/// but those is so near to.
HEPTAD_HOST_AND_DEVICE unsigned byte_of_sum(const ModulusConstants& constants, int t, int sum) {
    const float quotient =
        std::fma(__builtin_bit_cast(float, sum), constants.reciprocal[t], constants.quotient_start[t]);
    return static_cast<unsigned>(sum) +
           static_cast<unsigned>(constants.minus_modulus[t]) * __builtin_bit_cast(unsigned, quotient);
}

}  // namespace heptad::cuda
