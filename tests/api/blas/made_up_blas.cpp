#include "api/blas/made_up_blas.hpp"

MadeUpCalls made_up_calls;

namespace {

template <class T>
void gemm(char ta, char tb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c,
          int ldc) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            T sum = 0;
            for (int p = 0; p < k; ++p) {
                sum += (ta == 'N' ? a[i + p * lda] : a[p + i * lda]) * (tb == 'N' ? b[p + j * ldb] : b[j + p * ldb]);
            }
            c[i + j * ldc] = alpha * sum + (beta == 0 ? 0 : beta * c[i + j * ldc]);
        }
    }
}

}  // namespace

extern "C" {

int openblas_get_num_threads() {
    ++made_up_calls.threads_asked;
    return made_up_calls.threads;
}

void dgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc, std::size_t length, std::size_t) {
    ++made_up_calls.dgemm;
    made_up_calls.last_m = *m;
    made_up_calls.last_length = length;
    if (*ta == 'N' || *ta == 'T') {  // anything else: a test of wrong arguments
        gemm(*ta, *tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
    }
}

void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc,
            std::size_t, std::size_t) {
    ++made_up_calls.sgemm;
    gemm(*ta, *tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}

/// Calls dgemm_ by its name, as netlib's does: that ends up in the drop-in again.
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc) {
    ++made_up_calls.cblas_dgemm;
    const char* const left = ta == 111 ? "N" : "T";
    const char* const right = tb == 111 ? "N" : "T";
    if (order == 102) {
        dgemm_(left, right, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
    } else {
        dgemm_(right, left, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc, 1, 1);
    }
}

void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha, const double* a,
            const int* lda, const double* beta, double* c, const int* ldc, std::size_t, std::size_t) {
    ++made_up_calls.dsyrk;
    for (int j = 0; j < *n; ++j) {
        const int first = *uplo == 'U' ? 0 : j, count = *uplo == 'U' ? j + 1 : *n - j;
        const bool by_rows = *trans == 'N';
        gemm(*trans, by_rows ? 'T' : 'N', count, 1, *k, *alpha, a + (by_rows ? first : first * *lda), *lda,
             a + (by_rows ? j : j * *lda), *lda, *beta, c + first + j * *ldc, *ldc);
    }
}
}
