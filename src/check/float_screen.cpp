#include "check/float_screen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/splitmix.hpp"
#include "check/residual.hpp"

namespace heptad::check {
namespace {

/// Signs and weights, and the norm of each lane's columns of B.
template <class T>
struct Draws {
    Lanes<T> x;
    std::vector<double> norm;
};

template <class T>
Draws<T> draw(const VerifyProblem& problem, const ColumnWeights& columns, int groups) {
    const std::int64_t n = problem.c.cols;
    const int lanes = groups * problem.options.rounds;
    Draws<T> draws{Lanes<T>(n, lanes), std::vector<double>(static_cast<std::size_t>(lanes))};
    for (int round = 0; round < problem.options.rounds; ++round) {
        const std::uint64_t key = splitmix_word(problem.seed, round);
        for (std::int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const std::uint64_t word = splitmix_word(key, j);
            const auto lane = round * groups + static_cast<int>((word >> 32) % static_cast<std::uint64_t>(groups));
            draws.x.row(j)[lane] = T{(word & 1) != 0 ? columns.weight[at] : -columns.weight[at]};
            double& norm = draws.norm[static_cast<std::size_t>(lane)];
            norm = std::hypot(norm, columns.weight[at] * columns.norm[at]);
        }
    }
    return draws;
}

template <class T>
Screened screen(const VerifyProblem& problem, const Rounding& rounding, const ColumnWeights& columns, int groups) {
    const Draws<T> draws = draw<T>(problem, columns, groups);
    const double alpha = problem.options.alpha, beta = problem.options.beta;
    Residual<T> difference(problem.c.rows, draws.x.lanes, {alpha, beta, problem.a.cols, problem.c.type}, problem.pool);
    difference.take_c(0, problem.c, draws.x, columns.weight);
    problem.stop_if_cancelled();
    if (problem.uses_product()) {
        const Lanes<T> bx = multiply_lanes(problem.b, draws.x, problem.pool);
        problem.stop_if_cancelled();
        difference.take_a(0, problem.a, bx);
        problem.stop_if_cancelled();
    }
    if (problem.uses_c0()) {
        difference.take_c0(0, *problem.options.c0, draws.x, columns.weight);
        problem.stop_if_cancelled();
    }
    double norm = 0, least_share = std::numeric_limits<double>::infinity(), least_weight = least_share;
    for (std::size_t j = 0; j < columns.weight.size(); ++j) {
        const double share = columns.weight[j] * columns.norm[j];
        norm = std::hypot(norm, share);
        if (share > 0) {
            least_share = std::min(least_share, share);
            least_weight = std::min(least_weight, columns.weight[j]);
        }
    }
    std::vector<SumNorms> norms(static_cast<std::size_t>(problem.c.rows));
    Screened screened{std::vector<double>(norms.size()), 0, 0, 0};
    for (std::size_t i = 0; i < norms.size(); ++i) {
        norms[i] = {std::fabs(alpha) * difference.a_rows[i].norm, norm, difference.c_rows[i].norm,
                    problem.uses_c0() ? std::fabs(beta) * difference.c0_rows[i].norm : 0, 0};
        const double largest = norms[i].a * norm;
        screened.most_c_share = std::max(screened.most_c_share, largest > 0 ? norms[i].c / largest : 0);
    }
    const double largest_lane = *std::ranges::max_element(draws.norm);
    for (std::int64_t i = 0; i < problem.c.rows; ++i) {
        SumNorms& of_row = norms[static_cast<std::size_t>(i)];
        of_row.most_c_share = screened.most_c_share;
        const double expected = norm > 0 ? rounding.expected_of_sum(of_row).both() / norm : 0;
        double& worst = screened.ratio[static_cast<std::size_t>(i)];
        for (std::size_t lane = 0; lane < draws.norm.size(); ++lane) {
            const double sum = std::fabs(value_of(difference.sums.row(i)[lane]));
            const double ratio = sum == 0 ? 0 : sum / (expected * draws.norm[lane]);
            worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(worst, ratio);
        }
        screened.largest_sum = std::max(screened.largest_sum, norm > 0 ? expected * largest_lane / least_weight : 0);
    }
    screened.entry_per_ratio = norm > 0 ? largest_lane / least_share : 0;
    return screened;
}

}  // namespace

ColumnWeights weigh_columns(const std::vector<RowFacts>& b_cols, std::int64_t cols) {
    const auto n = static_cast<std::size_t>(cols);
    ColumnWeights columns{std::vector<double>(n, 1), std::vector<double>(n, 1)};
    double largest_weight = 0;
    for (const RowFacts& column : b_cols) {
        largest_weight = std::max(largest_weight, column.norm > 0 ? weight_of(column.norm) : 0);
    }
    for (std::size_t j = 0; j < b_cols.size(); ++j) {
        columns.norm[j] = largest_weight > 0 ? b_cols[j].norm : 1;
        // C is zero where B is: anything there is wrong, however small.
        columns.weight[j] = b_cols[j].non_finite ? 0
                            : b_cols[j].norm > 0 ? weight_of(b_cols[j].norm)
                            : largest_weight > 0 ? largest_weight
                                                 : 1;
    }
    return columns;
}

Screened screen_rows(const VerifyProblem& problem, const Rounding& rounding, const ColumnWeights& columns) {
    return problem.c.type == Type::f64 ? screen<DoubleDouble>(problem, rounding, columns, 4)
                                       : screen<double>(problem, rounding, columns, 8);
}

}  // namespace heptad::check
