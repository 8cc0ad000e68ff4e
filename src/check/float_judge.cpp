#include "check/float_judge.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "check/load.hpp"

namespace heptad::check {
namespace {

/// One entry: its error, and squares of what it depends on, scaled.
struct JudgedEntry {
    std::int64_t row = 0, col = 0;
    double error = 0, plain_error = 0;
    ErrorSources sources;
    std::optional<ExpectedError> by_norms = {};  // not scaled, where squares of the sources would underflow
};

/// Squares below this have lost digits, or are zero.
constexpr double kLeastSquare = 0x1p-900;

class EntryJudge {
public:
    EntryJudge(const VerifyProblem& problem, const Rounding& rounding, const JudgedMatrices& matrices)
        : problem_(problem), rounding_(rounding), matrices_(matrices) {
        const double alpha = std::fabs(problem.options.alpha);
        const double a = largest(matrices.a_rows).norm, b = largest(matrices.b_cols).norm;
        scale_ = weight_of(std::max(alpha * a * b, std::fabs(problem.options.beta) * matrices.c0_max_abs));
        whole_norms_ = square(alpha * a * b);
        underflow_ = underflow_of_entry(problem.c.type, problem.uses_product() ? problem.a.cols : 0, alpha);
    }

    RowsJudged judge(const FloatProduct& product, const std::vector<std::int64_t>& rows) {
        gather(product, rows);
        RowsJudged result = verdict_of(rounding_.by_whole_matrices());
        if (result.verdict != Verdict::passed && !result.overflows) {
            result.passes_as_fast = verdict_of(true).verdict == Verdict::passed;
        }
        return result;
    }

private:
    double square(double x) const { return x * scale_ * x * scale_; }

    void gather(const FloatProduct& product, const std::vector<std::int64_t>& rows) {
        const std::int64_t n = problem_.c.cols;
        const std::vector<WatchedEntry> watched = watched_rows(product, rows, scale_, problem_.pool);
        std::vector<double> now(static_cast<std::size_t>(n)), old(static_cast<std::size_t>(n));
        for (std::size_t r = 0; r < rows.size(); ++r) {
            load_block(problem_.c, rows[r], 1, 0, n, now.data());
            if (problem_.uses_c0()) {
                load_block(*problem_.options.c0, rows[r], 1, 0, n, old.data());
            }
            const double a = norm_of(matrices_.a_rows, rows[r]);
            for (std::int64_t j = 0; j < n; ++j) {
                const auto at = static_cast<std::size_t>(j);
                if (!std::isfinite(now[at])) {
                    continue;  // compared before with what it should be
                }
                const WatchedEntry& entry = watched[r * static_cast<std::size_t>(n) + at];
                const double error = std::fabs((now[at] - entry.exact.hi) - entry.exact.lo);
                if (!std::isfinite(error)) {
                    overflow_ = overflow_.row >= 0 ? overflow_ : Place{rows[r], j};
                    continue;
                }
                const double norms = square(problem_.options.alpha * a * norm_of(matrices_.b_cols, j));
                entries_.push_back({rows[r],
                                    j,
                                    error,
                                    entry.plain_error,
                                    {square(entry.exact.hi) + square(problem_.options.beta * old[at]), entry.products,
                                     entry.partial_sums, norms}});
                if (norms < kLeastSquare) {
                    entries_.back().by_norms = rounding_.expected_of_sum(
                        {std::fabs(problem_.options.alpha) * a, norm_of(matrices_.b_cols, j), std::fabs(entry.exact.hi),
                         std::fabs(problem_.options.beta * old[at]), matrices_.most_c_share});
                }
            }
        }
    }
    static double norm_of(const std::vector<RowFacts>& facts, std::int64_t index) {
        return facts.empty() ? 0 : facts[static_cast<std::size_t>(index)].norm;
    }

