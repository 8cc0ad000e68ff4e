// How alpha, beta and combine coefficients, given as doubles, enter the exact rings. Shared by all backends so that
// they agree bit for bit.
#pragma once

#include <cmath>
#include <cstdint>

namespace heptad {

/// The residue mod 2^32 of an integer-valued double; fractions are cut off (callers refuse them beforehand).
inline std::uint32_t residue_mod_2_32(double x) {
    if (!std::isfinite(x)) {
        return 0;
    }
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::fmod(x, 0x1p32)));
}

/// The same mod 2^64.
inline std::uint64_t residue_mod_2_64(double x) {
    if (!std::isfinite(x)) {
        return 0;
    }
    const double rest = std::fmod(x, 0x1p64);
    return rest < 0 ? -static_cast<std::uint64_t>(-rest) : static_cast<std::uint64_t>(rest);
}

/// The residue mod 2 of an integer-valued double.
inline bool residue_mod_2(double x) {
    return std::isfinite(x) && (static_cast<std::int64_t>(std::fmod(x, 2.0)) & 1) != 0;
}

}  // namespace heptad
