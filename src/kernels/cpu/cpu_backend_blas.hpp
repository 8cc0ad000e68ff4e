// A product of strided views as one cblas call, where BLAS can express it.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/backend.hpp"
#include "kernels/cpu/vendor_blas_calls.hpp"

namespace heptad::cpu {

/// A view in BLAS's words: rows (or, transposed, columns) of adjacent elements, `leading` elements apart.
struct BlasOperand {
    bool fits = false;
    bool by_columns = false;
    int leading = 1;
};

/// Prefers rows. A single row or column has one stride that is never used; BLAS checks it all the same, so it is made
/// up. Rows that overlap or run backwards are not for BLAS.
inline BlasOperand blas_operand(const ConstView& v) {
    constexpr std::int64_t limit = std::numeric_limits<int>::max();
    if (v.rows > limit || v.cols > limit) {
        return {};
    }
    const std::int64_t row_length = v.cols > 1 ? v.cols : 1;
    if (v.col_stride == 1 || v.cols <= 1) {
        const std::int64_t leading = v.rows <= 1 ? row_length : v.row_stride;
        if (leading >= row_length && leading <= limit) {
            return {true, false, static_cast<int>(leading)};
        }
    }
    const std::int64_t column_length = v.rows > 1 ? v.rows : 1;
    if (v.row_stride == 1 || v.rows <= 1) {
        const std::int64_t leading = v.cols <= 1 ? column_length : v.col_stride;
        if (leading >= column_length && leading <= limit) {
            return {true, true, static_cast<int>(leading)};
        }
    }
    return {};
}

template <class T>
void call_gemm(CblasGemm<T> gemm, const Product& p, const BlasOperand& a, const BlasOperand& b, const BlasOperand& c) {
    // C by columns is C by rows in column-major words; an operand is transposed if it runs the other way than C.
    constexpr int row_major = 101, column_major = 102, as_is = 111, transposed = 112;
    gemm(c.by_columns ? column_major : row_major, a.by_columns == c.by_columns ? as_is : transposed,
         b.by_columns == c.by_columns ? as_is : transposed, static_cast<int>(p.c.rows), static_cast<int>(p.c.cols),
         static_cast<int>(p.a.cols), static_cast<T>(p.alpha), static_cast<const T*>(p.a.data), a.leading,
         static_cast<const T*>(p.b.data), b.leading, static_cast<T>(p.beta), static_cast<T*>(p.c.data), c.leading);
}

/// Carries out the product, or returns false and does nothing if BLAS cannot express it or must not be called.
/// Precondition: f32 or f64, no size is 0, alpha is not 0.
inline bool multiply_by_blas(const VendorLibrary& library, const Product& p) {
    const BlasOperand a = blas_operand(p.a), b = blas_operand(p.b), c = blas_operand(p.c);
    if (!a.fits || !b.fits || !c.fits) {
        return false;
    }
    const VendorCall call(library.vendor);
    if (!call) {
        return false;
    }
    if (p.c.type == Type::f32) {
        call_gemm<float>(library.sgemm, p, a, b, c);
    } else {
        call_gemm<double>(library.dgemm, p, a, b, c);
    }
    return true;
}

}  // namespace heptad::cpu
