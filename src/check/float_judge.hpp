// Rows of a float product, judged entry by entry against the rounding errors to be expected of each (rounding.hpp).
//
// right:           every entry is off by kMostOfEntry times its expected error at most, or by twice what plain
// summation
//                  in the type makes of this very data
// failed:          an entry is off by more than rounding errors could do even if all agreed in sign, or stands alone
// far
//                  above the median entry
// not verifiable:  what lies between
#pragma once

#include <vector>

#include "check/float_facts.hpp"
#include "check/rounding.hpp"
#include "check/verify_kinds.hpp"

namespace heptad::check {

/// What the judge knows of the whole matrices.
struct JudgedMatrices {
    const std::vector<RowFacts>& a_rows;
    const std::vector<RowFacts>& b_cols;
    double c0_max_abs = 0;
    double most_c_share = 0;  // see SumNorms
};

struct RowsJudged {
    Verdict verdict = Verdict::passed;
    double residual = 0;  // largest error over what is allowed
    double largest_allowed = 0;
    double median_error = 0;  // over what is expected
    std::int64_t bad_row = -1, bad_col = -1;
    bool overflows = false;       // not verifiable: because the product leaves double precision there
    bool passes_as_fast = false;  // where it did not pass: would it, by the norms of the whole matrices?
};
RowsJudged judge_rows(const VerifyProblem& problem, const FloatProduct& product, const std::vector<std::int64_t>& rows,
                      const Rounding& rounding, const JudgedMatrices& matrices);

}  // namespace heptad::check
