#include "check/streamed_check.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "base/splitmix.hpp"
#include "base/types.hpp"
#include "check/float_facts.hpp"
#include "check/lanes.hpp"
#include "check/streamed_bits.hpp"
#include "check/streamed_lanes.hpp"
#include "check/streamed_residual.hpp"
#include "kernels/scalars.hpp"

namespace heptad {

namespace {

using check::LaneArithmetic;
using check::multiply_lanes;
using check::RowFacts;

template <class T>
void add_rows(check::Lanes<T>& to, std::int64_t row, const check::Lanes<T>& from, double factor) {
    for (std::size_t i = 0; i < from.data.size(); ++i) {
        LaneArithmetic<T>::add(to.data[static_cast<std::size_t>(row * to.lanes) + i], factor, from.data[i]);
    }
}

/// Z/2^32: exact.
class RingLanes final : public StreamedLanes {
public:
    RingLanes(const check::JudgedProduct& scalars, int threads)
        : alpha_(residue_mod_2_32(scalars.alpha)),
          beta_(residue_mod_2_32(scalars.beta)),
          pool_(shared_pool(threads > 0 ? threads : available_cores())),
          seed_(seed_from_system()) {}

    void begin_tile(const FileWindow& tile) override {
        x_ = check::Lanes<std::uint32_t>(tile.cols, kVectors);
        for (std::size_t i = 0; i < x_.data.size(); ++i) {
            x_.data[i] = static_cast<std::uint32_t>(
                splitmix_word(seed_, tile.col * kVectors + static_cast<std::int64_t>(i)) >> 32);
        }
        sums_ = check::Lanes<std::uint32_t>(tile.rows, kVectors);
    }
    void add_panel(const ConstView& right) override { bx_ = multiply_lanes(right, x_, pool_); }
    void take_c0(std::int64_t row, const ConstView& strip) override {
        add(row, multiply_lanes(strip, x_, pool_), beta_);
    }
    void add_product(std::int64_t row, const ConstView& left, const ConstView&) override {
        add(row, multiply_lanes(left, bx_, pool_), alpha_);
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow&) override {
        const check::Lanes<std::uint32_t> got = multiply_lanes(part, x_, pool_);
        for (std::size_t i = 0; i < got.data.size(); ++i) {
            if (got.data[i] != sums_.data[static_cast<std::size_t>(row * kVectors) + i]) {
                fail(ErrorCode::verification,
                     "C is wrong, certainly: a sum over random vectors differs in row {} of the columns from {} on",
                     window.row + static_cast<std::int64_t>(i) / kVectors, window.col);
            }
        }
    }
    VerifyResult result() const override {
        VerifyResult passed;
        passed.miss_chance = std::ldexp(1.0, -kVectors);
        passed.explanation = fmt::format("{} random vectors agree", kVectors);
        passed.seed = seed_;
        return passed;
    }

    static constexpr int kVectors = 64;

private:
    void add(std::int64_t row, const check::Lanes<std::uint32_t>& from, std::uint32_t factor) {
        for (std::size_t i = 0; i < from.data.size(); ++i) {
            sums_.data[static_cast<std::size_t>(row * kVectors) + i] += factor * from.data[i];
        }
    }
    std::uint32_t alpha_, beta_;
    ThreadPool& pool_;
    std::uint64_t seed_;
    check::Lanes<std::uint32_t> x_{0, kVectors}, bx_{0, kVectors}, sums_{0, kVectors};
};

double value_of(double x) {
    return x;
}
double value_of(const check::DoubleDouble& x) {
    return x.value();
}

/// Floats, summed in double, or double-double for f64.
template <class T>
class FloatLanes final : public StreamedLanes {
public:
    FloatLanes(const check::JudgedProduct& scalars, int threads)
        : scalars_(scalars),
          pool_(shared_pool(threads > 0 ? threads : available_cores())),
          seed_(seed_from_system()),
          judge_(scalars) {}

