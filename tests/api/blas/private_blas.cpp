// A library as inside a NumPy wheel: names of its own, loaded privately. Those without 64_ have 64-bit integers here,
// too, as Debian's libopenblas64 has.
#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {
__attribute__((visibility("default"))) std::atomic<int> private_calls{0};
__attribute__((visibility("default"))) std::atomic<int> private_threads{1};

__attribute__((visibility("default"))) int scipy_openblas_get_num_threads64_() {
    return private_threads;
}

__attribute__((visibility("default"))) void scipy_cblas_dgemm64_(int, int, int, std::int64_t m, std::int64_t n,
                                                                 std::int64_t k, double alpha, const double* a,
                                                                 std::int64_t lda, const double* b, std::int64_t ldb,
                                                                 double beta, double* c, std::int64_t ldc) {
    ++private_calls;
    for (std::int64_t i = 0; i < m; ++i) {  // by rows, nothing transposed
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t p = 0; p < k; ++p) {
                sum += a[i * lda + p] * b[p * ldb + j];
            }
            c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
        }
    }
}

__attribute__((visibility("default"))) std::atomic<std::int64_t> private_leading{0};
__attribute__((visibility("default"))) std::atomic<int> private_batches{0};

__attribute__((visibility("default"))) std::int64_t isamax_(const std::int64_t* n, const float*, const std::int64_t*) {
    return *n < 1 ? 0 : 1;
}

__attribute__((visibility("default"))) void scipy_cblas_dgemm(int order, int ta, int tb, std::int64_t m, std::int64_t n,
                                                              std::int64_t k, double alpha, const double* a,
                                                              std::int64_t lda, const double* b, std::int64_t ldb,
                                                              double beta, double* c, std::int64_t ldc) {
    private_leading = lda;
    scipy_cblas_dgemm64_(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

__attribute__((visibility("default"))) void scipy_cblas_dgemm_batch(int, const int*, const int*, const std::int64_t*,
                                                                    const std::int64_t*, const std::int64_t*,
                                                                    const double*, const double**, const std::int64_t*,
                                                                    const double**, const std::int64_t*, const double*,
                                                                    double**, const std::int64_t*, std::int64_t groups,
                                                                    const std::int64_t*) {
    private_batches += static_cast<int>(groups);
}

/// The upper triangle of A A^T, by columns.
__attribute__((visibility("default"))) void scipy_dsyrk_(const char*, const char*, const std::int64_t* n,
                                                         const std::int64_t* k, const double* alpha, const double* a,
                                                         const std::int64_t* lda, const double* beta, double* c,
                                                         const std::int64_t* ldc, std::size_t, std::size_t) {
    for (std::int64_t j = 0; j < *n; ++j) {
        for (std::int64_t i = 0; i <= j; ++i) {
            double sum = 0;
            for (std::int64_t p = 0; p < *k; ++p) {
                sum += a[i + p * *lda] * a[j + p * *lda];
            }
            c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
        }
    }
}
}
