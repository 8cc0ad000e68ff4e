// A straight-line program of additions: how to compute all rows of M * x with shared subexpressions.
// Values are numbered: 0 .. inputs-1 are the inputs x_i, then one value per statement.
#pragma once

#include <vector>

#include "algorithm/coefficient_matrix.hpp"

namespace heptad {

struct LinearTerm {
    int value = 0;
    Rational coefficient = 1;
};

struct LinearStatement {
    std::vector<LinearTerm> terms;  // new value = sum of coefficient * value
};

struct LinearProgram {
    int inputs = 0;
    std::vector<LinearStatement> statements;
    std::vector<LinearTerm> outputs;  // row r of M * x is coefficient * value (value -1: the row is zero)

    /// Additions (and subtractions): sum over statements of (terms - 1).
    int additions() const;
    /// A sum of values: a new statement, unless it is zero or a multiple of one value.
    LinearTerm add_sum(std::vector<LinearTerm> terms);
};

/// The additions of one level of an algorithm: programs for U, V and the transpose of W.
struct LevelSums {
    LinearProgram a, b, c;
};

/// What is not zero in a row.
std::vector<LinearTerm> terms_of_row(const CoefficientMatrix& matrix, int row);
/// One statement per row, nothing shared.
LinearProgram plain_program(const CoefficientMatrix& matrix);

/// Greedy elimination of common pairs over the rationals (`mod_2`: over GF(2)). Deterministic, never cancels; seconds
/// at most for <5,5,5>:93.
LinearProgram share_subexpressions(const CoefficientMatrix& matrix, bool mod_2);
/// Those of its programs that have the fewest additions, at most `limit` of them and no two alike. Which sums are
/// shared decides what a schedule has to keep: S2 = S1 - A11 and S2 = A22 - S3 cost one addition each, but live
/// together with different values.
std::vector<LinearProgram> sharing_choices(const CoefficientMatrix& matrix, bool mod_2, std::size_t limit);
/// A program for the transposed matrix: every path keeps its coefficient.
LinearProgram transposed(const LinearProgram& program);

}  // namespace heptad
