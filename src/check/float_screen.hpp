// Which rows of C look least like the product? In each of several rounds every column j is put into one of a few groups
// at random and gets a random sign s_j. For each row i and group g the sum of s_j w_j d_ij over the group is computed,
// D = C - (alpha A B + beta C0), as C x - alpha A (B x) - beta C0 x in a higher precision, and divided by what rounding
// is expected to make of it (rounding.hpp).
//
// The weights w_j are powers of two about 1 / |b_j|: small columns do not vanish beside large ones.
//
// What is missed: let d be the largest weighted entry of a row of D. Whatever the other entries of its group are, one
// of the two signs of d gives a sum of |d| at least. So a row with a wrong entry has a sum of that size in a round with
// probability at least 1/2, and in some round with 1 - 2^-rounds at least. (Alone in a row of right entries, it has it
// in every round.)
#pragma once

#include <vector>

#include "check/float_facts.hpp"
#include "check/rounding.hpp"
#include "check/verify_kinds.hpp"

namespace heptad::check {

struct ColumnWeights {
    std::vector<double> weight;  // 0: the column is left out
    /// |b_j|; where all are zero, or no product is part of C, ones.
    std::vector<double> norm;
};
/// `b_cols` is empty where no product is part of C. Columns that are not finite are left out.
ColumnWeights weigh_columns(const std::vector<RowFacts>& b_cols, std::int64_t cols);

struct Screened {
    std::vector<double> ratio;  // for each row of C, its largest sum over what is expected; NaN counts as infinity
    /// An entry is off by this many times its expected error where its sum has ratio 1.
    double entry_per_ratio = 0;
    double largest_sum = 0;   // what is expected of a sum, divided by its smallest weight: an absolute error
    double most_c_share = 0;  // see SumNorms
};
Screened screen_rows(const VerifyProblem& problem, const Rounding& rounding, const ColumnWeights& columns);

}  // namespace heptad::check
