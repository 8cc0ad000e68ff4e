#include "api/cublas/made_up_cublas.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <heptad/heptad.hpp>

#ifdef MADE_UP_11
#define MADE_UP_STATE made_up_cublas_11
constexpr int kStatus = kStatusOf11;
extern "C" HEPTAD_API MadeUpState MADE_UP_STATE;
#else
#define MADE_UP_STATE made_up_cublas_12
constexpr int kStatus = kStatusOf12;
#endif
HEPTAD_API MadeUpState MADE_UP_STATE;

namespace {

template <class T>
std::int64_t word(T value) {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::intptr_t>(value);
    } else {
        return static_cast<std::int64_t>(value);
    }
}

template <class... Arguments>
int note(const char* name, Arguments... arguments) {
    MADE_UP_STATE.calls.push_back({name, {word(arguments)...}});
    return kStatus;
}

int answer(int* value, int with) {
    ++MADE_UP_STATE.questions;
    *value = with;
    return 0;
}

int attribute(const void* described, int which, void* value, std::size_t bytes, std::size_t* written) {
    ++MADE_UP_STATE.questions;
    std::memcpy(value, &static_cast<const MadeUpDescriptor*>(described)->values[which], bytes);
    *written = bytes;
    return 0;
}

}  // namespace

#define ENTRY extern "C" HEPTAD_API int

ENTRY cublasLtMatmul(void* handle, const void* described, const void* alpha, const void* a, const void* a_layout,
                     const void* b, const void* b_layout, const void* beta, const void* c, const void* c_layout,
                     void* d, const void* d_layout, const void* algorithm, void* workspace, std::size_t workspace_bytes,
                     void* stream) {
    return note("cublasLtMatmul", handle, described, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout,
                algorithm, workspace, workspace_bytes, stream);
}

// NOLINTBEGIN(bugprone-macro-parentheses): names and types
#define GEMM(name, Int)                                                                                              \
    ENTRY name(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda,         \
               const void* b, Int ldb, const void* beta, void* c, Int ldc) {                                         \
        return note(#name, handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) + nested(k, handle, alpha); \
    }
#define STRIDED(name, Int)                                                                                             \
    ENTRY name(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda,           \
               long long stride_a, const void* b, Int ldb, long long stride_b, const void* beta, void* c, Int ldc,     \
               long long stride_c, Int count) {                                                                        \
        return note(#name, handle, ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, \
                    count);                                                                                            \
    }
#define POINTERS(name, Int)                                                                                         \
    ENTRY name(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a, Int lda, \
               const void* const* b, Int ldb, const void* beta, void* const* c, Int ldc, Int count) {               \
        return note(#name, handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count);                    \
    }
#define EX(name, Int)                                                                                            \
    ENTRY name(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, int a_type,  \
               Int lda, const void* b, int b_type, Int ldb, const void* beta, void* c, int c_type, Int ldc,      \
               int compute, int algorithm) {                                                                     \
        return note(#name, handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, \
                    compute, algorithm);                                                                         \
    }
#define STRIDED_EX(name, Int)                                                                                         \
    ENTRY name(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, int a_type,       \
               Int lda, long long stride_a, const void* b, int b_type, Int ldb, long long stride_b, const void* beta, \
               void* c, int c_type, Int ldc, long long stride_c, Int count, int compute, int algorithm) {             \
        return note(#name, handle, ta, tb, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type, ldb, stride_b, beta,  \
                    c, c_type, ldc, stride_c, count, compute, algorithm);                                             \
    }
#define POINTERS_EX(name, Int)                                                                                         \
    ENTRY name(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a, int a_type, \
               Int lda, const void* const* b, int b_type, Int ldb, const void* beta, void* const* c, int c_type,       \
               Int ldc, Int count, int compute, int algorithm) {                                                       \
        return note(#name, handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc,       \
                    count, compute, algorithm);                                                                        \
    }
EX(cublasGemmEx, int)
EX(cublasGemmEx_64, std::int64_t)
STRIDED_EX(cublasGemmStridedBatchedEx, int)
STRIDED_EX(cublasGemmStridedBatchedEx_64, std::int64_t)
POINTERS_EX(cublasGemmBatchedEx, int)
POINTERS_EX(cublasGemmBatchedEx_64, std::int64_t)

/// Large products in every way, through the names that everybody uses. 0: as it should be.
static int nested(std::int64_t k, void* handle, const void* scalar) {
    constexpr int n = 1 << 20;
    if (k != kNested) {
        return 0;
    }
    static_cast<void>(
        cublasGemmEx(handle, 0, 0, n, n, n, scalar, handle, 0, n, handle, 0, n, scalar, handle, 0, n, 68, 99));
    const MadeUpDescriptor large{{0, 0, n, n, n, 1, 0, 1}};
    static_cast<void>(cublasLtMatmul(handle, &large, scalar, handle, &large, handle, &large, scalar, handle, &large,
                                     handle, &large, nullptr, nullptr, 0, nullptr));
    return 0;
}

#define OF_TYPE(t)                                          \
    GEMM(cublas##t##gemm_v2, int)                           \
    GEMM(cublas##t##gemm_v2_64, std::int64_t)               \
    STRIDED(cublas##t##gemmStridedBatched, int)             \
    STRIDED(cublas##t##gemmStridedBatched_64, std::int64_t) \
    POINTERS(cublas##t##gemmBatched, int)                   \
    POINTERS(cublas##t##gemmBatched_64, std::int64_t)
OF_TYPE(S)
OF_TYPE(D)
OF_TYPE(C)
OF_TYPE(Z)
// NOLINTEND(bugprone-macro-parentheses)

ENTRY cublasGetStream_v2(void* handle, void** stream) {
    ++MADE_UP_STATE.questions;
    *stream = handle;
    return 0;
}
ENTRY cublasGetPointerMode_v2(void*, int* mode) {
    return answer(mode, MADE_UP_STATE.pointer_mode);
}
ENTRY cublasGetMathMode(void*, int* mode) {
    return answer(mode, MADE_UP_STATE.math_mode);
}
ENTRY cublasGetSmCountTarget(void*, int* count) {
    return answer(count, MADE_UP_STATE.multiprocessors);
}
ENTRY cublasLtMatmulDescGetAttribute(const void* described, int which, void* value, std::size_t bytes,
                                     std::size_t* written) {
    return attribute(described, which, value, bytes, written);
}
ENTRY cublasLtMatrixLayoutGetAttribute(const void* layout, int which, void* value, std::size_t bytes,
                                       std::size_t* written) {
    return attribute(layout, which, value, bytes, written);
}
