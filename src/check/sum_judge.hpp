// Random signed sums over rows of C against alpha A (B x) + beta C0 x, where the three matrices never lie in memory at
// once (a product from file to file, or on many machines): what rounding usually makes of such a sum, the most it could
// make of it, and what follows. A sum above the second is an error; one between the two is neither proof nor
// refutation, and reported as such.
#pragma once

#include <cstdint>
#include <vector>

#include "check/float_facts.hpp"
#include "check/verify.hpp"

namespace heptad::check {

/// The product that is judged.
struct JudgedProduct {
    double alpha = 1, beta = 0;
    std::int64_t k = 0;
    Type type = Type::f32;
};

/// Adds the facts of a part of a row (or column) to those of the parts before.
void merge(RowFacts& all, const RowFacts& part);

class SumJudge {
public:
    explicit SumJudge(const JudgedProduct& product) : product_(product) {}

    /// Largest of what a strip of C was computed from, and its columns.
    struct Strip {
        RowFacts a, b;
        double c0_max_abs = 0;
        std::int64_t first_col = 0, cols = 0;
    };
    /// One row of the strip.
    struct Row {
        std::int64_t index = 0;
        bool is_finite = true;          // in C
        bool depends_on_finite = true;  // in A, B and C0
    };
    /// `sums`: what the sums over the row differ by, one for each draw of signs. Throws Error(verification) where the
    /// row is wrong.
    void judge(const Strip& strip, const Row& row, const std::vector<double>& sums);

    /// Passed, or not verifiable, after all rows.
    VerifyResult result(int rounds, std::uint64_t seed) const;

private:
    struct Limits {
        double noise, worst;
    };
    Limits limits_of(const Strip& strip) const;
    bool may_overflow(const Strip& strip) const;

    JudgedProduct product_;
    double largest_ratio_ = 0, largest_noise_ = 0;
    std::int64_t worst_row_ = -1, unchecked_rows_ = 0;
};

}  // namespace heptad::check
