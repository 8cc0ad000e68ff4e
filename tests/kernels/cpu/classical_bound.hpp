// Products of numbers of any size, tiny ones too, against the classical bound.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/guarded_matrix.hpp"

namespace heptad::test {

class OfAnySizes : public testing::TestWithParam<cpu::InstructionSet> {
protected:
    /// Entries of either sign whose exponents are evenly spread over [least, most].
    void fill(GuardedMatrix& x, int least, int most) {
        for (std::int64_t i = 0; i < x.view().rows; ++i) {
            fill_row(x, i, 0, x.view().cols, least, most);
        }
    }
    void fill_row(GuardedMatrix& x, std::int64_t i, std::int64_t begin, std::int64_t end, int least, int most) {
        std::uniform_real_distribution<double> significand(-2, 2);
        std::uniform_int_distribution<int> exponent(least, most);
        for (std::int64_t j = begin; j < end; ++j) {
            x.set(i, j, std::ldexp(significand(random_), exponent(random_)));
        }
    }
    std::mt19937 random_{11};
};

/// The classical bound of sums in f32 that are rounded once to the result's type, and what underflows in either.
inline void expect_near_exact_product(const GuardedMatrix& a, const GuardedMatrix& b, double alpha,
                                      const GuardedMatrix& before, double beta, const GuardedMatrix& c, Type type) {
    const double rounding = type == Type::bf16 ? 0x1p-8 : 0x1p-24, tiniest = type == Type::bf16 ? 0x1p-133 : 0x1p-149;
    const std::int64_t k = a.view().cols;
    for (std::int64_t i = 0; i < a.view().rows; ++i) {
        for (std::int64_t j = 0; j < b.view().cols; ++j) {
            double sum = 0, magnitude = 0;
            for (std::int64_t p = 0; p < k; ++p) {
                sum += a.get(i, p) * b.get(p, j);
                magnitude += std::abs(a.get(i, p) * b.get(p, j));
            }
            const double expected = alpha * sum + (beta == 0 ? 0 : beta * before.get(i, j));
            const double terms = std::abs(alpha) * magnitude + (beta == 0 ? 0 : std::abs(beta * before.get(i, j)));
            const double allowed = rounding * std::abs(expected) + static_cast<double>(k + 2) * 0x1p-24 * terms +
                                   tiniest + static_cast<double>(k) * 0x1p-149 * std::abs(alpha);
            ASSERT_NEAR(c.get(i, j), expected, allowed) << i << ", " << j << " of depth " << k;
        }
    }
}

}  // namespace heptad::test
