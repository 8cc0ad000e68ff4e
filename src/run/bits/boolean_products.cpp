#include "run/bits/boolean_products.hpp"

#include <algorithm>
#include <bit>

#include "base/size.hpp"
#include "kernels/bits/leaf_layouts.hpp"

namespace heptad::bits {
namespace {

/// Words of C's rows that are made at a time: the part of B they come from (k times 128 bytes) shall stay in the L2
/// cache from row to row.
constexpr int kRowWords = 16;
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
    } else if (count == kRowWords) {
        for (int w = 0; w < kRowWords; ++w) {
            sum[w] |= from[w];
        }
    } else {
        for (int w = 0; w < count; ++w) {
            sum[w] |= from[w];
        }
    }
}

/// Rows of A that meet a part of B together, so that calling the part in costs little beside using it; fewer, but not
/// too few, where there would be less than two bands per thread.
constexpr std::int64_t kMostBandRows = 4096, kFewestBandRows = 1024;
/// Columns of A whose ones are listed at a time: the rows of a slab of B that they name (64 bytes each) take half of a
/// small L2 cache. Fewer where rows fill up before that.
constexpr std::int64_t kMostDepth = 8192, kLeastDepth = 64;
constexpr std::int64_t kSamples = 32, kRowsPerLook = 8;

bool holds_all(const std::uint64_t* row, const std::uint64_t* reachable, int words) {
    for (int w = 0; w < words; ++w) {
        if ((reachable[w] & ~row[w]) != 0) {
            return false;
        }
    }
    return true;
}

/// Rows of B that one row of a slab of C takes, and columns of A until then; not more than about `most` rows.
struct Walk {
    std::int64_t rows = 0, columns = 0;
};
Walk walk_row(const ConstBitView& a, std::int64_t row, const std::uint64_t* slab, const std::uint64_t* reachable,
              int width, std::int64_t most) {
    std::uint64_t sum[kSlabWords] = {};
    Walk walk{0, a.cols};
    for (std::int64_t w = 0; w < words_of(a.cols) && walk.rows < most; ++w) {
        for (std::uint64_t word = load_word(a, row, w); word != 0; word &= word - 1) {
            const std::int64_t column = w * kWordBits + std::countr_zero(word);
            for (int i = 0; i < width; ++i) {
                sum[i] |= slab[column * width + i];
            }
            if (++walk.rows % kRowsPerLook == 0 && holds_all(sum, reachable, width)) {
                return {walk.rows, column + 1};
            }
        }
    }
    return walk;
}

/// The ones of some rows of A in columns [first, first + depth).
class OnesList {
public:
    explicit OnesList(std::int64_t rows) : starts_(static_cast<std::size_t>(rows) + 1) {}

    /// Rows that are not open get none. `first` is a multiple of 64.
    void fill(const ConstBitView& a, std::int64_t first_row, std::int64_t first, std::int64_t depth,
              const std::vector<std::uint8_t>& open) {
        const std::int64_t last_word = words_of(std::min(first + depth, a.cols));
        std::size_t used = 0;
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (open[i] != 0) {
                if (rows_of_b_.size() < used + static_cast<std::size_t>(depth)) {
                    rows_of_b_.resize(2 * used + static_cast<std::size_t>(depth));
                }
                used = append(a, first_row + static_cast<std::int64_t>(i), first / kWordBits, last_word, used);
            }
            starts_[i + 1] = static_cast<std::int64_t>(used);
        }
    }
    bool empty() const { return starts_.back() == 0; }
    ListedOnes listed() const { return {starts_, rows_of_b_.data()}; }

