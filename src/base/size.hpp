// Checked 64-bit size arithmetic: sizes are never negative and never wrap.
#pragma once

#include <cstdint>

#include "base/error.hpp"

namespace heptad {

inline std::int64_t checked_add(std::int64_t x, std::int64_t y) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(x, y, &sum)) {
        fail(ErrorCode::input, "{} + {} does not fit in 64 bits; use smaller matrices", x, y);
    }
    return sum;
}

inline std::int64_t checked_mul(std::int64_t x, std::int64_t y) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(x, y, &product)) {
        fail(ErrorCode::input, "{} * {} does not fit in 64 bits; use smaller matrices", x, y);
    }
    return product;
}

/// Smallest multiple of `unit` that is >= x.
inline std::int64_t round_up(std::int64_t x, std::int64_t unit) {
    return checked_mul(checked_add(x, unit - 1) / unit, unit);
}

inline std::int64_t ceil_div(std::int64_t x, std::int64_t y) {
    return (x + y - 1) / y;
}

inline std::int64_t integer_power(std::int64_t base, int exponent) {
    std::int64_t result = 1;
    for (int i = 0; i < exponent; ++i) {
        result = checked_mul(result, base);
    }
    return result;
}

}  // namespace heptad
