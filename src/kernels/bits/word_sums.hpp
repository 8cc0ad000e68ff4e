// to = x1 ^ ... ^ xs and to ^= x1 ^ ... ^ xs over arrays of words: the additions of the levels. One version per
// instruction set, because these passes are limited by loads and stores.
#pragma once

#include <cstdint>

namespace heptad::bits {

inline constexpr int kMostTerms = 64;

/// `words` is a multiple of 8; `count` from 1 to kMostTerms. `to` may be one of the sources.
using WordSum = void (*)(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds);

/// The widest version that this processor can run.
WordSum word_sum();

}  // namespace heptad::bits
