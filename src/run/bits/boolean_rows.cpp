#include "run/bits/boolean_rows.hpp"

#include <bit>
#include <vector>

#include "base/size.hpp"

namespace heptad::bits {
namespace {

/// Words of C's rows that are made at a time: the part of B they come from (k times 128 bytes) shall stay in the L2
/// cache from row to row.
constexpr int kPanelWords = 16;
constexpr std::int64_t kBandRows = 1024;

/// For each row the columns that hold a one.
struct OnesOfRows {
    std::vector<std::int64_t> starts;  // rows + 1
    std::vector<std::int64_t> columns;
};

OnesOfRows list_ones(const ConstBitView& a) {
    OnesOfRows ones;
    ones.starts.push_back(0);
    ones.columns.reserve(static_cast<std::size_t>(count_ones(a)));
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t w = 0; w < words_of(a.cols); ++w) {
            for (std::uint64_t word = load_word(a, i, w); word != 0; word &= word - 1) {
                ones.columns.push_back(w * kWordBits + std::countr_zero(word));
            }
        }
        ones.starts.push_back(static_cast<std::int64_t>(ones.columns.size()));
    }
    return ones;
}

/// sum |= words [first, first + count) of a row of b. Bits beyond its last column may come along.
void add_row(const ConstBitView& b, std::int64_t row, std::int64_t first, int count, std::uint64_t* sum) {
    const std::uint64_t* from = b.words + row * b.stride + first;
    if (b.offset != 0) {
        for (int w = 0; w < count; ++w) {
            sum[w] |= load_word(b, row, first + w);
        }
    } else if (count == kPanelWords) {
        for (int w = 0; w < kPanelWords; ++w) {
            sum[w] |= from[w];
        }
    } else {
        for (int w = 0; w < count; ++w) {
            sum[w] |= from[w];
        }
    }
}

}  // namespace

bool meets_rows_once(const ConstBitView& a) {
    std::int64_t ones = 0;
    for (std::int64_t i = 0; i < a.rows && ones <= a.cols; ++i) {
        ones += count_ones(a.block(i, 0, 1, a.cols));
    }
    return ones <= a.cols;
}

void multiply_boolean_rows(const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                           ThreadPool& pool, const RunHooks& hooks) {
    const OnesOfRows ones = list_ones(a);
    const std::int64_t words = words_of(c.cols);
    const std::int64_t bands = ceil_div(c.rows, kBandRows);
    WorkMeter meter(hooks, static_cast<double>(bands));
    // A task has whole rows, because two panels of a row may share a word of C.
    pool.run(bands, [&](std::int64_t band) {
        const std::int64_t last = std::min(c.rows, (band + 1) * kBandRows);
        for (std::int64_t first = 0; first < words; first += kPanelWords) {
            meter.stop_if_cancelled();
            const int count = static_cast<int>(std::min<std::int64_t>(kPanelWords, words - first));
            for (std::int64_t i = band * kBandRows; i < last; ++i) {
                std::uint64_t sum[kPanelWords] = {};
                const std::int64_t end = ones.starts[static_cast<std::size_t>(i + 1)];
                for (std::int64_t p = ones.starts[static_cast<std::size_t>(i)]; p < end; ++p) {
                    add_row(b, ones.columns[static_cast<std::size_t>(p)], first, count, sum);
                }
                for (int w = 0; w < count; ++w) {
                    accumulate ? store_word<Store::inclusive_or>(c, i, first + w, sum[w])
                               : store_word<Store::assign>(c, i, first + w, sum[w]);
                }
            }
        }
        meter.advance(1);
    });
}

}  // namespace heptad::bits
