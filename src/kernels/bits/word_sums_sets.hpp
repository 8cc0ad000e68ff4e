// The versions that word_sum() chooses from.
#pragma once

#include <cstdint>

namespace heptad::bits {

void word_sum_plain(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds);
#if defined(__x86_64__)
void word_sum_avx2(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds);
void word_sum_avx512(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds);
#endif

}  // namespace heptad::bits
