// NaNs and infinities of a product, compared with those that the classical product has: entry (i, j) is not finite if
// row i of A, column j of B or entry (i, j) of C0 holds something that is not (infinity times zero is NaN).
#pragma once

#include <string>
#include <vector>

#include "check/float_facts.hpp"
#include "check/verify.hpp"

namespace heptad::check {

struct NonFiniteReport {
    Verdict verdict = Verdict::passed;
    std::int64_t bad_row = -1, bad_col = -1;
    std::string explanation;            // of a verdict other than passed
    std::vector<char> row_is_left_out;  // rows that sums over columns cannot check
};

/// Facts of the rows of A, the columns of B, and C. `may_overflow`: sums of finite products may leave the type's range.
NonFiniteReport compare_non_finite(const FloatProduct& product, const ConstView& c, const std::vector<RowFacts>& a_rows,
                                   const std::vector<RowFacts>& b_cols, bool may_overflow, ThreadPool& pool);

/// The largest finite value.
double largest_finite(Type type);

}  // namespace heptad::check
