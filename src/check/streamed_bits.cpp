// The check of packed bits while their product passes through memory; see streamed_check.hpp.
#include <algorithm>
#include <vector>

#include "base/bit_bytes.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/splitmix.hpp"
#include "base/thread_pool.hpp"
#include "check/bit_lanes.hpp"
#include "check/residual.hpp"
#include "check/sampled_rows.hpp"
#include "check/streamed_lanes.hpp"
#include "check/verify_kinds.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kByte = 8;

/// Columns of the right matrix and of C are looked at as they lie in the file, the first in the highest bit of a byte;
/// those beyond the last one count for nothing.
class Gf2Lanes final : public StreamedLanes {
public:
    Gf2Lanes(std::int64_t columns, ThreadPool& pool)
        : columns_(columns), pool_(pool), seed_(check::seed_from_system()) {}

    void begin_tile(const FileWindow& tile) override {
        x_.assign(static_cast<std::size_t>(round_up(tile.cols, kByte)), 0);
        for (std::size_t i = 0; i < x_.size(); ++i) {
            const auto place = static_cast<std::int64_t>(i);
            const std::int64_t column = tile.col + place / kByte * kByte + (kByte - 1 - place % kByte);
            x_[i] = column < columns_ ? splitmix_word(seed_, column) : 0;
        }
        sums_.assign(static_cast<std::size_t>(tile.rows), 0);
    }
    void add_panel(const ConstView& right) override {
        bx_.assign(static_cast<std::size_t>(right.rows), 0);
        check::add_bit_lanes(bits_of_bytes(right, kByte * right.cols), x_, bx_.data(), pool_);
    }
    void take_c0(std::int64_t row, const ConstView& strip) override { add(row, strip, kByte * strip.cols, x_); }
    void add_product(std::int64_t row, const ConstView& left, const ConstView& right) override {
        add(row, left, right.rows, bx_);
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow&) override {
        add(row, part, kByte * part.cols, x_);
        for (std::int64_t i = 0; i < part.rows; ++i) {
            fail_if(sums_[static_cast<std::size_t>(row + i)] != 0, ErrorCode::verification,
                    "C is certainly wrong: a sum over random vectors differs in row {} of the columns from {} on",
                    window.row + i, window.col);
        }
    }
    VerifyResult result() const override { return check::exact_vectors_agree(seed_); }

private:
    void add(std::int64_t row, const ConstView& bytes, std::int64_t cols, const std::vector<std::uint64_t>& x) {
        check::add_bit_lanes(bits_of_bytes(bytes, cols), x, sums_.data() + row, pool_);
    }

    std::int64_t columns_;
    ThreadPool& pool_;
    std::uint64_t seed_;
    std::vector<std::uint64_t> x_, bx_, sums_;
};

class BooleanRows final : public StreamedLanes {
public:
    BooleanRows(std::int64_t columns, ThreadPool& pool)
        : columns_(columns), pool_(pool), seed_(check::seed_from_system()) {}

    void begin_tile(const FileWindow& tile) override {
        rows_ = check::draw_rows(tile.rows, std::min(tile.rows, kRowsOfTile), splitmix_word(seed_, tiles_++));
        sums_.assign(rows_.size(), std::vector<std::uint8_t>(static_cast<std::size_t>(ceil_div(tile.cols, kByte)), 0));
        recomputed_ += static_cast<std::int64_t>(rows_.size());
        all_ += tile.rows;
    }
    void add_panel(const ConstView&) override {}
    void take_c0(std::int64_t row, const ConstView& strip) override {
        for_rows(row, strip.rows, [&](std::int64_t i, std::vector<std::uint8_t>& sum) { add(strip, i, sum); });
    }
    void add_product(std::int64_t row, const ConstView& left, const ConstView& right) override {
        const ConstBitView factors = bits_of_bytes(left, right.rows);
        for_rows(row, left.rows, [&](std::int64_t i, std::vector<std::uint8_t>& sum) {
            for (std::int64_t p = 0; p < right.rows; ++p) {
                if (factors(i, p)) {
                    add(right, p, sum);
                }
            }
        });
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow&) override {
        for_rows(row, part.rows, [&](std::int64_t i, std::vector<std::uint8_t>& sum) {
            if (window.col + window.cols >= columns_ && columns_ % kByte != 0) {
                sum.back() = static_cast<std::uint8_t>(sum.back() & (0xff << (kByte - columns_ % kByte)));
            }
            const auto* const got = reinterpret_cast<const std::uint8_t*>(element_pointer(part, i, 0));
            fail_if(!std::equal(sum.begin(), sum.end(), got), ErrorCode::verification,
                    "C is wrong: row {} of the columns from {} on differs from A * B", window.row + i, window.col);
        });
    }
    VerifyResult result() const override {
        VerifyResult passed = check::conclude_rows({}, recomputed_, all_);
        passed.seed = seed_;
        return passed;
    }

private:
    static constexpr std::int64_t kRowsOfTile = 64;

    static void add(const ConstView& from, std::int64_t row, std::vector<std::uint8_t>& sum) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(element_pointer(from, row, 0));
        for (std::size_t j = 0; j < sum.size(); ++j) {
            sum[j] = static_cast<std::uint8_t>(sum[j] | bytes[j]);
        }
    }
    /// The drawn rows among `count` from `row` of the tile on, counted from there.
    template <class Body>
    void for_rows(std::int64_t row, std::int64_t count, Body body) {
        pool_.run(static_cast<std::int64_t>(rows_.size()), [&](std::int64_t task) {
            const std::int64_t drawn = rows_[static_cast<std::size_t>(task)];
            if (drawn >= row && drawn < row + count) {
                body(drawn - row, sums_[static_cast<std::size_t>(task)]);
            }
        });
    }

    std::int64_t columns_;
    ThreadPool& pool_;
    std::uint64_t seed_;
    std::int64_t tiles_ = 0, recomputed_ = 0, all_ = 0;
    std::vector<std::int64_t> rows_;
    std::vector<std::vector<std::uint8_t>> sums_;
};

}  // namespace

std::unique_ptr<StreamedLanes> make_bit_lanes(Type algebra, std::int64_t columns, int threads) {
    ThreadPool& pool = shared_pool(threads_or_default(threads));
    if (algebra == Type::gf2) {
        return std::make_unique<Gf2Lanes>(columns, pool);
    }
    return std::make_unique<BooleanRows>(columns, pool);
}

}  // namespace heptad
