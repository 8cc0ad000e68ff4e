// Complex matrices of small integers in any form and layout, and their products by the definition, which every way must
// give bit for bit.
#pragma once

#include <complex>
#include <cstring>
#include <random>
#include <utility>

#include "base/complex_as_real.hpp"
#include "kernels/guarded_matrix.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {

using Exact = std::complex<long double>;

inline Exact get(const ConstView& v, std::int64_t i, std::int64_t j) {
    return with_part_type(v.type, [&]<class T>() {
        T parts[2];
        std::memcpy(parts, element_pointer(v, i, j), sizeof parts);
        return Exact(parts[0], v.conjugate ? -parts[1] : parts[1]);
    });
}

inline void set(const View& v, std::int64_t i, std::int64_t j, double real, double imaginary) {
    with_part_type(v.type, [&]<class T>() {
        const T parts[2] = {static_cast<T>(real), static_cast<T>(imaginary)};
        std::memcpy(element_pointer(v, i, j), parts, sizeof parts);
    });
}

template <class Draw>
void fill(const GuardedMatrix& matrix, Draw&& draw) {
    for (std::int64_t i = 0; i < matrix.view().rows; ++i) {
        for (std::int64_t j = 0; j < matrix.view().cols; ++j) {
            const double real = draw();
            set(matrix.view(), i, j, real, draw());
        }
    }
}

/// As it lies in memory, transposed, conjugated, or both.
inline ConstView meant(const GuardedMatrix& matrix, bool transpose, bool conjugate) {
    ConstView view = transpose ? transposed(ConstView(matrix.view())) : ConstView(matrix.view());
    view.conjugate = conjugate;
    return view;
}

inline Exact expected(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const ConstView& c0,
                      std::int64_t i, std::int64_t j) {
    Exact sum = 0;
    for (std::int64_t p = 0; p < a.cols && alpha != 0.0; ++p) {
        sum += get(a, i, p) * get(b, p, j);
    }
    return Exact(alpha) * sum + (beta == 0.0 ? Exact() : Exact(beta) * get(c0, i, j));
}

/// alpha * left * right + beta * c of random form, layout and factors; `layouts`: the first so many of all_layouts.
class ComplexCase {
public:
    ComplexCase(std::mt19937& random, Type type, const ProblemSize& size, int layouts)
        : random_(random),
          transpose_a_(pick(1) == 0),
          transpose_b_(pick(1) == 0),
          a_(type, transpose_a_ ? size.k : size.m, transpose_a_ ? size.m : size.k, all_layouts[pick(layouts - 1)]),
          b_(type, transpose_b_ ? size.n : size.k, transpose_b_ ? size.k : size.n, all_layouts[pick(layouts - 1)]),
          c(type, size.m, size.n, all_layouts[pick(layouts - 1)]),
          alpha(factor()),
          beta(factor()),
          wanted_(c) {
        const auto small = [&] { return pick(6) - 3; };
        fill(a_, small);
        fill(b_, small);
        if (beta != 0.0) {
            fill(c, small);  // otherwise C holds NaN, which must not be read
        }
        left = meant(a_, transpose_a_, pick(1) == 0);
        right = meant(b_, transpose_b_, pick(1) == 0);
        for (std::int64_t i = 0; i < size.m; ++i) {
            for (std::int64_t j = 0; j < size.n; ++j) {
                const Exact sum = expected(alpha, left, right, beta, c.view(), i, j);
                set(wanted_.view(), i, j, static_cast<double>(sum.real()) + 0.0, static_cast<double>(sum.imag()) + 0.0);
            }
        }
    }

    /// Zeros may have either sign.
    bool is_right() const {
        for (std::int64_t i = 0; i < c.view().rows; ++i) {
            for (std::int64_t j = 0; j < c.view().cols; ++j) {
                if (get(c.view(), i, j) != get(wanted_.view(), i, j)) {
                    return false;
                }
            }
        }
        return true;
    }

private:
    int pick(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
    Factor factor() {
        const Factor factors[] = {{1, 0}, {0, 0}, {-2, 0}, {0, 1}, {2, -3}};
        return factors[pick(4)];
    }

    std::mt19937& random_;
    bool transpose_a_, transpose_b_;
    GuardedMatrix a_, b_;

public:
    GuardedMatrix c;
    Factor alpha, beta;
    ConstView left, right;

private:
    GuardedMatrix wanted_;
};

}  // namespace heptad::test
