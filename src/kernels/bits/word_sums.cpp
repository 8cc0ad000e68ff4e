// The sums with the vectors that every processor of the architecture has, and the choice between the versions.
#include "base/shared_state.hpp"
#include "kernels/bits/word_sums_kernel.hpp"

namespace heptad::bits {
namespace {

using Line __attribute__((vector_size(16))) = std::uint64_t;

}  // namespace

void word_sum_plain(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds) {
    adds ? sum_any<Line, true>(to, from, count, words) : sum_any<Line, false>(to, from, count, words);
}

WordSum word_sum() {
    static constinit Once<WordSum> chosen;
    return chosen.get([] {
        WordSum best = word_sum_plain;
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512f")) {
            best = word_sum_avx512;
        } else if (__builtin_cpu_supports("avx2")) {
            best = word_sum_avx2;
        }
#endif
        return best;
    });
}

}  // namespace heptad::bits
