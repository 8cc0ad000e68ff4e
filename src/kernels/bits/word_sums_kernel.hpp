// The sums of word_sums.hpp with vectors of `Line`, which each instruction set gives. Compiled once per set, inside an
// unnamed namespace.
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/bits/word_sums.hpp"

namespace heptad::bits {
namespace {

template <class Line>
Line load_line(const std::uint64_t* from) {
    Line line;
    std::memcpy(&line, from, sizeof line);
    return line;
}

/// `terms` sources, or more if it is 4.
template <class Line, int terms, bool adds>
void sum_lines(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words) {
    // Copies, which the stores below cannot reach: the compiler keeps them in registers.
    const std::uint64_t* source[std::size_t{terms}];
    for (int t = 0; t < terms; ++t) {
        source[t] = from[t];
    }
    for (std::int64_t i = 0; i < words; i += static_cast<std::int64_t>(sizeof(Line) / 8)) {
        Line sum = load_line<Line>(source[0] + i);
        for (int t = 1; t < terms; ++t) {
            sum ^= load_line<Line>(source[t] + i);
        }
        if constexpr (terms == 4) {
            for (int t = 4; t < count; ++t) {
                sum ^= load_line<Line>(from[t] + i);
            }
        }
        if constexpr (adds) {
            sum ^= load_line<Line>(to + i);
        }
        std::memcpy(to + i, &sum, sizeof sum);
    }
}

template <class Line, bool adds>
void sum_any(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words) {
    switch (count) {
        case 1:
            return sum_lines<Line, 1, adds>(to, from, count, words);
        case 2:
            return sum_lines<Line, 2, adds>(to, from, count, words);
        case 3:
            return sum_lines<Line, 3, adds>(to, from, count, words);
        default:
            return sum_lines<Line, 4, adds>(to, from, count, words);
    }
}

}  // namespace
}  // namespace heptad::bits
