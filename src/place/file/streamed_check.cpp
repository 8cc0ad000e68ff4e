#include "place/file/streamed_check.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "backend/scalars.hpp"
#include "base/error.hpp"
#include "base/splitmix.hpp"
#include "base/types.hpp"
#include "check/float_facts.hpp"
#include "check/lanes.hpp"
#include "check/non_finite.hpp"
#include "place/file/streamed_bits.hpp"
#include "place/file/streamed_lanes.hpp"

namespace heptad {

namespace {

using check::LaneArithmetic;
using check::multiply_lanes;
using check::RowFacts;

struct Scalars {
    double alpha, beta;
    std::int64_t k;
    Type type;
};

template <class T>
void add_rows(check::Lanes<T>& to, std::int64_t row, const check::Lanes<T>& from, double factor) {
    for (std::size_t i = 0; i < from.data.size(); ++i) {
        LaneArithmetic<T>::add(to.data[static_cast<std::size_t>(row * to.lanes) + i], factor, from.data[i]);
    }
}

/// Z/2^32: exact.
class RingLanes final : public StreamedLanes {
public:
    RingLanes(const Scalars& scalars, int threads)
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

/// Adds the facts of a part of a row (or column) to those of the parts before.
void merge(RowFacts& all, const RowFacts& part) {
    all.max_abs = std::max(all.max_abs, part.max_abs);
    all.norm = std::hypot(all.norm, part.norm);
    all.non_finite = all.non_finite || part.non_finite;
}

/// Floats, summed in double, or double-double for f64.
template <class T>
class FloatLanes final : public StreamedLanes {
public:
    FloatLanes(const Scalars& scalars, int threads)
        : scalars_(scalars), pool_(shared_pool(threads > 0 ? threads : available_cores())), seed_(seed_from_system()) {}