    /// Levels mix rows and columns: an entry has a share of what others round.
    void mix(ErrorSources& sources, bool by_whole_matrices) const {
        if (rounding_.may_mix_rows()) {
            sources.partial_sums = std::max(sources.partial_sums, rounding_.mixed_partial_sums(matrices_.most_c_share) *
                                                                      std::min(sources.norms, k() * sources.products));
        }
        if (by_whole_matrices) {
            sources.partial_sums = std::max(sources.partial_sums, whole_norms_ * most_partial_sums_);
            sources.products = std::max(sources.products, whole_norms_ * most_products_);
            sources.norms = whole_norms_;
        }
    }
    double k() const { return static_cast<double>(problem_.a.cols); }

    ExpectedError expected_of(const JudgedEntry& entry, bool by_whole_matrices) const {
        if (entry.by_norms && !by_whole_matrices) {
            return *entry.by_norms;
        }
        ErrorSources sources = entry.sources;
        mix(sources, by_whole_matrices);
        const ExpectedError scaled = rounding_.expected(sources);
        return {scaled.values / scale_, scaled.sums / scale_};
    }

    RowsJudged verdict_of(bool by_whole_matrices) {
        most_partial_sums_ = most_products_ = 0;
        for (const JudgedEntry& entry : entries_) {
            const ErrorSources& of = entry.sources;
            if (of.norms > 0) {
                most_partial_sums_ = std::max(most_partial_sums_, of.partial_sums / of.norms);
                most_products_ = std::max(most_products_, of.products / of.norms);
            }
        }
        RowsJudged result;
        std::vector<double> ratios(entries_.size());
        bool beyond_worst_case = false;
        double ratio_of_worst = 0;
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            const JudgedEntry& entry = entries_[e];
            const ExpectedError expected = expected_of(entry, by_whole_matrices);
            const double beside = 2 * entry.plain_error + underflow_;
            const double allowed = rounding_.most(expected) + beside;
            result.largest_allowed = std::max(result.largest_allowed, allowed);
            const double ratio = entry.error == 0 ? 0 : entry.error / allowed;
            ratios[e] = ratio;
            if (ratio > ratio_of_worst) {
                ratio_of_worst = ratio;
                result.bad_row = entry.row;
                result.bad_col = entry.col;
            }
            beyond_worst_case = beyond_worst_case || (ratio > 1 && entry.error > rounding_.worst(expected) + beside);
        }
        result.residual = ratio_of_worst;
        if (!ratios.empty()) {
            const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
            std::nth_element(ratios.begin(), middle, ratios.end());
            result.median_error = *middle * kMostOfEntry * rounding_.growth();
        }
        const double alone = kAlone * result.median_error / (kMostOfEntry * rounding_.growth());
        if (ratio_of_worst > 1) {
            result.verdict = beyond_worst_case || ratio_of_worst > alone ? Verdict::failed : Verdict::not_verifiable;
        } else {
            result.bad_row = result.bad_col = -1;
        }
        if (result.verdict == Verdict::passed && overflow_.row >= 0) {
            result.verdict = Verdict::not_verifiable;
            result.overflows = true;
            result.bad_row = overflow_.row;
            result.bad_col = overflow_.col;
        }
        return result;
    }

    struct Place {
        std::int64_t row = -1, col = -1;
    };
    const VerifyProblem& problem_;
    const Rounding& rounding_;
    const JudgedMatrices& matrices_;
    double scale_ = 1, whole_norms_ = 0, underflow_ = 0;
    double most_partial_sums_ = 0, most_products_ = 0;  // over |a_i|^2 |b_j|^2
    std::vector<JudgedEntry> entries_;
    Place overflow_;
};

}  // namespace

RowsJudged judge_rows(const VerifyProblem& problem, const FloatProduct& product, const std::vector<std::int64_t>& rows,
                      const Rounding& rounding, const JudgedMatrices& matrices) {
    return EntryJudge(problem, rounding, matrices).judge(product, rows);
}

}  // namespace heptad::check
