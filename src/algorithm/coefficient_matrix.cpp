#include "algorithm/coefficient_matrix.hpp"

#include "base/error.hpp"

namespace heptad {

CoefficientMatrix identity_matrix(int size) {
    CoefficientMatrix result(size, size);
    for (int i = 0; i < size; ++i) {
        result(i, i) = 1;
    }
    return result;
}

CoefficientMatrix operator*(const CoefficientMatrix& x, const CoefficientMatrix& y) {
    CoefficientMatrix result(x.rows, y.cols);
    for (int i = 0; i < x.rows; ++i) {
        for (int l = 0; l < x.cols; ++l) {
            if (!x(i, l).is_zero()) {
                for (int j = 0; j < y.cols; ++j) {
                    result(i, j) = result(i, j) + x(i, l) * y(l, j);
                }
            }
        }
    }
    return result;
}

CoefficientMatrix transposed(const CoefficientMatrix& x) {
    CoefficientMatrix result(x.cols, x.rows);
    for (int i = 0; i < x.rows; ++i) {
        for (int j = 0; j < x.cols; ++j) {
            result(j, i) = x(i, j);
        }
    }
    return result;
}

CoefficientMatrix kronecker(const CoefficientMatrix& x, const CoefficientMatrix& y) {
    CoefficientMatrix result(x.rows * y.rows, x.cols * y.cols);
    for (int i = 0; i < result.rows; ++i) {
        for (int j = 0; j < result.cols; ++j) {
            result(i, j) = x(i / y.rows, j / y.cols) * y(i % y.rows, j % y.cols);
        }
    }
    return result;
}

CoefficientMatrix reduced_mod_2(const CoefficientMatrix& x) {
    CoefficientMatrix result(x.rows, x.cols);
    for (std::size_t i = 0; i < x.entries.size(); ++i) {
        if (x.entries[i].denominator() % 2 == 0) {
            fail(ErrorCode::input, "{} has no value in GF(2)", x.entries[i].to_string());
        }
        result.entries[i] = x.entries[i].numerator() % 2 == 0 ? 0 : 1;
    }
    return result;
}

}  // namespace heptad
