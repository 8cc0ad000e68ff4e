#include "check/non_finite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>

#include "base/types.hpp"
#include "check/load.hpp"

namespace heptad::check {
namespace {

constexpr std::int64_t kMostRows = 32;                      // recomputed because they may have overflowed
constexpr std::int64_t kMostTerms = std::int64_t{1} << 32;  // of those that are not finite: some seconds

/// Entry by entry: what C has and should not, or should have and has not.
struct Mismatch {
    std::mutex mutex;
    std::int64_t finite_row = -1, finite_col = -1;  // finite, where it must not be
    std::vector<std::int64_t> unexpected_rows;      // with entries that are not finite and should be
    std::int64_t unexpected_row = -1, unexpected_col = -1;
    std::vector<std::int64_t> of_other_kind;  // rows with an infinity in place of a NaN, or of the other sign ...
    std::int64_t unexamined_row = -1;
};

bool same_kind(double x, double y) {
    return std::isnan(x) ? std::isnan(y) : x == y;
}

std::string kind_name(double x) {
    return std::isnan(x) ? "NaN" : std::isinf(x) ? (x > 0 ? "+inf" : "-inf") : fmt::format("{}", x);
}

void load_row(const ConstView& v, std::int64_t i, std::vector<double>& to) {
    to.resize(static_cast<std::size_t>(v.cols));
    load_block(v, i, 1, 0, v.cols, to.data());
}

/// What the terms that are not finite add up to, in every entry of a row of A B; the others do not change that.
class NonFiniteTerms {
public:
    /// `is_bad`: does a column of B hold something that is not finite?
    template <class IsBad>
    NonFiniteTerms(const FloatProduct& product, const IsBad& is_bad) : product_(product) {
        if (!product.uses_product()) {
            return;
        }
        std::vector<std::size_t> bad_cols;
        for (std::int64_t j = 0; j < product.b.cols; ++j) {
            if (is_bad(j)) {
                bad_cols.push_back(static_cast<std::size_t>(j));
            }
        }
        of_b_.resize(bad_cols.empty() ? 0 : static_cast<std::size_t>(product.b.rows));
        of_nans_.assign(bad_cols.empty() ? 0 : static_cast<std::size_t>(product.b.cols), 0);
        std::vector<double> row;
        std::int64_t count = 0;
        for (std::size_t p = 0; p < of_b_.size(); ++p) {
            load_row(product.b, static_cast<std::int64_t>(p), row);
            for (const std::size_t j : bad_cols) {
                of_nans_[j] += std::isnan(row[j]) ? row[j] : 0;
                if (std::isinf(row[j]) && ++count <= kMostKept) {
                    of_b_[p].push_back({j, row[j]});
                }
            }
        }
        terms_ = count > kMostKept ? kMostTerms : 0;
    }

