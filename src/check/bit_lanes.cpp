#include "check/bit_lanes.hpp"

#include <algorithm>

#include "base/bit_words.hpp"
#include "base/size.hpp"

namespace heptad::check {
namespace {

/// Columns whose tables are made together: 512 tables of 256 words, which an L2 cache holds.
constexpr std::int64_t kTableColumns = 4096;
constexpr std::int64_t kRowsPerTask = 64;

}  // namespace

/// Eight columns at a time, by a table of the 256 sums of their x.
void add_bit_lanes(const ConstBitView& v, const std::vector<std::uint64_t>& x, std::uint64_t* sums, ThreadPool& pool) {
    std::vector<std::uint64_t> tables(static_cast<std::size_t>(kTableColumns / 8 * 256));
    for (std::int64_t first = 0; first < v.cols; first += kTableColumns) {
        const std::int64_t cols = std::min(kTableColumns, v.cols - first);
        for (std::int64_t group = 0; group < ceil_div(cols, 8); ++group) {
            std::uint64_t* table = tables.data() + group * 256;
            table[0] = 0;
            for (std::int64_t bit = 0; bit < 8; ++bit) {
                const std::int64_t column = first + 8 * group + bit;
                const std::uint64_t term = column < v.cols ? x[static_cast<std::size_t>(column)] : 0;
                for (std::int64_t entry = 0; entry < std::int64_t{1} << bit; ++entry) {
                    table[(std::int64_t{1} << bit) + entry] = table[entry] ^ term;
                }
            }
        }
        pool.run(ceil_div(v.rows, kRowsPerTask), [&](std::int64_t task) {
            const std::int64_t last = std::min(v.rows, (task + 1) * kRowsPerTask);
            for (std::int64_t i = task * kRowsPerTask; i < last; ++i) {
                std::uint64_t sum = 0;
                for (std::int64_t w = 0; w < bits::words_of(cols); ++w) {
                    const std::uint64_t word = bits::load_word(v, i, first / bits::kWordBits + w);
                    const std::uint64_t* table = tables.data() + w * 8 * 256;
                    for (std::int64_t byte = 0; byte < 8; ++byte) {
                        // A byte beyond the last column is zero, and entry 0 of any table too.
                        const std::uint64_t entry = (word >> (8 * byte)) & 0xff;
                        sum ^= entry != 0 ? table[byte * 256 + static_cast<std::int64_t>(entry)] : 0;
                    }
                }
                sums[i] ^= sum;
            }
        });
    }
}

}  // namespace heptad::check
