// A and B of a product that is rounded once: their integers, how many moduli these take, and what is not finite.
#pragma once

#include "plan/model/plan.hpp"
#include "run/residue/residue_lines.hpp"

namespace heptad {

class ExactOperands {
public:
    ExactOperands(Backend& backend, const ConstView& a, const ConstView& b);

    /// The moduli that the tile takes whose first entry this is. None where all of it is zero: integers of A or B are
    /// not even made then, however many bits they span. Throws Error(input) where the plan has not as many.
    int moduli_of(const ProductPlan& plan, std::int64_t row, std::int64_t col) const;
    /// Of rows and columns with a NaN or an infinity: the sum of the products that are not finite, as it comes out in
    /// any order.
    double not_finite_sum(std::int64_t row, std::int64_t col) const;

    ConstView a, b;
    IntegerLines rows, cols;
};

/// How many moduli products of lines with such norms take (log2). Throws Error(input) where they are more than `most`.
int moduli_within(double of_a, double of_b, int most);

/// The largest of `count` norms from `first` on, as far as there are any.
double largest_norm(const IntegerLines& lines, std::int64_t first, std::int64_t count);

}  // namespace heptad
