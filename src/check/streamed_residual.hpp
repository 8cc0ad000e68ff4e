// Random signed sums over rows of C against alpha A (B x) + beta C0 x, where the three matrices never lie in memory at
// once (a product from file to file, or on many machines), so that no row can be recomputed. Judged by the scale that
// verify() has for entries (rounding.hpp), row by row:
//
// right:           no sum is above kMostOfEntry times, and the root mean square of all draws above kMostOfRow times
// what
//                  is expected of the row
// failed:          a sum is above what rounding errors could do even if all agreed in sign
// not verifiable:  what lies between, and a row that stands far out of the median row
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "check/float_facts.hpp"
#include "check/rounding.hpp"
#include "check/verify.hpp"

namespace heptad::check {

/// The product that is judged.
struct JudgedProduct {
    double alpha = 1, beta = 0;
    std::int64_t k = 0;
    Type type = Type::f32;
    JudgedBy by = {};
    std::int64_t value_roundings = 1;  // times that C is rounded to its type: it may be summed in pieces
    double alpha_imaginary = 0, beta_imaginary = 0;
};

/// Adds the facts of a part of a row (or column) to those of the parts before.
void merge(RowFacts& all, const RowFacts& part);

/// Weights of columns whose norms, or those of a part of them, are known: powers of two about 1 / norm. Columns of
/// zeros get the median weight of the others.
std::vector<double> weights_of(const std::vector<RowFacts>& columns);

class StreamedResidual {
public:
    explicit StreamedResidual(const JudgedProduct& product);

    /// What a strip of C was computed from: largest rows and columns, and its columns with their weights.
    struct Strip {
        RowFacts a, b;
        double c0_max_abs = 0;
        std::int64_t first_col = 0;
        double b_norm = 0;        // of the weighted columns
        double least_share = 1;   // the smallest weighted norm of a column that is not zero
        double least_weight = 1;  // of those columns
        double weights = 0;       // the sum of all
        std::size_t columns = 0;  // that are not zero
        double most_c_share = 0;  // see SumNorms
    };
    /// Fills in what follows from the columns of B.
    static void add_columns(Strip& strip, const std::vector<RowFacts>& columns, const std::vector<double>& weights);
    /// The share of a row of C, for Strip::most_c_share.
    double share(const Strip& strip, double a_norm, double c_norm) const;

    /// One row of the strip.
    struct Row {
        std::int64_t index = 0;
        bool is_finite = true;           // in C
        bool depends_on_finite = true;   // in A, B and C0
        double a_norm = 0;               // of the row of A
        double c_norm = 0, c0_norm = 0;  // of the rows of C and C0, weighted
    };
    /// `sums`: what the sums over the row differ by, one for each draw of signs. Throws Error(verification) where the
    /// row is wrong.
    void judge(const Strip& strip, const Row& row, const std::vector<double>& sums);

    /// Passed, or not verifiable, after all rows.
    VerifyResult result(int rounds, std::uint64_t seed) const;

private:
    /// A row's sums as multiples of what is allowed, and of what the worst case is.
    struct Ratios {
        double allowed = 0, worst = 0;
    };
    Ratios ratios_of(const ExpectedError& expected, double underflow, const Strip& strip,
                     const std::vector<double>& sums) const;
    bool may_overflow(const Strip& strip) const;
    void count(double ratio);
    double median_ratio() const;

    JudgedProduct product_;
    Rounding rounding_;
    double largest_ratio_ = 0, detectable_error_ = 0, threshold_ = 0, threshold_alone_ = 0;
    bool passes_as_fast_ = true;  // all rows that did not pass
    std::int64_t worst_row_ = -1, unchecked_rows_ = 0;
    /// Rows by the logarithm of their ratio, for the median; those without any error are not counted.
    static constexpr int kBins = 512, kBinsPerPower = 4;
    std::array<std::int64_t, kBins> rows_by_ratio_{};
};

}  // namespace heptad::check