private:
    std::size_t append(const ConstBitView& a, std::int64_t row, std::int64_t first_word, std::int64_t last_word,
                       std::size_t used) {
        for (std::int64_t w = first_word; w < last_word; ++w) {
            const std::int64_t base = (w - first_word) * kWordBits;
            for (std::uint64_t word = load_word(a, row, w); word != 0; word &= word - 1) {
                rows_of_b_[used++] = static_cast<std::uint16_t>(base + std::countr_zero(word));
            }
        }
        return used;
    }

    std::vector<std::int64_t> starts_;
    std::vector<std::uint16_t> rows_of_b_;
};

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
        for (std::int64_t first = 0; first < words; first += kRowWords) {
            meter.stop_if_cancelled();
            const int count = static_cast<int>(std::min<std::int64_t>(kRowWords, words - first));
            for (std::int64_t i = band * kBandRows; i < last; ++i) {
                std::uint64_t sum[kRowWords] = {};
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

BooleanSlabs::BooleanSlabs(const Leaf& leaf, const LeafShape& shape, const ConstBitView& a, const std::uint64_t* right,
                           ThreadPool& pool)
    : leaf_(leaf),
      shape_(shape),
      a_(a),
      right_(right),
      pool_(pool),
      reachable_(static_cast<std::size_t>(shape.n / 64)) {
    find_reachable();
    const std::int64_t band_rows =
        std::clamp(ceil_div(shape.m, std::int64_t{2} * pool.threads()), kFewestBandRows, kMostBandRows);
    const std::int64_t band_groups = ceil_div(band_rows, kGroupRows), groups = shape.m / kGroupRows;
    for (std::int64_t first = 0; first < groups; first += band_groups) {
        const Band band = sampled({first, std::min(first + band_groups, groups)});
        if (band.depth > 0) {
            bands_.push_back(band);
        } else if (!left_to_tables_.empty() && left_to_tables_.back().last == first) {
            left_to_tables_.back().last = band.groups.last;
        } else {
            left_to_tables_.push_back(band.groups);
        }
    }
}

const std::uint64_t* BooleanSlabs::slab(std::int64_t number) const {
    return right_ + number * kSlabWords * shape_.k;
}

void BooleanSlabs::find_reachable() {
    pool_.run(leaf_.layout->tiles(shape_.n), [&](std::int64_t number) {
        const int width = leaf_.layout->width(shape_.n, number);
        const std::uint64_t* row = slab(number);
        std::uint64_t all[kSlabWords] = {};
        for (std::int64_t k = 0; k < shape_.k; ++k, row += width) {
            for (int w = 0; w < width; ++w) {
                all[w] |= row[w];
            }
        }
        std::copy_n(all, width, reachable_.data() + number * kSlabWords);
    });
}

BooleanSlabs::Band BooleanSlabs::sampled(const GroupRange& groups) const {
    const std::int64_t first = groups.first * kGroupRows, last = std::min(groups.last * kGroupRows, a_.rows);
    const std::int64_t slabs = leaf_.layout->tiles(shape_.n);
    const double most = leaf_.rows_per_key * static_cast<double>(shape_.k) / 32;  // what the tables cost
    const std::int64_t samples = std::min(kSamples, last - first);
    double rows = 0, columns = 0;
    for (std::int64_t s = 0; s < samples; ++s) {
        const std::int64_t number = s * slabs / samples;
        const Walk walk =
            walk_row(a_, first + s * (last - first) / samples, slab(number), reachable_.data() + number * kSlabWords,
                     leaf_.layout->width(shape_.n, number), 2 * static_cast<std::int64_t>(most) + 1);
        rows += static_cast<double>(walk.rows);
        columns += static_cast<double>(walk.columns);
    }
    if (rows > most * static_cast<double>(samples)) {
        return {groups, 0};
    }
    const auto depth = static_cast<std::int64_t>(columns / static_cast<double>(std::max<std::int64_t>(samples, 1)));
    return {groups, round_up(std::clamp(depth, kLeastDepth, kMostDepth), kWordBits)};
}

void BooleanSlabs::multiply(std::uint64_t* result, WorkMeter& meter) const {
    pool_.run(static_cast<std::int64_t>(bands_.size()), [&](std::int64_t number) {
        const Band& band = bands_[static_cast<std::size_t>(number)];
        multiply_band(band, result, meter);
        meter.advance(static_cast<double>((band.groups.last - band.groups.first) * kGroupRows) *
                      static_cast<double>(shape_.k) * static_cast<double>(shape_.n));
    });
}

void BooleanSlabs::multiply_band(const Band& band, std::uint64_t* result, const WorkMeter& meter) const {
    const std::int64_t first = band.groups.first * kGroupRows, padded = band.groups.last * kGroupRows;
    const std::int64_t rows = std::min(padded, a_.rows) - first;
    const std::int64_t slabs = leaf_.layout->tiles(shape_.n);
    const auto out = [&](std::int64_t number) {
        return result + number * kSlabWords * shape_.m + first * leaf_.layout->width(shape_.n, number);
    };
    for (std::int64_t number = 0; number < slabs; ++number) {
        std::fill_n(out(number), (padded - first) * leaf_.layout->width(shape_.n, number), 0);
    }
    std::vector<std::uint8_t> open(static_cast<std::size_t>(rows), 1);
    OnesList ones(rows);
    for (std::int64_t from = 0; from < a_.cols; from += band.depth) {
        ones.fill(a_, first, from, band.depth, open);
        if (ones.empty()) {
            continue;
        }
        std::fill(open.begin(), open.end(), 0);
        for (std::int64_t number = 0; number < slabs; ++number) {
            meter.stop_if_cancelled();
            const int width = leaf_.layout->width(shape_.n, number);
            leaf_.add_boolean_rows(ones.listed(), width, slab(number) + from * width,
                                   reachable_.data() + number * kSlabWords, out(number), open.data());
        }
        if (std::find(open.begin(), open.end(), 1) == open.end()) {
            return;
        }
    }
}

}  // namespace heptad::bits
