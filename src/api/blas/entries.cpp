// Every name that libheptad_blas.so exports, from one list:
//
//                          32-bit integers                    64-bit integers
//   Fortran                dgemm_       scipy_dgemm_          dgemm_64_       scipy_dgemm_64_
//   CBLAS                  cblas_dgemm  scipy_cblas_dgemm     cblas_dgemm64_  scipy_cblas_dgemm64_  cblas_dgemm_64
//
// for gemm and syrk of all four types, herk, and the real cblas_?gemm_batch. scipy_: inside NumPy's and SciPy's wheels.
// 64_: OpenBLAS's and Julia's 64-bit builds and NumPy's older wheels. _64: netlib's and MKL's. Complex calls are passed
// on.
//
// Compiled a second time with HEPTAD_BLAS_PREFIXED, all are called heptad_dgemm_ and so on, to be linked beside a BLAS.
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

void complex_without_library() {
    no_library("a complex product");
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

#define HEPTAD_CBLAS_GEMM(name, T, Int)                                                                       \
    static constinit RealFunction real_##name{#name, as_any<&own_cblas_gemm<T, Int>>};                        \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(int order, int ta, int tb, Int m, Int n, Int k, T alpha, \
                                                     const T* a, Int lda, const T* b, Int ldb, T beta, T* c,  \
                                                     Int ldc) {                                               \
        cblas_gemm<T, Int>(real_##name, order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);         \
    }

#define HEPTAD_FORTRAN_SYRK(name, gemm, T, Int)                                                                      \
    static constinit RealFunction real_##name{#name, as_any<&own_fortran_syrk<T, Int>>};                             \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(                                                                \
        const char* uplo, const char* trans, const Int* n, const Int* k, const T* alpha, const T* a, const Int* lda, \
        const T* beta, T* c, const Int* ldc, std::size_t uplo_length, std::size_t trans_length) {                    \
        fortran_syrk<T, Int>(real_##name, real_##gemm, uplo, trans, n, k, alpha, a, lda, beta, c, ldc, uplo_length,  \
                             trans_length);                                                                          \
    }

#define HEPTAD_CBLAS_SYRK(name, gemm, T, Int)                                                                \
    static constinit RealFunction real_##name{#name, as_any<&own_cblas_syrk<T, Int>>};                       \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(int order, int uplo, int trans, Int n, Int k, T alpha,  \
                                                     const T* a, Int lda, T beta, T* c, Int ldc) {           \
        cblas_syrk<T, Int>(real_##name, real_##gemm, order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc); \
    }

// Where the library has none, get() gives null, and the products come one by one.
#define HEPTAD_CBLAS_GEMM_BATCH(name, gemm, T, Int)                                                                \
    static constinit RealFunction real_##name{#name, no_function};                                                 \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name)(int order, const int* ta, const int* tb, const Int* m,        \
                                                     const Int* n, const Int* k, const T* alpha, const T** a,      \
                                                     const Int* lda, const T** b, const Int* ldb, const T* beta,   \
                                                     T** c, const Int* ldc, Int groups, const Int* group_size) {   \
        cblas_gemm_batch<T, Int>(real_##name, real_##gemm, order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, \
                                 ldc, groups, group_size);                                                         \
    }

