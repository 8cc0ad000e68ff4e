// C = alpha A B + beta C0 in floats, up to rounding:
//
// 1. Screen (float_screen.hpp): random sums over the columns show which rows look least like the product.
// 2. Judge (float_judge.hpp): the worst of them are recomputed entry by entry, a few always and up to kMostRecomputed
//    where they stand out of what rounding is expected to do. C fails only by an entry that was recomputed.
//
// Every row that looks worse than the worst one that was not recomputed is judged, so that one's sum says which errors
// may have been missed. A matrix of few rows is recomputed whole, and nothing is missed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/float_judge.hpp"
#include "check/float_screen.hpp"
#include "check/non_finite.hpp"
#include "check/verify_kinds.hpp"

namespace heptad::check {
namespace {

constexpr std::size_t kLeastRecomputed = 8, kMostRecomputed = 32;  // rows

bool sums_may_overflow(const VerifyProblem& problem, const RowFacts& a, const RowFacts& b, const RowFacts& c0) {
    // Fast algorithms add blocks first; a factor of 4 of headroom covers what a fallback would catch.
    const double product =
        4 * static_cast<double>(problem.a.cols) * std::fabs(problem.options.alpha) * a.max_abs * b.max_abs;
    return !(product + std::fabs(problem.options.beta) * c0.max_abs < largest_finite(problem.c.type));
}

/// The rows to recompute, and the largest ratio of those that are not.
struct Chosen {
    std::vector<std::int64_t> rows;
    std::size_t stood_out = 0;
    double largest_left = 0;
};

Chosen choose_rows(const std::vector<std::int64_t>& candidates, const std::vector<double>& ratio) {
    Chosen chosen{candidates, 0, 0};
    const auto ratio_of = [&](std::int64_t row) { return ratio[static_cast<std::size_t>(row)]; };
    const auto worse = [&](std::int64_t x, std::int64_t y) { return ratio_of(x) > ratio_of(y); };
    const auto end =
        chosen.rows.begin() + static_cast<std::ptrdiff_t>(std::min(kMostRecomputed + 1, chosen.rows.size()));
    std::partial_sort(chosen.rows.begin(), end, chosen.rows.end(), worse);
    for (const std::int64_t row : chosen.rows) {
        chosen.stood_out += ratio_of(row) > kMostOfEntry ? 1U : 0U;
    }
    const std::size_t kept =
        std::min(std::max(kLeastRecomputed, std::min(kMostRecomputed, chosen.stood_out)), chosen.rows.size());
    chosen.largest_left = kept < chosen.rows.size() ? ratio_of(chosen.rows[kept]) : 0;
    chosen.rows.resize(kept);
    return chosen;
}

void explain(VerifyResult& result, const RowsJudged& judged, const Rounding& rounding, int rounds) {
    if (judged.overflows) {
        result.explanation = fmt::format(
            "the product overflows double precision at row {}, column {}, so it cannot be judged; scale A or B down",
            result.bad_row, result.bad_col);
        return;
    }
    if (result.verdict == Verdict::passed) {
        result.explanation = fmt::format(
            "the {} rows that look worst were recomputed and are right{}", result.rows_recomputed,
            result.miss_chance == 0 ? ", and there are no others"
                                    : fmt::format("; an entry that is off by more than {:.3g} times the expected "
                                                  "rounding error would be missed with probability at most 2^-{}",
                                                  result.threshold, rounds));
        return;
    }
    const std::string how_far = fmt::format(
        "its entry at row {}, column {} is off by {:.3g} times the expected rounding error, and {:.3g} times is "
        "allowed",
        result.bad_row, result.bad_col, kMostOfEntry * result.residual, kMostOfEntry);
    const std::string as_fast =
        judged.passes_as_fast && !rounding.by_whole_matrices() ? passes_as_fast() : std::string();
    result.explanation =
        result.verdict == Verdict::failed
            ? fmt::format("C is wrong: {}{}", how_far, as_fast)
            : fmt::format("{}, which only rounding errors that all agree in sign could explain{}", how_far, as_fast);
}

}  // namespace

VerifyResult verify_float(const VerifyProblem& problem) {
    std::vector<RowFacts> a_rows, b_cols, c0_rows;
    if (problem.uses_product()) {
        a_rows = scan_rows(problem.a, problem.pool);
        b_cols = scan_rows(transposed(problem.b), problem.pool);
    }
    if (problem.uses_c0()) {
        c0_rows = scan_rows(*problem.options.c0, problem.pool);
    }
    const RowFacts a = largest(a_rows), b = largest(b_cols), c0 = largest(c0_rows);
    const RowFacts c = largest(scan_rows(problem.c, problem.pool));
    problem.stop_if_cancelled();

    VerifyResult result;
    result.tolerance = 1;
    result.miss_chance = std::ldexp(1.0, -problem.options.rounds);
    const FloatProduct product{problem.a, problem.b, problem.uses_product() ? problem.options.alpha : 0,
                               problem.options.beta, problem.options.c0};
    std::vector<char> left_out(static_cast<std::size_t>(problem.c.rows), 0);
    const bool has_non_finite = a.non_finite || b.non_finite || c0.non_finite || c.non_finite;
    if (has_non_finite) {
        NonFiniteReport report =
            compare_non_finite(product, problem.c, a_rows, b_cols, sums_may_overflow(problem, a, b, c0), problem.pool);
        if (report.verdict != Verdict::passed) {
            result.verdict = report.verdict;
            result.residual = std::numeric_limits<double>::infinity();
            result.bad_row = report.bad_row;
            result.bad_col = report.bad_col;
            result.explanation = report.explanation;
            return result;
        }
        left_out = std::move(report.row_is_left_out);
    }

    std::vector<std::int64_t> finite, partly_finite;
    for (std::int64_t i = 0; i < problem.c.rows; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (left_out[at] == 0) {
            finite.push_back(i);
        } else if (a_rows.empty() || !a_rows[at].non_finite) {
            partly_finite.push_back(i);
        }
    }
    const Rounding rounding(problem.c.type, problem.uses_product() ? problem.a.cols : 0, problem.options.by);
    Screened screened{std::vector<double>(left_out.size()), 0, 0, 0};
    if (problem.c.cols > 0 && (finite.size() > kLeastRecomputed || rounding.may_mix_rows())) {
        screened = screen_rows(problem, rounding, weigh_columns(b_cols, problem.c.cols));
    }
    Chosen chosen = choose_rows(finite, screened.ratio);
    const bool all_recomputed = chosen.rows.size() == finite.size() && partly_finite.size() <= kMostRecomputed;
    for (const std::int64_t r : spread_rows(static_cast<std::int64_t>(partly_finite.size()), kMostRecomputed)) {
        chosen.rows.push_back(partly_finite[static_cast<std::size_t>(r)]);
    }
    const RowsJudged judged =
        judge_rows(problem, product, chosen.rows, rounding, {a_rows, b_cols, c0.max_abs, screened.most_c_share});
    result.verdict = judged.verdict;
    result.residual = judged.residual;
    result.bad_row = judged.bad_row;
    result.bad_col = judged.bad_col;
    result.rows_recomputed = static_cast<std::int64_t>(chosen.rows.size());
    result.miss_chance = all_recomputed ? 0 : result.miss_chance;
    result.threshold = std::max(kMostOfEntry, chosen.largest_left * screened.entry_per_ratio / rounding.growth());
    result.detectable_error = std::max(judged.largest_allowed, chosen.largest_left * screened.largest_sum);
    explain(result, judged, rounding, problem.options.rounds);
    return result;
}

}  // namespace heptad::check
