// Every name of cuBLAS that libheptad_cublas.so exports, but cublasLtMatmul; and two of its own at the end:
//
//   cublas?gemm_v2   cublas?gemmStridedBatched   cublas?gemmBatched                  of S, D, C and Z
//   cublasGemmEx     cublasGemmStridedBatchedEx  cublasGemmBatchedEx
//
// and all of them with _64 at the end, whose sizes have 64 bits.
#include "api/cublas/cublas_takeover.hpp"
#include "api/cublas/device_gemm.hpp"

#include <heptad/heptad.hpp>

namespace heptad::cublas {
namespace {

GemmCall gemm_call(Function entry, int ta, int tb, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                   const void* beta, const Operand& a, const Operand& b, const Operand& c, std::int64_t count = 1,
                   bool by_pointers = false) {
    return {entry, ta, tb, m, n, k, alpha, beta, a, b, c, count, by_pointers};
}

/// Nothing: call the real function.
std::optional<Status> take_over(CallingObject& caller, Handle handle, std::optional<Type> type, GemmCall call) {
    if (!type || is_small(*type, call.m, call.n, call.k) || drop_in::PassOn::is_on() || caller.is_cublas()) {
        return std::nullopt;
    }
    const std::optional<HandleSettings> settings = settings_of(caller, handle, *type);
    if (!settings || (settings->type != *type && is_small(settings->type, call.m, call.n, call.k))) {
        return std::nullopt;
    }
    call.type = settings->type;
    return multiply_fast(caller, call, settings->stream);
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names and types
#define HEPTAD_EXPORT extern "C" HEPTAD_API Status
#define HEPTAD_OR_PASS_ON(entry, type, call, ...)                               \
    CallingObject& caller = calling_object(__builtin_return_address(0));        \
    const std::optional<Status> status = take_over(caller, handle, type, call); \
    return status ? *status : caller.pass_on(Function::entry, handle, __VA_ARGS__);

#define HEPTAD_GEMM(entry, type, Int)                                                                                  \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda, \
                        const void* b, Int ldb, const void* beta, void* c, Int ldc) {                                  \
        HEPTAD_OR_PASS_ON(                                                                                             \
            entry, type,                                                                                               \
            gemm_call(Function::entry, ta, tb, m, n, k, alpha, beta, {a, lda, 0}, {b, ldb, 0}, {c, ldc, 0}), ta, tb,   \
            m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)                                                              \
    }
#define HEPTAD_GEMM_STRIDED(entry, type, Int)                                                                          \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda, \
                        long long stride_a, const void* b, Int ldb, long long stride_b, const void* beta, void* c,     \
                        Int ldc, long long stride_c, Int count) {                                                      \
        HEPTAD_OR_PASS_ON(entry, type,                                                                                 \
                          gemm_call(Function::entry, ta, tb, m, n, k, alpha, beta, {a, lda, stride_a},                 \
                                    {b, ldb, stride_b}, {c, ldc, stride_c}, count),                                    \
                          ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count)   \
    }
#define HEPTAD_GEMM_POINTERS(entry, type, Int)                                                                       \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a, \
                        Int lda, const void* const* b, Int ldb, const void* beta, void* const* c, Int ldc,           \
                        Int count) {                                                                                 \
        HEPTAD_OR_PASS_ON(entry, type,                                                                               \
                          gemm_call(Function::entry, ta, tb, m, n, k, alpha, beta, {a, lda, 0}, {b, ldb, 0},         \
                                    {c, ldc, 0}, count, true),                                                       \
                          ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count)                               \
    }
#define HEPTAD_GEMM_EX(entry, Int)                                                                                   \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,        \
                        int a_type, Int lda, const void* b, int b_type, Int ldb, const void* beta, void* c,          \
                        int c_type, Int ldc, int compute, int algorithm) {                                           \
        HEPTAD_OR_PASS_ON(                                                                                           \
            entry, product_type(a_type, b_type, c_type, compute),                                                    \
            gemm_call(Function::entry, ta, tb, m, n, k, alpha, beta, {a, lda, 0}, {b, ldb, 0}, {c, ldc, 0}), ta, tb, \
            m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute, algorithm)                \
    }
#define HEPTAD_GEMM_STRIDED_EX(entry, Int)                                                                             \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,          \
                        int a_type, Int lda, long long stride_a, const void* b, int b_type, Int ldb,                   \
                        long long stride_b, const void* beta, void* c, int c_type, Int ldc, long long stride_c,        \
                        Int count, int compute, int algorithm) {                                                       \
        HEPTAD_OR_PASS_ON(entry, product_type(a_type, b_type, c_type, compute),                                        \
                          gemm_call(Function::entry, ta, tb, m, n, k, alpha, beta, {a, lda, stride_a},                 \
                                    {b, ldb, stride_b}, {c, ldc, stride_c}, count),                                    \
                          ta, tb, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type, ldb, stride_b, beta, c, c_type, \
                          ldc, stride_c, count, compute, algorithm)                                                    \
    }
#define HEPTAD_GEMM_POINTERS_EX(entry, Int)                                                                          \
    HEPTAD_EXPORT entry(Handle handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a, \
                        int a_type, Int lda, const void* const* b, int b_type, Int ldb, const void* beta,            \
                        void* const* c, int c_type, Int ldc, Int count, int compute, int algorithm) {                \
        HEPTAD_OR_PASS_ON(entry, product_type(a_type, b_type, c_type, compute),                                      \
                          gemm_call(Function::entry, ta, tb, m, n, k, alpha, beta, {a, lda, 0}, {b, ldb, 0},         \
                                    {c, ldc, 0}, count, true),                                                       \
                          ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, count,       \
                          compute, algorithm)                                                                        \
    }

#define HEPTAD_OF_TYPE(t, type, end, Int)                              \
    HEPTAD_GEMM(cublas##t##gemm_v2##end, type, Int)                    \
    HEPTAD_GEMM_STRIDED(cublas##t##gemmStridedBatched##end, type, Int) \
    HEPTAD_GEMM_POINTERS(cublas##t##gemmBatched##end, type, Int)
#define HEPTAD_OF_SIZES(end, Int)                                \
    HEPTAD_OF_TYPE(S, Type::f32, end, Int)                       \
    HEPTAD_OF_TYPE(D, Type::f64, end, Int)                       \
    HEPTAD_OF_TYPE(C, Type::c64, end, Int)                       \
    HEPTAD_OF_TYPE(Z, Type::c128, end, Int)                      \
    HEPTAD_GEMM_EX(cublasGemmEx##end, Int)                       \
    HEPTAD_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx##end, Int) \
    HEPTAD_GEMM_POINTERS_EX(cublasGemmBatchedEx##end, Int)

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
