// C = alpha A B + beta C0 in floats, up to rounding. With D = C - (alpha A B + beta C0):
//
// 1. Screen. In each of several rounds every column j is put into one of a few groups at random and gets a random sign
//    s_j. For each row i and group g, the sum r = sum of s_j d_ij over the columns of the group is computed as
//    C x - alpha A (B x) - beta C0 x in a higher precision. Rounding alone makes |r| about
//    u sqrt(k) |a_i| |b_j| sqrt(columns of the group); a row with a sum above 8 times that stands out.
//      What is missed: let d be the largest entry of a row of D. Whatever the other entries of its group are, one of
//      the two signs of d gives |r| >= |d|. So an entry that is wrong by more than the threshold stands out in a round
//      with probability at least 1/2, and in some round with 1 - 2^-rounds at least. (Alone in a row of right entries
//      it stands out in every round, unless it is so near the threshold that rounding noise hides it.)
// 2. Judge. The rows that stand out (the worst 32 of them) are recomputed entry by entry. C fails only if an entry is
// off
//    by more than what is allowed, so a right result does not fail because rounding errors happened to agree in sign.
//
// Norms are the largest of any row of A and column of B: fast algorithms mix rows and columns and are accurate in that
// sense only.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/splitmix.hpp"
#include "base/types.hpp"
#include "check/float_facts.hpp"
#include "check/lanes.hpp"
#include "check/non_finite.hpp"
#include "check/verify_kinds.hpp"