    void begin_tile(const FileWindow& tile) override {
        first_col_ = tile.col;
        weights_.clear();
        sums_ = check::Lanes<T>(tile.rows, kRounds);
        rows_.assign(static_cast<std::size_t>(tile.rows), {});
        cols_.assign(static_cast<std::size_t>(tile.cols), {});
        c0_rows_.assign(static_cast<std::size_t>(tile.rows), 0);
        c0_max_abs_.assign(static_cast<std::size_t>(tile.rows), 0);
    }
    void add_panel(const ConstView& right) override {
        const std::vector<RowFacts> facts = check::scan_rows(transposed(right), pool_);
        if (weights_.empty()) {
            draw(facts);
        }
        bx_ = multiply_lanes(right, x_, pool_);
        for (std::size_t j = 0; j < facts.size(); ++j) {
            check::merge(cols_[j], facts[j]);
        }
    }
    void take_c0(std::int64_t row, const ConstView& strip) override {
        add_rows(sums_, row, multiply_lanes(strip, x_, pool_), scalars_.beta);
        const std::vector<RowFacts> facts = check::scan_rows(strip, pool_);
        const std::vector<RowFacts> weighted = check::scan_rows(strip, pool_, weights_);
        double& max_abs = c0_max_abs_[static_cast<std::size_t>(row)];
        for (std::size_t i = 0; i < facts.size(); ++i) {
            RowFacts& all = rows_[static_cast<std::size_t>(row) + i];
            all.non_finite = all.non_finite || facts[i].non_finite;
            c0_rows_[static_cast<std::size_t>(row) + i] = weighted[i].norm;
            max_abs = std::max(max_abs, facts[i].max_abs);
        }
    }
    void add_product(std::int64_t row, const ConstView& left, const ConstView&) override {
        add_rows(sums_, row, multiply_lanes(left, bx_, pool_), scalars_.alpha);
        const std::vector<RowFacts> facts = check::scan_rows(left, pool_);
        for (std::size_t i = 0; i < facts.size(); ++i) {
            check::merge(rows_[static_cast<std::size_t>(row) + i], facts[i]);
        }
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow& strip) override {
        check::Lanes<T> difference = multiply_lanes(part, x_, pool_);
        const std::vector<RowFacts> results = check::scan_rows(part, pool_, weights_);
        check::StreamedResidual::Strip judged;
        const std::int64_t strip_row = row - (window.row - strip.row);
        for (std::int64_t i = 0; i < strip.rows; ++i) {  // levels mix the rows of a strip
            const RowFacts& facts = rows_[static_cast<std::size_t>(strip_row + i)];
            judged.a.norm = std::max(judged.a.norm, facts.norm);
            judged.a.max_abs = std::max(judged.a.max_abs, facts.max_abs);
            judged.c0_max_abs = std::max(judged.c0_max_abs, c0_max_abs_[static_cast<std::size_t>(strip_row + i)]);
        }
        check::StreamedResidual::add_columns(judged, cols_, weights_);
        judged.first_col = window.col;
        for (std::int64_t i = 0; i < part.rows; ++i) {
            const double share = judge_.share(judged, rows_[static_cast<std::size_t>(row + i)].norm,
                                              results[static_cast<std::size_t>(i)].norm);
            judged.most_c_share = std::max(judged.most_c_share, share);
        }
        std::vector<double> sums(kRounds);
        for (std::int64_t i = 0; i < part.rows; ++i) {
            for (int lane = 0; lane < kRounds; ++lane) {
                T& sum = difference.row(i)[lane];
                LaneArithmetic<T>::add(sum, -1.0, sums_.row(row + i)[lane]);
                sums[static_cast<std::size_t>(lane)] = value_of(sum);
            }
            const RowFacts &of_a = rows_[static_cast<std::size_t>(row + i)],
                           &of_c = results[static_cast<std::size_t>(i)];
            judge_.judge(judged,
                         {window.row + i, !of_c.non_finite, !of_a.non_finite, of_a.norm, of_c.norm,
                          c0_rows_[static_cast<std::size_t>(row + i)]},
                         sums);
        }
    }
    VerifyResult result() const override { return judge_.result(kRounds, seed_); }

