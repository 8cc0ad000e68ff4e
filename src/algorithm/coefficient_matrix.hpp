// A small dense matrix of exact rationals: U, V, W and the changes of basis.
#pragma once

#include <vector>

#include "algorithm/rational.hpp"

namespace heptad {

struct CoefficientMatrix {
    int rows = 0;
    int cols = 0;
    std::vector<Rational> entries;  // row-major

    CoefficientMatrix() = default;
    CoefficientMatrix(int r, int c)
        : rows(r), cols(c), entries(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
    Rational& operator()(int i, int j) {
        return entries[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(j)];
    }
    const Rational& operator()(int i, int j) const {
        return entries[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(j)];
    }
    bool operator==(const CoefficientMatrix&) const = default;
};

CoefficientMatrix identity_matrix(int size);
CoefficientMatrix operator*(const CoefficientMatrix& x, const CoefficientMatrix& y);
CoefficientMatrix transposed(const CoefficientMatrix& x);
CoefficientMatrix kronecker(const CoefficientMatrix& x, const CoefficientMatrix& y);
/// Every entry reduced to 0 or 1; throws Error(input) on an even denominator.
CoefficientMatrix reduced_mod_2(const CoefficientMatrix& x);

}  // namespace heptad
