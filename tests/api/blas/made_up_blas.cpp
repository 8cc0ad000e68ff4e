#include "api/blas/made_up_blas.hpp"

MadeUpCalls made_up_calls;

namespace {

double conjugate(double x) {
    return x;
}
float conjugate(float x) {
    return x;
}
std::complex<double> conjugate(const std::complex<double>& x) {
    return std::conj(x);
}

/// An element of op(M), M by columns.
template <class T>
T element(char word, const T* m, int leading, int i, int j) {
    const T x = word == 'N' ? m[i + j * leading] : m[j + i * leading];
    return word == 'C' ? conjugate(x) : x;
}

template <class T>
void gemm(char ta, char tb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c,
          int ldc) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            T sum = 0;
            for (int p = 0; p < k; ++p) {
                sum += element(ta, a, lda, i, p) * element(tb, b, ldb, p, j);
            }
            c[i + j * ldc] = alpha * sum + (beta == T(0) ? T(0) : beta * c[i + j * ldc]);
        }
    }
}

}  // namespace

extern "C" {

int openblas_get_num_threads() {
    ++made_up_calls.threads_asked;
    return made_up_calls.threads;
}

int openblas_get_parallel() {
    return made_up_calls.build;
}

int omp_get_max_threads() {
    ++made_up_calls.openmp_threads_asked;
    return 1;
}

int omp_in_parallel() {
    return made_up_calls.in_parallel;
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

void zgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const std::complex<double>* alpha,
            const std::complex<double>* a, const int* lda, const std::complex<double>* b, const int* ldb,
            const std::complex<double>* beta, std::complex<double>* c, const int* ldc, std::size_t, std::size_t) {
    ++made_up_calls.zgemm;
    made_up_calls.last_m = *m;
    if (*ta != 'X') {
        gemm(*ta, *tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
    }
}

void zherk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
            const std::complex<double>* a, const int* lda, const double* beta, std::complex<double>* c, const int* ldc,
            std::size_t, std::size_t) {
    ++made_up_calls.zherk;
    for (int j = 0; j < *n && *trans != 'T'; ++j) {  // which is a test of wrong arguments
        const int first = *uplo == 'U' ? 0 : j, count = *uplo == 'U' ? j + 1 : *n - j;
        const bool by_rows = *trans == 'N';
        c[j + j * *ldc].imag(0);
        gemm<std::complex<double>>(*trans, by_rows ? 'C' : 'N', count, 1, *k, *alpha,
                                   a + (by_rows ? first : first * *lda), *lda, a + (by_rows ? j : j * *lda), *lda,
                                   *beta, c + first + j * *ldc, *ldc);
    }
}
}
