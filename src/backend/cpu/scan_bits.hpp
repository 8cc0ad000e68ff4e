// Largest bit pattern with the sign bit cleared. Only for microkernel_<set>.cpp.
#pragma once

#include "backend/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

/// T is the signed integer of the format's size; cleared patterns are never negative, so signed comparisons do.
template <class T>
T max_bits(const T* from, std::int64_t count) {
    constexpr int width = lanes<T>;
    constexpr T cleared = static_cast<T>(~(std::uint64_t{1} << (8 * sizeof(T) - 1)));
    constexpr int chains = 8;
    constexpr std::int64_t step = chains * std::int64_t{width};
    Vector<T> largest[chains] = {};
    std::int64_t i = 0;
    for (; i + step <= count; i += step) {
        HEPTAD_UNROLL
        for (int v = 0; v < chains; ++v) {
            const Vector<T> x = load(from + i + v * width) & cleared;
            largest[v] = x > largest[v] ? x : largest[v];
        }
    }
    T result = 0;
    for (int v = 0; v < chains; ++v) {
        for (int l = 0; l < width; ++l) {
            result = largest[v][l] > result ? largest[v][l] : result;
        }
    }
    for (; i < count; ++i) {
        const T x = static_cast<T>(from[i] & cleared);
        result = x > result ? x : result;
    }
    return result;
}

}  // namespace
}  // namespace heptad::cpu
