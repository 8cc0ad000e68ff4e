// The sums of word_sums.hpp by a `Vector` of each instruction set, which has `words` 64-bit words: load, store, and
// Xor::sum2. Compiled once per set, inside an unnamed namespace.
#pragma once

#include <cstddef>

#include "kernels/bits/word_sums.hpp"

namespace heptad::bits {
namespace {

/// to (+)= the sum of `terms` sources, or of more if it is 4; from `offset` on in each of them.
template <class Vector, int terms, bool adds>
inline void sum_terms(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words,
                      std::int64_t offset) {
    // Copies, which the stores below cannot reach: the compiler keeps them in registers.
    const std::uint64_t* source[std::size_t{terms}];
    for (int t = 0; t < terms; ++t) {
        source[t] = from[t] + offset;
    }
    for (std::int64_t i = 0; i < words; i += Vector::words) {
        auto sum = Vector::load(source[0] + i);
        for (int t = 1; t < terms; ++t) {
            sum = Vector::Xor::sum2(sum, Vector::load(source[t] + i));
        }
        if constexpr (terms == 4) {
            for (int t = 4; t < count; ++t) {
                sum = Vector::Xor::sum2(sum, Vector::load(from[t] + offset + i));
            }
        }
        if constexpr (adds) {
            sum = Vector::Xor::sum2(sum, Vector::load(to + i));
        }
        Vector::store(to + i, sum);
    }
}

template <class Vector, bool adds = false>
inline void sum_words(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words,
                      std::int64_t offset = 0) {
    switch (count) {
        case 1:
            return sum_terms<Vector, 1, adds>(to, from, count, words, offset);
        case 2:
            return sum_terms<Vector, 2, adds>(to, from, count, words, offset);
        case 3:
            return sum_terms<Vector, 3, adds>(to, from, count, words, offset);
        default:
            return sum_terms<Vector, 4, adds>(to, from, count, words, offset);
    }
}

/// A WordSum.
template <class Vector>
void sum_or_add_words(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds) {
    adds ? sum_words<Vector, true>(to, from, count, words) : sum_words<Vector>(to, from, count, words);
}

}  // namespace
}  // namespace heptad::bits
