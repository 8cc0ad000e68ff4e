// What the entries do in a process that has no BLAS at all (linked beside nothing): the definition, classically.
#pragma once

#include "api/blas/entry_forms.hpp"

namespace heptad::blas {

/// Tells xerbla_, if the program has one. `routine`: without the letter of the type; `number`: as Fortran counts
/// arguments, -1: CBLAS's order.
void report_wrong_argument(Type type, const char* routine, int number, bool is_cblas);

template <class T>
void gemm_without_library(const GemmArguments<T>& x, bool is_cblas) {
    if (const int wrong = wrong_argument(x); wrong != 0) {
        return report_wrong_argument(TypeOf<T>::value, "GEMM ", wrong, is_cblas);
    }
    if (x.m > 0 && x.n > 0) {
        GemmCall call = call_of(x);
        if (x.alpha == T(0) || x.k == 0) {  // then A and B may be anything
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
void own_cblas_gemm(int order, int ta, int tb, Word m, Word n, Word k, CblasFactor<T> alpha, const T* a, Word lda,
                    const T* b, Word ldb, CblasFactor<T> beta, T* c, Word ldc) {
    const auto meant = [](Word word) { return static_cast<Int>(word); };
    gemm_without_library<T>({order, ta, tb, meant(m), meant(n), meant(k), value_of(alpha), a, meant(lda), b, meant(ldb),
                             value_of(beta), c, meant(ldc)},
                            true);
}

/// Columns of the triangle one after another: the part in column j is a product of rows of op(A) with row j. On the
/// diagonal of herk there are real numbers, whatever stood there.
template <class T, class Factor>
void syrk_without_library(int order, int uplo, int trans, std::int64_t n, std::int64_t k, Factor alpha, const T* a,
                          std::int64_t lda, Factor beta, T* c, std::int64_t ldc, bool is_cblas) {
    constexpr bool is_herk = kTurned<T, Factor> == conjugate_word;
    const bool by_rows = order == row_major, upper = (uplo == upper_word) != by_rows;
    const bool transposed = (trans != as_is) != by_rows;
    const int wrong = !by_rows && order != column_major                     ? -1
                      : uplo != upper_word && uplo != lower_word            ? 1
                      : !is_word_of_triangle<T, Factor>(trans)              ? 2
                      : n < 0                                               ? 3
                      : k < 0                                               ? 4
                      : lda < std::max<std::int64_t>(1, transposed ? k : n) ? 7
                      : ldc < std::max<std::int64_t>(1, n)                  ? 10
                                                                            : 0;
    if (wrong != 0) {
        return report_wrong_argument(TypeOf<T>::value, is_herk ? "HERK " : "SYRK ", wrong, is_cblas);
    }
    constexpr int turned = kTurned<T, Factor>;
    for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t first = upper ? 0 : j, count = upper ? j + 1 : n - j;
        const auto row = [&](std::int64_t i) { return a + (transposed ? i * lda : i); };
        gemm_without_library<T>({column_major, transposed ? turned : as_is, transposed ? as_is : turned, count, 1, k,
                                 T(alpha), row(first), lda, row(j), lda, T(beta), c + first + j * ldc, ldc},
                                is_cblas);
        if constexpr (is_herk) {
            c[j * (ldc + 1)].imag(0);
        }
    }
}
template <class T, class Factor, class Int>
void own_fortran_syrk(const char* uplo, const char* trans, const Int* n, const Int* k, const Factor* alpha, const T* a,
                      const Int* lda, const Factor* beta, T* c, const Int* ldc, std::size_t, std::size_t) {
    syrk_without_library<T, Factor>(column_major, triangle_word(*uplo), transpose_word(*trans), *n, *k, *alpha, a, *lda,
                                    *beta, c, *ldc, false);
}
template <class T, class Factor, class Int>
void own_cblas_syrk(int order, int uplo, int trans, Word n, Word k, CblasFactor<Factor> alpha, const T* a, Word lda,
                    CblasFactor<Factor> beta, T* c, Word ldc) {
    const auto meant = [](Word word) { return static_cast<Int>(word); };
    syrk_without_library<T, Factor>(order, uplo, trans, meant(n), meant(k), value_of(alpha), a, meant(lda),
                                    value_of(beta), c, meant(ldc), true);
}

}  // namespace heptad::blas