    /// For `sums`, one for every column. False: there are too many in all rows together, and the sums are not complete.
    bool add_up(std::int64_t i, bool a_is_bad, std::vector<double>& sums) {
        if (!product_.uses_product() || (of_b_.empty() && !a_is_bad)) {
            return true;
        }
        std::transform(of_nans_.begin(), of_nans_.end(), sums.begin(), sums.begin(), std::plus());
        std::vector<double> a, b;
        load_row(product_.a, i, a);
        const bool has_nan = std::ranges::any_of(a, [](double x) { return std::isnan(x); });
        if (has_nan) {
            std::ranges::fill(sums, std::numeric_limits<double>::quiet_NaN());
        }
        for (std::size_t p = 0; p < a.size() && !has_nan; ++p) {
            if (std::isinf(a[p])) {
                load_row(product_.b, static_cast<std::int64_t>(p), b);
                std::transform(b.begin(), b.end(), sums.begin(), sums.begin(),
                               [x = a[p]](double y, double sum) { return sum + x * y; });
                terms_ += static_cast<std::int64_t>(b.size());
            } else if (!of_b_.empty()) {
                for (const Entry& entry : of_b_[p]) {
                    sums[entry.col] += a[p] * entry.value;
                }
                terms_ += static_cast<std::int64_t>(of_b_[p].size());
            }
            if (terms_ >= kMostTerms) {
                return false;
            }
        }
        return true;
    }

private:
    struct Entry {
        std::size_t col;
        double value;
    };
    static constexpr std::int64_t kMostKept = std::int64_t{1} << 24;
    const FloatProduct& product_;
    std::vector<std::vector<Entry>> of_b_;  // infinities, by rows; empty: all of B is finite
    std::vector<double> of_nans_;           // by columns of B: NaN, or 0
    std::atomic<std::int64_t> terms_{0};
};

}  // namespace

double largest_finite(Type type) {
    switch (type) {
        case Type::f64:
            return std::numeric_limits<double>::max();
        case Type::f16:
            return 65504;
        case Type::bf16:
            return 0x1.fep127;
        default:
            return std::numeric_limits<float>::max();
    }
}

NonFiniteReport compare_non_finite(const FloatProduct& product, const ConstView& c, const std::vector<RowFacts>& a_rows,
                                   const std::vector<RowFacts>& b_cols, bool may_overflow, ThreadPool& pool) {
    const auto a_bad = [&](std::int64_t i) {
        return !a_rows.empty() && a_rows[static_cast<std::size_t>(i)].non_finite;
    };
    const auto b_bad = [&](std::int64_t j) {
        return !b_cols.empty() && b_cols[static_cast<std::size_t>(j)].non_finite;
    };
    NonFiniteReport report;
    report.row_is_left_out.assign(static_cast<std::size_t>(c.rows), 0);
    NonFiniteTerms terms(product, b_bad);
    Mismatch mismatch;
    pool.run(c.rows, [&](std::int64_t i) {
        std::vector<double> now, old, sums;
        load_row(c, i, now);
        if (product.beta != 0) {
            load_row(*product.c0, i, old);
        }
        sums.assign(static_cast<std::size_t>(c.cols), 0);
        const bool is_examined = terms.add_up(i, a_bad(i), sums);
        std::int64_t finite_col = -1, unexpected_col = -1, other_col = -1;
        bool left_out = a_bad(i);
        for (std::int64_t j = 0; j < c.cols; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const bool old_bad = !old.empty() && !std::isfinite(old[at]);
            const bool expected = a_bad(i) || b_bad(j) || old_bad;
            const bool got = !std::isfinite(now[at]);
            left_out = left_out || old_bad || (got && !expected);
            finite_col = expected && !got && finite_col < 0 ? j : finite_col;
            unexpected_col = got && !expected && unexpected_col < 0 ? j : unexpected_col;
            if (got && expected && is_examined && other_col < 0 &&
                !same_kind(now[at], product.alpha * sums[at] + (old.empty() ? 0 : product.beta * old[at]))) {
                other_col = j;
            }
        }
        report.row_is_left_out[static_cast<std::size_t>(i)] = left_out ? 1 : 0;
        if (finite_col >= 0 || unexpected_col >= 0 || other_col >= 0 || !is_examined) {
            const std::lock_guard lock(mismatch.mutex);
            mismatch.unexamined_row = is_examined ? mismatch.unexamined_row : i;
            if (other_col >= 0) {
                mismatch.of_other_kind.push_back(i);
            }
            if (finite_col >= 0 && (mismatch.finite_row < 0 || i < mismatch.finite_row)) {
                mismatch.finite_row = i;
                mismatch.finite_col = finite_col;
            }
            if (unexpected_col >= 0) {
                mismatch.unexpected_rows.push_back(i);
                if (mismatch.unexpected_row < 0 || i < mismatch.unexpected_row) {
                    mismatch.unexpected_row = i;
                    mismatch.unexpected_col = unexpected_col;
                }
            }
        }
    });
    const auto conclude = [&](Verdict verdict, std::int64_t row, std::int64_t col, std::string explanation) {
        report.verdict = verdict;
        report.bad_row = row;
        report.bad_col = col;
        report.explanation = std::move(explanation);
        return report;
    };
    if (mismatch.finite_row >= 0) {
        return conclude(
            Verdict::failed, mismatch.finite_row, mismatch.finite_col,
            fmt::format("C is wrong: its entry at row {}, column {} is finite, but depends on a NaN or an infinity",
                        mismatch.finite_row, mismatch.finite_col));
    }
    if (mismatch.unexpected_row >= 0 && !may_overflow) {
        return conclude(Verdict::failed, mismatch.unexpected_row, mismatch.unexpected_col,
                        fmt::format("C is wrong: its entry at row {}, column {} is NaN or infinite, but depends on "
                                    "small finite numbers only",
                                    mismatch.unexpected_row, mismatch.unexpected_col));
    }

    // Some rows are recomputed whole: those that may have overflowed, and those of which another kind was expected.
    std::vector<std::int64_t> rows;
    for (std::vector<std::int64_t>* const some : {&mismatch.unexpected_rows, &mismatch.of_other_kind}) {
        std::ranges::sort(*some);
        for (const std::int64_t r : spread_rows(static_cast<std::int64_t>(some->size()), kMostRows)) {
            rows.push_back((*some)[static_cast<std::size_t>(r)]);
        }
    }
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    const std::vector<double> expected = plain_rows(product, rows, pool);
    const double overflow_from = largest_finite(c.type) * (1 - 4 * unit_roundoff(c.type));
    std::vector<double> now;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        load_row(c, rows[r], now);
        for (std::int64_t j = 0; j < c.cols; ++j) {
            const double got = now[static_cast<std::size_t>(j)];
            double want = expected[r * static_cast<std::size_t>(c.cols) + static_cast<std::size_t>(j)];
            if (std::isfinite(got) || same_kind(got, want)) {
                continue;
            }
            if (std::isinf(got) && std::fabs(want) >= overflow_from && std::signbit(got) == std::signbit(want)) {
                continue;  // too large for the type, and infinite as it should be
            }
            if (may_overflow) {
                return conclude(Verdict::not_verifiable, rows[r], j,
                                fmt::format("the entry at row {}, column {} is {}, the exact value {}: sums may "
                                            "overflow {} on the way, so this cannot be judged; scale A or B down",
                                            rows[r], j, kind_name(got), kind_name(want), type_name(c.type)));
            }
            return conclude(Verdict::failed, rows[r], j,
                            fmt::format("C is wrong: its entry at row {}, column {} is {} and should be {}", rows[r], j,
                                        kind_name(got), kind_name(want)));
        }
    }
    if (mismatch.unexamined_row >= 0) {
        return conclude(
            Verdict::not_verifiable, mismatch.unexamined_row, -1,
            fmt::format("A and B hold so many NaNs and infinities that not all rows of C were examined; row "
                        "{} was not",
                        mismatch.unexamined_row));
    }
    return report;
}

}  // namespace heptad::check
