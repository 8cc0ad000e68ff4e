// Every name that libheptad_blas.so exports, from one list:
//
//                          32-bit integers                    64-bit integers
//   Fortran                dgemm_       scipy_dgemm_          dgemm_64_       scipy_dgemm_64_
//   CBLAS                  cblas_dgemm  scipy_cblas_dgemm     cblas_dgemm64_  scipy_cblas_dgemm64_  cblas_dgemm_64
//
// for gemm, gemm_batch and syrk of all four types, and herk and gemm3m of the complex ones. scipy_: inside NumPy's and
// SciPy's wheels. 64_: OpenBLAS's and Julia's 64-bit builds and NumPy's older wheels. _64: netlib's and MKL's.
//
// Compiled a second time with HEPTAD_BLAS_PREFIXED, all are called heptad_dgemm_ and so on, to be linked beside a BLAS.
#include <complex>
#include <cstdint>

#include "api/blas/entry_forms.hpp"
#include "api/blas/without_library.hpp"

namespace heptad::blas {
namespace {

template <auto function>
AnyFunction as_any() {
    return reinterpret_cast<AnyFunction>(function);
}

AnyFunction no_function() {
    return nullptr;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names and types
#ifdef HEPTAD_BLAS_PREFIXED
#define HEPTAD_EXPORTED(name) heptad_##name
#else
#define HEPTAD_EXPORTED(name) name
#endif

#define HEPTAD_FORTRAN_GEMM(name, T, Int)                                                                              \
    static constinit RealFunction real_##name{#name, as_any<&own_fortran_gemm<T, Int>>};                               \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(const char* ta, const char* tb, const Int* m, const Int* n,       \
                                                     const Int* k, const T* alpha, const T* a, const Int* lda,         \
                                                     const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc,  \
                                                     std::size_t ta_length, std::size_t tb_length) {                   \
        fortran_gemm<T, Int>(real_##name, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, ta_length, tb_length); \
    }

#define HEPTAD_CBLAS_GEMM(name, T, Int)                                                                                \
    static constinit RealFunction real_##name{#name, as_any<&own_cblas_gemm<T, Int>>};                                 \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(int order, int ta, int tb, Word m, Word n, Word k,                \
                                                     CblasFactor<T> alpha, const T* a, Word lda, const T* b, Word ldb, \
                                                     CblasFactor<T> beta, T* c, Word ldc) {                            \
        cblas_gemm<T, Int>(real_##name, order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                  \
    }

#define HEPTAD_FORTRAN_SYRK(name, gemm, T, Factor, Int)                                                                \
    static constinit RealFunction real_##name{#name, as_any<&own_fortran_syrk<T, Factor, Int>>};                       \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(                                                                  \
        const char* uplo, const char* trans, const Int* n, const Int* k, const Factor* alpha, const T* a,              \
        const Int* lda, const Factor* beta, T* c, const Int* ldc, std::size_t uplo_length, std::size_t trans_length) { \
        fortran_syrk<T, Factor, Int>(real_##name, real_##gemm, uplo, trans, n, k, alpha, a, lda, beta, c, ldc,         \
                                     uplo_length, trans_length);                                                       \
    }

#define HEPTAD_CBLAS_SYRK(name, gemm, T, Factor, Int)                                                                \
    static constinit RealFunction real_##name{#name, as_any<&own_cblas_syrk<T, Factor, Int>>};                       \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(int order, int uplo, int trans, Word n, Word k,                 \
                                                     CblasFactor<Factor> alpha, const T* a, Word lda,                \
                                                     CblasFactor<Factor> beta, T* c, Word ldc) {                     \
        cblas_syrk<T, Factor, Int>(real_##name, real_##gemm, order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc); \
    }

// Where the library has none, get() gives null, and the products come one by one.
#define HEPTAD_CBLAS_GEMM_BATCH(name, gemm, T, Int)                                                                \
    static constinit RealFunction real_##name{#name, no_function};                                                 \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(int order, const int* ta, const int* tb, const Int* m,        \
                                                     const Int* n, const Int* k, const T* alpha, const T** a,      \
                                                     const Int* lda, const T** b, const Int* ldb, const T* beta,   \
                                                     T** c, const Int* ldc, Word groups, const Int* group_size) {  \
        cblas_gemm_batch<T, Int>(real_##name, real_##gemm, order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, \
                                 ldc, groups, group_size);                                                         \
    }

// gemm before syrk, which uses it.
#define HEPTAD_ENTRIES(prefix, t, fortran_end, cblas_end, T, Int)                                        \
    HEPTAD_FORTRAN_GEMM(prefix##t##gemm##fortran_end, T, Int)                                            \
    HEPTAD_FORTRAN_SYRK(prefix##t##syrk##fortran_end, prefix##t##gemm##fortran_end, T, T, Int)           \
    HEPTAD_CBLAS_GEMM(prefix##cblas_##t##gemm##cblas_end, T, Int)                                        \
    HEPTAD_CBLAS_SYRK(prefix##cblas_##t##syrk##cblas_end, prefix##cblas_##t##gemm##cblas_end, T, T, Int) \
    HEPTAD_CBLAS_GEMM_BATCH(prefix##cblas_##t##gemm_batch##cblas_end, prefix##cblas_##t##gemm##cblas_end, T, Int)

// herk has real factors. gemm3m, which OpenBLAS and MKL have, asks for three real products in so many words.
#define HEPTAD_COMPLEX_ENTRIES(prefix, t, fortran_end, cblas_end, Real, Int)                                       \
    HEPTAD_ENTRIES(prefix, t, fortran_end, cblas_end, std::complex<Real>, Int)                                     \
    HEPTAD_FORTRAN_SYRK(prefix##t##herk##fortran_end, prefix##t##gemm##fortran_end, std::complex<Real>, Real, Int) \
    HEPTAD_CBLAS_SYRK(prefix##cblas_##t##herk##cblas_end, prefix##cblas_##t##gemm##cblas_end, std::complex<Real>,  \
                      Real, Int)                                                                                   \
    HEPTAD_FORTRAN_GEMM(prefix##t##gemm3m##fortran_end, std::complex<Real>, Int)                                   \
    HEPTAD_CBLAS_GEMM(prefix##cblas_##t##gemm3m##cblas_end, std::complex<Real>, Int)

#define HEPTAD_ALL_TYPES(prefix, fortran_end, cblas_end, Int)             \
    HEPTAD_ENTRIES(prefix, s, fortran_end, cblas_end, float, Int)         \
    HEPTAD_ENTRIES(prefix, d, fortran_end, cblas_end, double, Int)        \
    HEPTAD_COMPLEX_ENTRIES(prefix, c, fortran_end, cblas_end, float, Int) \
    HEPTAD_COMPLEX_ENTRIES(prefix, z, fortran_end, cblas_end, double, Int)

#define HEPTAD_NETLIB_64(t, T)                             \
    HEPTAD_CBLAS_GEMM(cblas_##t##gemm_64, T, std::int64_t) \
    HEPTAD_CBLAS_SYRK(cblas_##t##syrk_64, cblas_##t##gemm_64, T, T, std::int64_t)

HEPTAD_ALL_TYPES(, _, , std::int32_t)
HEPTAD_ALL_TYPES(, _64_, 64_, std::int64_t)
HEPTAD_ALL_TYPES(scipy_, _, , std::int32_t)
HEPTAD_ALL_TYPES(scipy_, _64_, 64_, std::int64_t)
HEPTAD_NETLIB_64(s, float)
HEPTAD_NETLIB_64(d, double)
HEPTAD_NETLIB_64(c, std::complex<float>)
HEPTAD_NETLIB_64(z, std::complex<double>)
HEPTAD_CBLAS_SYRK(cblas_cherk_64, cblas_cgemm_64, std::complex<float>, float, std::int64_t)
HEPTAD_CBLAS_SYRK(cblas_zherk_64, cblas_zgemm_64, std::complex<double>, double, std::int64_t)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace heptad::blas