    void begin_tile(const FileWindow& tile) override {
        x_ = check::Lanes<T>(tile.cols, kRounds);
        for (int round = 0; round < kRounds; ++round) {
            const std::uint64_t key = splitmix_word(seed_, round);
            for (std::int64_t j = 0; j < tile.cols; ++j) {
                x_.row(j)[round] = T{(splitmix_word(key, tile.col + j) & 1U) != 0 ? 1.0 : -1.0};
            }
        }
        sums_ = check::Lanes<T>(tile.rows, kRounds);
        rows_.assign(static_cast<std::size_t>(tile.rows), {});
        cols_.assign(static_cast<std::size_t>(tile.cols), {});
        c0_ = {};
    }
    void add_panel(const ConstView& right) override {
        bx_ = multiply_lanes(right, x_, pool_);
        const std::vector<RowFacts> facts = check::scan_rows(transposed(right), pool_);
        for (std::size_t j = 0; j < facts.size(); ++j) {
            merge(cols_[j], facts[j]);
        }
    }
    void take_c0(std::int64_t row, const ConstView& strip) override {
        add_rows(sums_, row, multiply_lanes(strip, x_, pool_), scalars_.beta);
        const std::vector<RowFacts> facts = check::scan_rows(strip, pool_);
        for (std::size_t i = 0; i < facts.size(); ++i) {
            RowFacts& all = rows_[static_cast<std::size_t>(row) + i];
            all.non_finite = all.non_finite || facts[i].non_finite;
            c0_.max_abs = std::max(c0_.max_abs, facts[i].max_abs);
        }
    }
    void add_product(std::int64_t row, const ConstView& left, const ConstView&) override {
        add_rows(sums_, row, multiply_lanes(left, bx_, pool_), scalars_.alpha);
        const std::vector<RowFacts> facts = check::scan_rows(left, pool_);
        for (std::size_t i = 0; i < facts.size(); ++i) {
            merge(rows_[static_cast<std::size_t>(row) + i], facts[i]);
        }
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow& strip) override {
        const RowFacts b = check::largest(cols_);
        if (b.non_finite) {  // whole columns of C are not finite; their sums say nothing
            unchecked_rows_ += part.rows;
            return;
        }
        check::Lanes<T> difference = multiply_lanes(part, x_, pool_);
        const std::vector<RowFacts> results = check::scan_rows(part, pool_);
        double norm = 0, max_abs = 0;
        const std::int64_t strip_row = row - (window.row - strip.row);
        for (std::int64_t i = 0; i < strip.rows; ++i) {  // levels mix the rows of a strip
            const RowFacts& facts = rows_[static_cast<std::size_t>(strip_row + i)];
            norm = std::max(norm, facts.norm);
            max_abs = std::max(max_abs, facts.max_abs);
        }
        const Limits limits = limits_of(norm, b.norm, static_cast<double>(part.cols));
        for (std::int64_t i = 0; i < part.rows; ++i) {
            const bool is_finite = !results[static_cast<std::size_t>(i)].non_finite;
            const bool depends_on_finite = !rows_[static_cast<std::size_t>(row + i)].non_finite;
            if (!is_finite && depends_on_finite && !may_overflow(max_abs, b.max_abs)) {
                fail(ErrorCode::verification,
                     "C is wrong: row {} of the columns from {} on holds NaN or infinity, but depends on small finite "
                     "numbers only",
                     window.row + i, window.col);
            }
            if (!is_finite || !depends_on_finite) {
                ++unchecked_rows_;
                continue;
            }
            for (int lane = 0; lane < kRounds; ++lane) {
                T& sum = difference.row(i)[lane];
                LaneArithmetic<T>::add(sum, -1.0, sums_.row(row + i)[lane]);
                judge(std::fabs(value_of(sum)), limits, window.row + i, window.col);
            }
        }
    }
    VerifyResult result() const override {
        VerifyResult result;
        result.tolerance = 1;
        result.residual = largest_ratio_;
        result.miss_chance = std::ldexp(1.0, -kRounds);
        result.detectable_error = largest_noise_;
        result.seed = seed_;
        if (largest_ratio_ > 1) {
            result.verdict = Verdict::not_verifiable;
            result.bad_row = worst_row_;
            result.explanation = fmt::format(
                "row {} stands out of rounding noise by a factor of {:.3g}, which rounding alone could just explain; "
                "look "
                "at it with 'heptad verify'",
                worst_row_, largest_ratio_);
        } else if (unchecked_rows_ > 0) {
            result.verdict = Verdict::not_verifiable;
            result.explanation = fmt::format(
                "{} rows of tiles hold NaN or Inf and were not looked at; use 'heptad verify'", unchecked_rows_);
        } else {
            result.explanation = fmt::format("{} rounds of random sums agree", kRounds);
        }
        return result;
    }

    static constexpr int kRounds = 24;

private:
    static constexpr double kScreen = 8;  // deviations of a random sum: rounding alone exceeds it once in 10^14 sums
    static constexpr double kTolerance = 4;

    /// Can a sum of such finite entries leave the range of the type? Levels add entries of other rows of the strip
    /// first, so these are the largest of all; the factor of 4 is their headroom.
    bool may_overflow(double a_max, double b_max) const {
        const double product = 4 * static_cast<double>(scalars_.k) * std::fabs(scalars_.alpha) * a_max * b_max;
        return !(product + std::fabs(scalars_.beta) * c0_.max_abs < check::largest_finite(scalars_.type));
    }

