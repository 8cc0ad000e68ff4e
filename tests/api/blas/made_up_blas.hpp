// A BLAS of plain loops that stands for the program's own: it counts its calls and remembers the last one.
#pragma once

#include <atomic>
#include <complex>
#include <cstddef>

#if defined(__GNUC__)
#define MADE_UP __attribute__((visibility("default")))
#endif

extern "C" {
struct MadeUpCalls {
    std::atomic<int> dgemm, cblas_dgemm, sgemm, dsyrk, zgemm, zherk;
    std::atomic<int> last_m;
    std::atomic<std::size_t> last_length;
    std::atomic<int> threads;  // what openblas_get_num_threads() answers
    std::atomic<int> threads_asked;
    std::atomic<int> in_parallel;  // what omp_in_parallel() answers
    std::atomic<int> build;        // what openblas_get_parallel() answers: 2 for OpenMP
    std::atomic<int> openmp_threads_asked;
};
MADE_UP extern MadeUpCalls made_up_calls;

MADE_UP int openblas_get_num_threads();
MADE_UP int openblas_get_parallel();
MADE_UP int omp_in_parallel();
MADE_UP int omp_get_max_threads();
MADE_UP void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                    const int*, const double*, const int*, const double*, double*, const int*, std::size_t,
                    std::size_t);
MADE_UP void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                    const int*, const float*, const int*, const float*, float*, const int*, std::size_t, std::size_t);
MADE_UP void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                         int);
MADE_UP void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*,
                    const double*, double*, const int*, std::size_t, std::size_t);
MADE_UP void zgemm_(const char*, const char*, const int*, const int*, const int*, const std::complex<double>*,
                    const std::complex<double>*, const int*, const std::complex<double>*, const int*,
                    const std::complex<double>*, std::complex<double>*, const int*, std::size_t, std::size_t);
MADE_UP void zherk_(const char*, const char*, const int*, const int*, const double*, const std::complex<double>*,
                    const int*, const double*, std::complex<double>*, const int*, std::size_t, std::size_t);
}