// s and d: gemm before syrk, which uses it.
#define HEPTAD_REAL_ENTRIES(prefix, t, fortran_end, cblas_end, T, Int)                                \
    HEPTAD_FORTRAN_GEMM(prefix##t##gemm##fortran_end, T, Int)                                         \
    HEPTAD_FORTRAN_SYRK(prefix##t##syrk##fortran_end, prefix##t##gemm##fortran_end, T, Int)           \
    HEPTAD_CBLAS_GEMM(prefix##cblas_##t##gemm##cblas_end, T, Int)                                     \
    HEPTAD_CBLAS_SYRK(prefix##cblas_##t##syrk##cblas_end, prefix##cblas_##t##gemm##cblas_end, T, Int) \
    HEPTAD_CBLAS_GEMM_BATCH(prefix##cblas_##t##gemm_batch##cblas_end, prefix##cblas_##t##gemm##cblas_end, T, Int)

// Complex: everything is behind pointers, but herk's factors, which are real.
#define HEPTAD_PASSED_ON(name, parameters, arguments)                                   \
    static constinit RealFunction real_##name{#name, as_any<&complex_without_library>}; \
    extern "C" HEPTAD_API void HEPTAD_EXPORTED(name) parameters {                       \
        real_##name.get<void(*) parameters>() arguments;                                \
    }
#define HEPTAD_COMPLEX_FORTRAN_RANK_K(name, Int)                                                            \
    HEPTAD_PASSED_ON(                                                                                       \
        name,                                                                                               \
        (const char* uplo, const char* trans, const Int* n, const Int* k, const void* alpha, const void* a, \
         const Int* lda, const void* beta, void* c, const Int* ldc, std::size_t u, std::size_t v),          \
        (uplo, trans, n, k, alpha, a, lda, beta, c, ldc, u, v))
#define HEPTAD_COMPLEX_CBLAS_RANK_K(name, Factor, Int)                                                                 \
    HEPTAD_PASSED_ON(name,                                                                                             \
                     (int order, int uplo, int trans, Int n, Int k, Factor alpha, const void* a, Int lda, Factor beta, \
                      void* c, Int ldc),                                                                               \
                     (order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc))
#define HEPTAD_COMPLEX_ENTRIES(prefix, t, fortran_end, cblas_end, Real, Int)                                       \
    HEPTAD_PASSED_ON(prefix##t##gemm##fortran_end,                                                                 \
                     (const char* ta, const char* tb, const Int* m, const Int* n, const Int* k, const void* alpha, \
                      const void* a, const Int* lda, const void* b, const Int* ldb, const void* beta, void* c,     \
                      const Int* ldc, std::size_t u, std::size_t v),                                               \
                     (ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, u, v))                                 \
    HEPTAD_PASSED_ON(prefix##cblas_##t##gemm##cblas_end,                                                           \
                     (int order, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda,   \
                      const void* b, Int ldb, const void* beta, void* c, Int ldc),                                 \
                     (order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))                                \
    HEPTAD_COMPLEX_FORTRAN_RANK_K(prefix##t##syrk##fortran_end, Int)                                               \
    HEPTAD_COMPLEX_FORTRAN_RANK_K(prefix##t##herk##fortran_end, Int)                                               \
    HEPTAD_COMPLEX_CBLAS_RANK_K(prefix##cblas_##t##syrk##cblas_end, const void*, Int)                              \
    HEPTAD_COMPLEX_CBLAS_RANK_K(prefix##cblas_##t##herk##cblas_end, Real, Int)

#define HEPTAD_ALL_TYPES(prefix, fortran_end, cblas_end, Int)             \
    HEPTAD_REAL_ENTRIES(prefix, s, fortran_end, cblas_end, float, Int)    \
    HEPTAD_REAL_ENTRIES(prefix, d, fortran_end, cblas_end, double, Int)   \
    HEPTAD_COMPLEX_ENTRIES(prefix, c, fortran_end, cblas_end, float, Int) \
    HEPTAD_COMPLEX_ENTRIES(prefix, z, fortran_end, cblas_end, double, Int)

HEPTAD_ALL_TYPES(, _, , std::int32_t)
HEPTAD_ALL_TYPES(, _64_, 64_, std::int64_t)
HEPTAD_ALL_TYPES(scipy_, _, , std::int32_t)
HEPTAD_ALL_TYPES(scipy_, _64_, 64_, std::int64_t)
HEPTAD_CBLAS_GEMM(cblas_sgemm_64, float, std::int64_t)
HEPTAD_CBLAS_SYRK(cblas_ssyrk_64, cblas_sgemm_64, float, std::int64_t)
HEPTAD_CBLAS_GEMM(cblas_dgemm_64, double, std::int64_t)
HEPTAD_CBLAS_SYRK(cblas_dsyrk_64, cblas_dgemm_64, double, std::int64_t)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace heptad::blas