    static constexpr int kRounds = 24;

private:
    /// Signs, and weights by the columns' norms in the first panel: the others have not been read yet.
    void draw(const std::vector<RowFacts>& columns) {
        weights_ = check::weights_of(columns);
        x_ = check::Lanes<T>(static_cast<std::int64_t>(columns.size()), kRounds);
        for (int round = 0; round < kRounds; ++round) {
            const std::uint64_t key = splitmix_word(seed_, round);
            for (std::int64_t j = 0; j < x_.rows; ++j) {
                const double weight = weights_[static_cast<std::size_t>(j)];
                x_.row(j)[round] = T{(splitmix_word(key, first_col_ + j) & 1U) != 0 ? weight : -weight};
            }
        }
    }

    check::JudgedProduct scalars_;
    ThreadPool& pool_;
    std::uint64_t seed_;
    std::int64_t first_col_ = 0;  // of the tile
    check::Lanes<T> x_{0, kRounds}, bx_{0, kRounds}, sums_{0, kRounds};
    std::vector<RowFacts> rows_, cols_;
    std::vector<double> weights_, c0_rows_;
    /// Of a strip, at its first row: the next strips are taken in while this one still comes back from a device.
    std::vector<double> c0_max_abs_;
    check::StreamedResidual judge_;
};

}  // namespace

std::uint64_t seed_from_system() {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 | device();
}

StreamedCheck::StreamedCheck(const FileSchedule& schedule, const check::JudgedProduct& product, int threads)
    : schedule_(schedule), adds_(product.beta != 0) {
    const Type type = product.type;
    if (schedule.result().packed) {
        lanes_ = make_bit_lanes(type, schedule.result().cols, threads);
    } else if (type == Type::i32) {
        lanes_ = std::make_unique<RingLanes>(product, threads);
    } else if (type == Type::f64) {
        lanes_ = std::make_unique<FloatLanes<check::DoubleDouble>>(product, threads);
    } else {
        lanes_ = std::make_unique<FloatLanes<double>>(product, threads);
    }
}

StreamedCheck::~StreamedCheck() = default;

void StreamedCheck::before_product(const FileStep& step, const ConstView& left, const ConstView& right,
                                   const ConstView& strip) {
    const FileWindow tile = schedule_.tile_window(step.tile);
    const std::int64_t row = schedule_.result_window(step.tile, step.strip).row - tile.row;
    if (step.first_of_tile) {
        lanes_->begin_tile(tile);
    }
    if (step.strip == 0) {
        lanes_->add_panel(right);
    }
    if (step.panel == 0 && adds_ && strip.data != nullptr) {
        lanes_->take_c0(row, strip);
    }
    lanes_->add_product(row, left, right);
}

void StreamedCheck::after_rows(const FileStep& step, const FileWindow& window, const ConstView& rows) {
    lanes_->compare(window.row - schedule_.tile_window(step.tile).row, rows, window,
                    schedule_.result_window(step.tile, step.strip));
}

void StreamedCheck::after_band(const FileWindow& window, const ConstView& rows, const ConstView* c0) {
    if (c0 != nullptr) {
        lanes_->take_c0(window.row, *c0);
    }
    lanes_->compare(window.row, rows, window, schedule_.tile_window(0));
}

std::int64_t StreamedCheck::line_bytes(Type type) {
    if (type == Type::gf2 || type == Type::boolean) {
        return 2 * static_cast<std::int64_t>(sizeof(std::uint64_t));
    }
    if (type == Type::i32) {
        return RingLanes::kVectors * static_cast<std::int64_t>(sizeof(std::uint32_t));
    }
    const auto sum = static_cast<std::int64_t>(type == Type::f64 ? sizeof(check::DoubleDouble) : sizeof(double));
    return FloatLanes<double>::kRounds * sum + static_cast<std::int64_t>(3 * sizeof(RowFacts) + 2 * sizeof(double));
}

VerifyResult StreamedCheck::result() const {
    return lanes_->result();
}

}  // namespace heptad
