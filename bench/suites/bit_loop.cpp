#include "bench/suites/bit_loop.hpp"

#include <algorithm>

#include "base/bit_words.hpp"
#include "base/thread_pool.hpp"

namespace heptad::cli {
namespace {

template <class Add>
void add_rows(const BitMatrix& a, const BitMatrix& b, BitMatrix& c, int threads, Add add) {
    const std::int64_t words = bits::words_of(b.cols());
    shared_pool(threads).run(a.rows(), [&](std::int64_t i) {
        std::uint64_t* row = c.view().words + i * c.stride();
        std::fill_n(row, words, 0);
        for (std::int64_t k = 0; k < a.cols(); ++k) {
            if (a(i, k)) {
                const std::uint64_t* from = b.view().words + k * b.stride();
                for (std::int64_t w = 0; w < words; ++w) {
                    add(row[w], from[w]);
                }
            }
        }
    });
}

}  // namespace

void multiply_bits_by_loop(Type algebra, const BitMatrix& a, const BitMatrix& b, BitMatrix& c, int threads) {
    if (algebra == Type::gf2) {
        add_rows(a, b, c, threads, [](std::uint64_t& sum, std::uint64_t word) { sum ^= word; });
    } else {
        add_rows(a, b, c, threads, [](std::uint64_t& sum, std::uint64_t word) { sum |= word; });
    }
}

}  // namespace heptad::cli