    struct Limits {
        double noise, worst;
    };
    /// Of a sum of `cols` entries with random signs: what rounding usually makes of it, and the most it could.
    Limits limits_of(double a_norm, double b_norm, double cols) const {
        const double u = unit_roundoff(scalars_.type);
        const auto k = static_cast<double>(scalars_.k);
        const bool wider_sums =
            scalars_.type == Type::bf16 || scalars_.type == Type::f16 || scalars_.type == Type::tf32;
        const double norms = std::fabs(scalars_.alpha) * a_norm * b_norm;
        const double usual = wider_sums ? std::max(u, 0x1p-24 * std::sqrt(k)) : u * std::sqrt(k + 1);
        const double most = wider_sums ? 2 * kTolerance * (u + 0x1p-24 * k) : kTolerance * u * (k + 1);
        const double of_c0 = 2 * u * std::fabs(scalars_.beta) * c0_.max_abs;
        const double smallest = std::numeric_limits<float>::denorm_min() * (k + 2) * cols;
        const double spread = kScreen * std::sqrt(cols);
        return {spread * (usual * norms + of_c0) + smallest, spread * (most * norms + of_c0) + smallest};
    }
    void judge(double sum, const Limits& limits, std::int64_t row, std::int64_t col) {
        if (!(sum <= limits.worst)) {  // NaN too
            fail(ErrorCode::verification,
                 "C is wrong: a random sum over row {} of the columns from {} on is off by {:.3g} where rounding makes "
                 "at "
                 "most {:.3g}",
                 row, col, sum, limits.worst);
        }
        const double ratio = sum == 0 ? 0 : sum / limits.noise;
        if (ratio > largest_ratio_) {
            largest_ratio_ = ratio;
            worst_row_ = row;
        }
        largest_noise_ = std::max(largest_noise_, limits.noise);
    }

    Scalars scalars_;
    ThreadPool& pool_;
    std::uint64_t seed_;
    check::Lanes<T> x_{0, kRounds}, bx_{0, kRounds}, sums_{0, kRounds};
    std::vector<RowFacts> rows_, cols_;
    RowFacts c0_;
    double largest_ratio_ = 0, largest_noise_ = 0;
    std::int64_t worst_row_ = -1, unchecked_rows_ = 0;
};

}  // namespace

std::uint64_t seed_from_system() {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 | device();
}

StreamedCheck::StreamedCheck(const FileSchedule& schedule, Type type, double alpha, double beta, std::int64_t k,
                             int threads)
    : schedule_(schedule), adds_(beta != 0) {
    const Scalars scalars{alpha, beta, k, type};
    if (schedule.result().packed) {
        lanes_ = make_bit_lanes(type, schedule.result().cols, threads);
    } else if (type == Type::i32) {
        lanes_ = std::make_unique<RingLanes>(scalars, threads);
    } else if (type == Type::f64) {
        lanes_ = std::make_unique<FloatLanes<check::DoubleDouble>>(scalars, threads);
    } else {
        lanes_ = std::make_unique<FloatLanes<double>>(scalars, threads);
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
    if (step.panel == 0 && adds_) {
        lanes_->take_c0(row, strip);
    }
    lanes_->add_product(row, left, right);
}

void StreamedCheck::after_rows(const FileStep& step, const FileWindow& window, const ConstView& rows) {
    lanes_->compare(window.row - schedule_.tile_window(step.tile).row, rows, window,
                    schedule_.result_window(step.tile, step.strip));
}

std::int64_t StreamedCheck::line_bytes(Type type) {
    if (type == Type::gf2 || type == Type::boolean) {
        return 2 * static_cast<std::int64_t>(sizeof(std::uint64_t));
    }
    if (type == Type::i32) {
        return RingLanes::kVectors * static_cast<std::int64_t>(sizeof(std::uint32_t));
    }
    const auto sum = static_cast<std::int64_t>(type == Type::f64 ? sizeof(check::DoubleDouble) : sizeof(double));
    return FloatLanes<double>::kRounds * sum + 2 * static_cast<std::int64_t>(sizeof(RowFacts));
}

VerifyResult StreamedCheck::result(std::int64_t resumed_tiles) const {
    VerifyResult result = lanes_->result();
    if (resumed_tiles > 0) {
        result.explanation += fmt::format("; {} tiles of an earlier run were not looked at again", resumed_tiles);
    }
    return result;
}

}  // namespace heptad
