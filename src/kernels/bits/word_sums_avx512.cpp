// The sums with the vectors of this file's flags.
#if defined(__x86_64__)

#include "kernels/bits/word_sums_kernel.hpp"

namespace heptad::bits {
namespace {

using Line __attribute__((vector_size(64))) = std::uint64_t;

}  // namespace

void word_sum_avx512(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds) {
    adds ? sum_any<Line, true>(to, from, count, words) : sum_any<Line, false>(to, from, count, words);
}

}  // namespace heptad::bits

#endif