namespace heptad::check {
namespace {

constexpr double kScreen = 8;                // times the expected rounding noise
constexpr std::size_t kMostRecomputed = 32;  // rows that stand out

/// bf16, f16 and tf32 are summed in f32: their rounding does not grow with k as that of f32 and f64 does.
bool has_wider_sums(Type type) {
    return type == Type::bf16 || type == Type::f16 || type == Type::tf32;
}

double smallest_subnormal(Type type) {
    switch (type) {
        case Type::f64:
            return 0x1p-1074;
        case Type::f16:
            return 0x1p-24;
        case Type::bf16:
            return 0x1p-133;
        default:
            return 0x1p-149;
    }
}

/// Absolute errors: what rounding makes of a sum over columns, and what one entry may have.
struct Scales {
    double noise_per_root_column;  // times sqrt(columns) and kScreen: the threshold of a sum
    double noise_per_column;       // underflow
    double entry;                  // allowed for every entry, beyond the rounding of its own value
};

Scales scales(const VerifyProblem& problem, const RowFacts& a, const RowFacts& b, const RowFacts& c0) {
    const Type type = problem.c.type;
    const VerifyOptions& options = problem.options;
    const double u = unit_roundoff(type);
    const double k = problem.uses_product() ? static_cast<double>(problem.a.cols) : 0;
    const double norms = std::fabs(options.alpha) * a.norm * b.norm;
    const double sum_u = has_wider_sums(type) ? std::max(u, 0x1p-24 * std::sqrt(k)) : u * std::sqrt(k + 1);
    Scales s{};
    s.noise_per_root_column = sum_u * norms + 2 * u * std::fabs(options.beta) * c0.max_abs;
    // Each product and, without a fused operation, each of the four parts of its exact error may underflow.
    s.noise_per_column = 4 * (k + 2) * (1 + std::fabs(options.alpha)) * smallest_subnormal(type);
    const double growth =
        has_wider_sums(type) ? 2 * options.tolerance * (1 + 0x1p-24 / u * k) : options.tolerance * (k + 1);
    s.entry = growth * u * norms;
    if (options.error_bound > 0) {
        // The bound of a plan is a worst case, far above what is ever seen; an error near it in a large product is a
        // fault all the same. Small products with many levels get the whole of it.
        const double generous = std::max(growth, (has_wider_sums(type) ? 16 : 1024) * options.tolerance);
        s.entry =
            std::min(options.error_bound * std::fabs(options.alpha) * a.max_abs * b.max_abs, generous * u * norms);
    }
    s.entry += s.noise_per_column;
    return s;
}

double value_of(double x) {
    return x;
}
double value_of(const DoubleDouble& x) {
    return x.value();
}

/// For each row of C, the largest sum as a multiple of its threshold (NaN-safe: not a number is infinitely large).
struct Screened {
    std::vector<double> ratio;
    double largest_threshold = 0;
};

template <class T>
Screened screen(const VerifyProblem& problem, const std::vector<RowFacts>& b_cols, const Scales& scale, int groups) {
    const std::int64_t n = problem.c.cols;
    const int lanes = groups * problem.options.rounds;
    Lanes<T> x(n, lanes);
    std::vector<double> columns(static_cast<std::size_t>(lanes));
    for (int round = 0; round < problem.options.rounds; ++round) {
        const std::uint64_t key = splitmix_word(problem.seed, round);
        for (std::int64_t j = 0; j < n; ++j) {
            if (!b_cols.empty() && b_cols[static_cast<std::size_t>(j)].non_finite) {
                continue;  // the whole column of C is not finite and was looked at before
            }
            const std::uint64_t word = splitmix_word(key, j);
            const auto lane = round * groups + static_cast<int>((word >> 32) % static_cast<std::uint64_t>(groups));
            x.row(j)[lane] = T{(word & 1) != 0 ? 1.0 : -1.0};
            columns[static_cast<std::size_t>(lane)] += 1;
        }
    }
    Lanes<T> difference = multiply_lanes(problem.c, x, problem.pool);
    problem.stop_if_cancelled();
    const auto subtract = [&](double factor, const Lanes<T>& term) {
        for (std::size_t i = 0; i < term.data.size(); ++i) {
            LaneArithmetic<T>::add(difference.data[i], -factor, term.data[i]);
        }
        problem.stop_if_cancelled();
    };
    if (problem.uses_product()) {
        const Lanes<T> bx = multiply_lanes(problem.b, x, problem.pool);
        problem.stop_if_cancelled();
        subtract(problem.options.alpha, multiply_lanes(problem.a, bx, problem.pool));
    }
    if (problem.uses_c0()) {
        subtract(problem.options.beta, multiply_lanes(*problem.options.c0, x, problem.pool));
    }

    Screened screened{std::vector<double>(static_cast<std::size_t>(problem.c.rows)), 0};
    std::vector<double> threshold(columns.size());
    for (std::size_t lane = 0; lane < columns.size(); ++lane) {
        threshold[lane] =
            kScreen * scale.noise_per_root_column * std::sqrt(columns[lane]) + scale.noise_per_column * columns[lane];
        screened.largest_threshold = std::max(screened.largest_threshold, threshold[lane]);
    }
    for (std::int64_t i = 0; i < problem.c.rows; ++i) {
        double& worst = screened.ratio[static_cast<std::size_t>(i)];
        for (std::size_t lane = 0; lane < columns.size(); ++lane) {
            const double sum = std::fabs(value_of(difference.row(i)[lane]));
            const double ratio = sum == 0 ? 0 : sum / threshold[lane];
            worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(worst, ratio);
        }
    }
    return screened;
}

/// Judges rows entry by entry; fills residual (error / allowed), place and verdict.
void judge_rows(const VerifyProblem& problem, const FloatProduct& product, const std::vector<std::int64_t>& rows,
                const Scales& scale, VerifyResult& result) {
    const std::int64_t n = problem.c.cols;
    const double u = unit_roundoff(problem.c.type);
    const std::vector<DoubleDouble> exact = exact_float_rows(product, rows, problem.pool);
    std::vector<double> now(static_cast<std::size_t>(n)), old(static_cast<std::size_t>(n));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        load_block(problem.c, rows[r], 1, 0, n, now.data());
        if (problem.uses_c0()) {
            load_block(*problem.options.c0, rows[r], 1, 0, n, old.data());
        }
        for (std::int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const DoubleDouble& want = exact[r * static_cast<std::size_t>(n) + at];
            if (!std::isfinite(now[at])) {
                continue;  // compared before with what it should be
            }
            const double error = std::fabs((now[at] - want.hi) - want.lo);
            const double allowed =
                scale.entry + 2 * u * (std::fabs(problem.options.beta * old[at]) + std::fabs(want.hi));
            if (!std::isfinite(error)) {
                if (result.verdict == Verdict::passed) {
                    result.verdict = Verdict::not_verifiable;
                    result.bad_row = rows[r];
                    result.bad_col = j;
                }
                continue;
            }
            const double ratio = error == 0 ? 0 : error / allowed;
            if (ratio > result.residual) {
                result.residual = ratio;
                if (ratio > 1) {
                    result.verdict = Verdict::failed;
                    result.bad_row = rows[r];
                    result.bad_col = j;
                }
            }
        }
    }
    result.rows_recomputed += static_cast<std::int64_t>(rows.size());
}

bool sums_may_overflow(const VerifyProblem& problem, const RowFacts& a, const RowFacts& b, const RowFacts& c0) {
    // Fast algorithms add blocks first; a factor of 4 of headroom covers what a fallback would catch.
    const double product =
        4 * static_cast<double>(problem.a.cols) * std::fabs(problem.options.alpha) * a.max_abs * b.max_abs;
    return !(product + std::fabs(problem.options.beta) * c0.max_abs < largest_finite(problem.c.type));
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

    const Scales scale = scales(problem, a, b, c0);
    const Screened screened = problem.c.type == Type::f64 ? screen<DoubleDouble>(problem, b_cols, scale, 4)
                                                          : screen<double>(problem, b_cols, scale, 8);
    // An entry may also be off by the rounding of its own value, which is at most its norm bound.
    const double own_rounding =
        2 * unit_roundoff(problem.c.type) *
        (std::fabs(product.alpha) * a.norm * b.norm + 2 * std::fabs(problem.options.beta) * c0.max_abs);
    result.detectable_error = std::max(screened.largest_threshold, scale.entry + own_rounding);
    std::vector<std::int64_t> standing_out, partly_finite;
    double largest_ratio = 0;
    for (std::int64_t i = 0; i < problem.c.rows; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (left_out[at] != 0) {
            if (a_rows.empty() || !a_rows[at].non_finite) {
                partly_finite.push_back(i);
            }
            continue;
        }
        largest_ratio = std::max(largest_ratio, screened.ratio[at]);
        if (screened.ratio[at] > 1) {
            standing_out.push_back(i);
        }
    }
    const std::size_t stood_out = standing_out.size();
    if (stood_out > kMostRecomputed) {
        std::partial_sort(standing_out.begin(), standing_out.begin() + kMostRecomputed, standing_out.end(),
                          [&](std::int64_t x, std::int64_t y) {
                              return screened.ratio[static_cast<std::size_t>(x)] >
                                     screened.ratio[static_cast<std::size_t>(y)];
                          });
        standing_out.resize(kMostRecomputed);
    }
    for (const std::int64_t r : spread_rows(static_cast<std::int64_t>(partly_finite.size()), kMostRecomputed)) {
        standing_out.push_back(partly_finite[static_cast<std::size_t>(r)]);
    }
    if (!standing_out.empty()) {
        judge_rows(problem, product, standing_out, scale, result);
    }
    if (stood_out == 0) {
        result.residual = std::max(result.residual, largest_ratio);
    }

    if (result.verdict == Verdict::failed) {
        result.explanation =
            fmt::format("C is wrong: its entry at row {}, column {} is off by {:.3g} times what rounding may do",
                        result.bad_row, result.bad_col, result.residual);
    } else if (result.verdict == Verdict::not_verifiable) {
        result.explanation = fmt::format(
            "the product overflows double precision at row {}, column {}, so it cannot be judged; "
            "scale A or B down",
            result.bad_row, result.bad_col);
    } else {
        result.explanation = fmt::format(
            "{} rounds of random sums agree{}; an entry wrong by more than {:.3g} would be missed "
            "with probability at most 2^-{}",
            problem.options.rounds,
            stood_out > 0 ? fmt::format(", and of {1} rows that stood out the {0} worst were recomputed and are right",
                                        std::min(stood_out, kMostRecomputed), stood_out)
                          : "",
            result.detectable_error, problem.options.rounds);
    }
    return result;
}

}  // namespace heptad::check
