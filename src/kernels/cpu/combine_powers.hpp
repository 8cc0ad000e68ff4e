// Powers of two of rows and columns, taken in and out over runs. Only for microkernel_<set>.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/cpu/microkernel.hpp"

namespace heptad::cpu {
namespace {

/// In two steps of half the exponent, each within the range of the type, so that the power itself may be beyond it.
template <class T, class Bits>
void times_powers(T* __restrict values, std::int64_t count, std::int32_t row, const std::int32_t* __restrict cols,
                  int sign) {
    constexpr int significand = std::numeric_limits<T>::digits - 1;
    constexpr std::int32_t bias = std::numeric_limits<T>::max_exponent - 1;
    constexpr std::int32_t most = 2 * bias - 2;
    const auto power = [](std::int32_t exponent) __attribute__((always_inline)) {
        const Bits bits = static_cast<Bits>(exponent + bias) << significand;
        T x;
        __builtin_memcpy(&x, &bits, sizeof x);
        return x;
    };
    if (cols == nullptr) {
        const std::int32_t exponent = std::clamp(sign * row, -most, most);
        const T first = power(exponent / 2), second = power(exponent - exponent / 2);
        for (std::int64_t j = 0; j < count; ++j) {
            values[j] = values[j] * first * second;
        }
        return;
    }
    for (std::int64_t j = 0; j < count; ++j) {
        const std::int32_t wanted = sign * (row + cols[j]);
        const std::int32_t below = wanted < most ? wanted : most;
        const std::int32_t exponent = below > -most ? below : -most;
        const std::int32_t half = exponent >> 1;
        values[j] = values[j] * power(half) * power(exponent - half);
    }
}

}  // namespace
}  // namespace heptad::cpu
