#include "check/non_finite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/types.hpp"
#include "check/load.hpp"

namespace heptad::check {
namespace {

constexpr std::int64_t kMostRows = 32;  // recomputed to tell NaN from infinity

/// Entry by entry: what C has and should not, or should have and has not.
struct Mismatch {
    std::mutex mutex;
    std::int64_t finite_row = -1, finite_col = -1;  // finite, where it must not be
    std::vector<std::int64_t> unexpected_rows;      // with entries that are not finite and should be
    std::int64_t unexpected_row = -1, unexpected_col = -1;
};

bool same_kind(double x, double y) {
    return std::isnan(x) ? std::isnan(y) : x == y;
}

std::string kind_name(double x) {
    return std::isnan(x) ? "NaN" : std::isinf(x) ? (x > 0 ? "+inf" : "-inf") : fmt::format("{}", x);
}

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
    const auto load_row = [&](const ConstView& v, std::int64_t i, std::vector<double>& to) {
        to.resize(static_cast<std::size_t>(v.cols));
        load_block(v, i, 1, 0, v.cols, to.data());
    };

    Mismatch mismatch;
    pool.run(c.rows, [&](std::int64_t i) {
        std::vector<double> now, old;
        load_row(c, i, now);
        if (product.beta != 0) {
            load_row(*product.c0, i, old);
        }
        std::int64_t finite_col = -1, unexpected_col = -1;
        bool left_out = a_bad(i);
        for (std::int64_t j = 0; j < c.cols; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const bool old_bad = !old.empty() && !std::isfinite(old[at]);
            const bool expected = a_bad(i) || b_bad(j) || old_bad;
            const bool got = !std::isfinite(now[at]);
            left_out = left_out || old_bad || (got && !expected);
            finite_col = expected && !got && finite_col < 0 ? j : finite_col;
            unexpected_col = got && !expected && unexpected_col < 0 ? j : unexpected_col;
        }
        report.row_is_left_out[static_cast<std::size_t>(i)] = left_out ? 1 : 0;
        if (finite_col >= 0 || unexpected_col >= 0) {
            const std::lock_guard lock(mismatch.mutex);
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

    // Tell the kinds apart on some rows of each sort: overflows, rows of A, any rows (for columns of B), C0.
    std::ranges::sort(mismatch.unexpected_rows);
    std::vector<std::int64_t> left_out, rows;
    for (std::int64_t i = 0; i < c.rows; ++i) {
        if (report.row_is_left_out[static_cast<std::size_t>(i)] != 0) {
            left_out.push_back(i);
        }
    }
    for (const std::vector<std::int64_t>* const pool_of_rows : {&mismatch.unexpected_rows, &left_out}) {
        for (const std::int64_t r : spread_rows(static_cast<std::int64_t>(pool_of_rows->size()), kMostRows)) {
            rows.push_back((*pool_of_rows)[static_cast<std::size_t>(r)]);
        }
    }
    for (const std::int64_t r : spread_rows(c.rows, kMostRows)) {
        rows.push_back(r);
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
    return report;
}

}  // namespace heptad::check
