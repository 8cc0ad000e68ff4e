// Every name of cuBLAS that libheptad_cublas.so exports, but cublasLtMatmul; and two of its own at the end:
//
//   cublas?gemm_v2   cublas?gemmStridedBatched   cublasGemmEx   cublasGemmStridedBatchedEx     S and D are taken over
//   cublas?gemmBatched   cublasGemmBatchedEx     their pointers lie on the device: passed on
//
// and all of them with _64 at the end, whose sizes have 64 bits. Complex calls are passed on.
#include "api/cublas/device_gemm.hpp"
#include "api/cublas/pass_on_call.hpp"

#include <heptad/heptad.hpp>

namespace heptad::cublas {
namespace {

/// Nothing: call the real function.
std::optional<Status> take_over(CallingObject& caller, Handle handle, GemmCall call) {
    if (!is_taken(caller, call.type, call.m, call.n, call.k)) {
        return std::nullopt;
    }
    const std::optional<HandleSettings> settings = settings_of(caller, handle, call.type);
    if (!settings || (settings->type != call.type && is_small(settings->type, call.m, call.n, call.k))) {
        return std::nullopt;
    }
    call.type = settings->type;
    return multiply_fast(caller, call, settings->stream);
}

std::optional<Status> take_over_if_known(CallingObject& caller, Handle handle, std::optional<Type> type,
                                         GemmCall call) {
    call.type = type.value_or(Type::f32);
    return type ? take_over(caller, handle, call) : std::nullopt;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names and types
#define HEPTAD_EXPORT extern "C" HEPTAD_API Status
#define HEPTAD_OR_PASS_ON(entry, taken, ...)                             \
    CallingObject& caller = calling_object(__builtin_return_address(0)); \
    const std::optional<Status> status = taken;                          \
    return status ? *status : pass_on(caller, Function::entry, __VA_ARGS__);

#define HEPTAD_GEMM(entry, T, Int)                                                                               \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const T* alpha, const T* a, Int lda, \
                        const T* b, Int ldb, const T* beta, T* c, Int ldc) {                                     \
        HEPTAD_OR_PASS_ON(entry,                                                                                 \
                          take_over(caller, handle,                                                              \
                                    {Function::entry,                                                            \
                                     ta,                                                                         \
                                     tb,                                                                         \
                                     m,                                                                          \
                                     n,                                                                          \
                                     k,                                                                          \
                                     alpha,                                                                      \
                                     beta,                                                                       \
                                     {a, lda, 0},                                                                \
                                     {b, ldb, 0},                                                                \
                                     {c, ldc, 0},                                                                \
                                     1,                                                                          \
                                     TypeOf<T>::value,                                                           \
                                     nullptr}),                                                                  \
                          handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)                          \
    }
#define HEPTAD_GEMM_STRIDED(entry, T, Int)                                                                            \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const T* alpha, const T* a, Int lda,      \
                        long long stride_a, const T* b, Int ldb, long long stride_b, const T* beta, T* c, Int ldc,    \
                        long long stride_c, Int count) {                                                              \
        HEPTAD_OR_PASS_ON(entry,                                                                                      \
                          take_over(caller, handle,                                                                   \
                                    {Function::entry,                                                                 \
                                     ta,                                                                              \
                                     tb,                                                                              \
                                     m,                                                                               \
                                     n,                                                                               \
                                     k,                                                                               \
                                     alpha,                                                                           \
                                     beta,                                                                            \
                                     {a, lda, stride_a},                                                              \
                                     {b, ldb, stride_b},                                                              \
                                     {c, ldc, stride_c},                                                              \
                                     count,                                                                           \
                                     TypeOf<T>::value,                                                                \
                                     nullptr}),                                                                       \
                          handle, ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, \
                          count)                                                                                      \
    }
#define HEPTAD_GEMM_EX(entry, Int)                                                                              \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,   \
                        int a_type, Int lda, const void* b, int b_type, Int ldb, const void* beta, void* c,     \
                        int c_type, Int ldc, int compute, int algorithm) {                                      \
        HEPTAD_OR_PASS_ON(entry,                                                                                \
                          take_over_if_known(caller, handle, product_type(a_type, b_type, c_type, compute),     \
                                             {Function::entry,                                                  \
                                              ta,                                                               \
                                              tb,                                                               \
                                              m,                                                                \
                                              n,                                                                \
                                              k,                                                                \
                                              alpha,                                                            \
                                              beta,                                                             \
                                              {a, lda, 0},                                                      \
                                              {b, ldb, 0},                                                      \
                                              {c, ldc, 0},                                                      \
                                              1,                                                                \
                                              Type::f32,                                                        \
                                              nullptr}),                                                        \
                          handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, \
                          compute, algorithm)                                                                   \
    }
