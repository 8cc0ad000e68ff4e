// A library as inside a NumPy wheel: names of its own, loaded privately.
#include <atomic>
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
}
