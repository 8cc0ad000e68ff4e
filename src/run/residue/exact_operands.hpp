// A product that is rounded once: the integers of A and B, how many moduli these take, what is not finite, and the one
// rounding of every entry of C.
#pragma once

#include <cmath>
#include <vector>

#include "base/stored_type.hpp"
#include "plan/model/plan.hpp"
#include "run/residue/residue_lines.hpp"
#include "run/residue/rounded_once.hpp"

namespace heptad {

class ExactOperands {
public:
    /// `product` must outlive it.
    ExactOperands(Backend& backend, const Product& of);

    /// A tile of C, and the moduli that it takes. None where all of it is zero: integers of A or B are not even made
    /// then, however many bits they span.
    struct Tile {
        std::int64_t row, col, rows, cols;
        int moduli;
    };
    /// All of them, row by row. Throws Error(input) where the plan has not as many moduli.
    std::vector<Tile> tiles(const ProductPlan& plan) const;

    int exponent_of(std::int64_t row, std::int64_t col) const {
        return rows.last_bit[static_cast<std::size_t>(row)] + cols.last_bit[static_cast<std::size_t>(col)];
    }
    template <class T>
    T& entry(std::int64_t row, std::int64_t col) const {
        const View& c = product.c;
        return static_cast<T*>(c.data)[row * c.row_stride + col * c.col_stride];
    }
    /// An entry of C; integer() is that of AB.
    template <class T, class Integer>
    void write(std::int64_t row, std::int64_t col, const Integer& integer) const {
        const double alpha = product.alpha, beta = product.beta;
        T& to = entry<T>(row, col);
        const double old = beta == 0 ? 0 : to_double(to);
        if (rows.not_finite[static_cast<std::size_t>(row)] || cols.not_finite[static_cast<std::size_t>(col)] ||
            !std::isfinite(old)) {
            to = from_double<T>(alpha * not_finite_sum(row, col) + (beta == 0 ? 0 : beta * old));
            return;
        }
        const int exponent = exponent_of(row, col);
        const bool finite_factors = std::isfinite(alpha) && std::isfinite(beta);
        to =
            from_double<T>(finite_factors ? rounded_once(alpha, integer(), exponent, beta, old, product.c.type)
                                          : alpha * rounded_once(1, integer(), exponent, 0, 0, Type::f64) + beta * old);
    }

    const Product& product;
    const IntegerLines rows, cols;

private:
    /// Of rows and columns with a NaN or an infinity: the sum of the products that are not finite, as it comes out in
    /// any order.
    double not_finite_sum(std::int64_t row, std::int64_t col) const;
};

/// How many moduli products of lines with such norms take (log2). Throws Error(input) where they are more than `most`.
int moduli_within(double of_a, double of_b, int most);

/// The largest of `count` norms from `first` on, as far as there are any.
double largest_norm(const IntegerLines& lines, std::int64_t first, std::int64_t count);

}  // namespace heptad