#define HEPTAD_GEMM_STRIDED_EX(entry, Int)                                                                             \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,          \
                        int a_type, Int lda, long long stride_a, const void* b, int b_type, Int ldb,                   \
                        long long stride_b, const void* beta, void* c, int c_type, Int ldc, long long stride_c,        \
                        Int count, int compute, int algorithm) {                                                       \
        HEPTAD_OR_PASS_ON(entry,                                                                                       \
                          take_over_if_known(caller, handle, product_type(a_type, b_type, c_type, compute),            \
                                             {Function::entry,                                                         \
                                              ta,                                                                      \
                                              tb,                                                                      \
                                              m,                                                                       \
                                              n,                                                                       \
                                              k,                                                                       \
                                              alpha,                                                                   \
                                              beta,                                                                    \
                                              {a, lda, stride_a},                                                      \
                                              {b, ldb, stride_b},                                                      \
                                              {c, ldc, stride_c},                                                      \
                                              count,                                                                   \
                                              Type::f32,                                                               \
                                              nullptr}),                                                               \
                          handle, ta, tb, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type, ldb, stride_b, beta, c, \
                          c_type, ldc, stride_c, count, compute, algorithm)                                            \
    }

// What is always passed on; scalars and matrices are behind pointers.
#define HEPTAD_PASSED_ON(entry, parameters, ...)                                                   \
    HEPTAD_EXPORT entry parameters {                                                               \
        return pass_on(calling_object(__builtin_return_address(0)), Function::entry, __VA_ARGS__); \
    }
#define HEPTAD_PASSED_ON_GEMM(entry, Int)                                                                            \
    HEPTAD_PASSED_ON(entry,                                                                                          \
                     (Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda, \
                      const void* b, Int ldb, const void* beta, void* c, Int ldc),                                   \
                     handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
#define HEPTAD_PASSED_ON_STRIDED(entry, Int)                                                                         \
    HEPTAD_PASSED_ON(entry,                                                                                          \
                     (Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda, \
                      long long stride_a, const void* b, Int ldb, long long stride_b, const void* beta, void* c,     \
                      Int ldc, long long stride_c, Int count),                                                       \
                     handle, ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c,     \
                     count)
#define HEPTAD_PASSED_ON_POINTERS(entry, Int)                                                                        \
    HEPTAD_PASSED_ON(entry,                                                                                          \
                     (Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a,   \
                      Int lda, const void* const* b, Int ldb, const void* beta, void* const* c, Int ldc, Int count), \
                     handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count)
#define HEPTAD_PASSED_ON_POINTERS_EX(entry, Int)                                                                   \
    HEPTAD_PASSED_ON(entry,                                                                                        \
                     (Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a, \
                      int a_type, Int lda, const void* const* b, int b_type, Int ldb, const void* beta,            \
                      void* const* c, int c_type, Int ldc, Int count, int compute, int algorithm),                 \
                     handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, count,  \
                     compute, algorithm)

#define HEPTAD_OF_SIZES(end, Int)                                    \
    HEPTAD_GEMM(cublasSgemm_v2##end, float, Int)                     \
    HEPTAD_GEMM(cublasDgemm_v2##end, double, Int)                    \
    HEPTAD_PASSED_ON_GEMM(cublasCgemm_v2##end, Int)                  \
    HEPTAD_PASSED_ON_GEMM(cublasZgemm_v2##end, Int)                  \
    HEPTAD_GEMM_STRIDED(cublasSgemmStridedBatched##end, float, Int)  \
    HEPTAD_GEMM_STRIDED(cublasDgemmStridedBatched##end, double, Int) \
    HEPTAD_PASSED_ON_STRIDED(cublasCgemmStridedBatched##end, Int)    \
    HEPTAD_PASSED_ON_STRIDED(cublasZgemmStridedBatched##end, Int)    \
    HEPTAD_PASSED_ON_POINTERS(cublasSgemmBatched##end, Int)          \
    HEPTAD_PASSED_ON_POINTERS(cublasDgemmBatched##end, Int)          \
    HEPTAD_PASSED_ON_POINTERS(cublasCgemmBatched##end, Int)          \
    HEPTAD_PASSED_ON_POINTERS(cublasZgemmBatched##end, Int)          \
    HEPTAD_GEMM_EX(cublasGemmEx##end, Int)                           \
    HEPTAD_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx##end, Int)     \
    HEPTAD_PASSED_ON_POINTERS_EX(cublasGemmBatchedEx##end, Int)

HEPTAD_OF_SIZES(, int)
HEPTAD_OF_SIZES(_64, std::int64_t)
// NOLINTEND(bugprone-macro-parentheses)

/// 0: every call is passed on from now on; otherwise as it was set up. Returns what was before.
extern "C" HEPTAD_API int heptad_cublas_enable(int on) {
    return enable(on != 0) ? 1 : 0;
}

/// How many calls were taken over.
extern "C" HEPTAD_API long long heptad_cublas_taken_over() {
    return taken_over.load(std::memory_order_relaxed);
}

}  // namespace heptad::cublas
