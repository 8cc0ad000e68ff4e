// What the entries do in a process that has no BLAS at all (linked beside nothing): the definition, classically.
#pragma once

#include "api/blas/entry_forms.hpp"

namespace heptad::blas {

/// Tells xerbla_, if the program has one: `routine` in capitals, six letters.
void report_wrong_argument(const char* routine, int number);

/// There is nobody to pass a complex call on to.
[[noreturn]] void no_library(const char* entry);

template <class T>
void gemm_without_library(const GemmArguments<T>& x, bool is_cblas) {
    if (const int wrong = wrong_argument(x); wrong != 0) {
        return report_wrong_argument(sizeof(T) == 8 ? "DGEMM " : "SGEMM ",
                                     is_cblas ? (wrong < 0 ? 1 : wrong + 1) : wrong);
    }
    if (x.m > 0 && x.n > 0) {
        GemmCall call = call_of(x);
        if (x.alpha == 0 || x.k == 0) {  // then A and B may be anything
            call.a.cols = call.b.rows = 0;
        }
        multiply_without_library(call);
    }
}

template <class T, class Int>
void own_fortran_gemm(const char* ta, const char* tb, const Int* m, const Int* n, const Int* k, const T* alpha,
                      const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc,
                      std::size_t, std::size_t) {
    gemm_without_library<T>(
        {column_major, transpose_word(*ta), transpose_word(*tb), *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc},
        false);
}
template <class T, class Int>
void own_cblas_gemm(int order, int ta, int tb, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b, Int ldb,
                    T beta, T* c, Int ldc) {
    gemm_without_library<T>({order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, true);
}

/// Columns of the triangle one after another: the part in column j is a product of rows of op(A) with row j.
template <class T>
void syrk_without_library(int order, int uplo, int trans, std::int64_t n, std::int64_t k, T alpha, const T* a,
                          std::int64_t lda, T beta, T* c, std::int64_t ldc, bool is_cblas) {
    const bool by_rows = order == row_major, upper = (uplo == upper_word) != by_rows;
    const bool transposed = (trans != as_is) != by_rows;
    const int wrong = !by_rows && order != column_major                     ? -1
                      : uplo != upper_word && uplo != lower_word            ? 1
                      : trans < as_is || trans > conjugate_word             ? 2
                      : n < 0                                               ? 3
                      : k < 0                                               ? 4
                      : lda < std::max<std::int64_t>(1, transposed ? k : n) ? 7
                      : ldc < std::max<std::int64_t>(1, n)                  ? 10
                                                                            : 0;
    if (wrong != 0) {
        return report_wrong_argument(sizeof(T) == 8 ? "DSYRK " : "SSYRK ",
                                     is_cblas ? (wrong < 0 ? 1 : wrong + 1) : wrong);
    }
    for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t first = upper ? 0 : j, count = upper ? j + 1 : n - j;
        const auto row = [&](std::int64_t i) { return a + (transposed ? i * lda : i); };
        const int left = transposed ? transposed_word : as_is, right = transposed ? as_is : transposed_word;
        gemm_without_library<T>({column_major, left, right, count, 1, k, alpha, row(first), lda, row(j), lda, beta,
                                 c + first + j * ldc, ldc},
                                is_cblas);
    }
}
template <class T, class Int>
void own_fortran_syrk(const char* uplo, const char* trans, const Int* n, const Int* k, const T* alpha, const T* a,
                      const Int* lda, const T* beta, T* c, const Int* ldc, std::size_t, std::size_t) {
    syrk_without_library<T>(column_major, triangle_word(*uplo), transpose_word(*trans), *n, *k, *alpha, a, *lda, *beta,
                            c, *ldc, false);
}
template <class T, class Int>
void own_cblas_syrk(int order, int uplo, int trans, Int n, Int k, T alpha, const T* a, Int lda, T beta, T* c, Int ldc) {
    syrk_without_library<T>(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc, true);
}

}  // namespace heptad::blas
