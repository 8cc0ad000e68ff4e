// The entries of cuBLAS as machines see them: which arguments have 32 bits and which 64. Int: of sizes.
#pragma once

#include <cstddef>

namespace heptad::cublas_testing {

template <class Int>
using Gemm = int(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda,
                 const void* b, Int ldb, const void* beta, void* c, Int ldc);
template <class Int>
using StridedGemm = int(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, Int lda,
                        long long stride_a, const void* b, Int ldb, long long stride_b, const void* beta, void* c,
                        Int ldc, long long stride_c, Int count);
template <class Int>
using PointerGemm = int(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a,
                        Int lda, const void* const* b, Int ldb, const void* beta, void* const* c, Int ldc, Int count);
template <class Int>
using GemmEx = int(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, int a_type,
                   Int lda, const void* b, int b_type, Int ldb, const void* beta, void* c, int c_type, Int ldc,
                   int compute, int algorithm);
template <class Int>
using StridedGemmEx = int(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,
                          int a_type, Int lda, long long stride_a, const void* b, int b_type, Int ldb,
                          long long stride_b, const void* beta, void* c, int c_type, Int ldc, long long stride_c,
                          Int count, int compute, int algorithm);
template <class Int>
using PointerGemmEx = int(void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a,
                          int a_type, Int lda, const void* const* b, int b_type, Int ldb, const void* beta,
                          void* const* c, int c_type, Int ldc, Int count, int compute, int algorithm);
using LtMatmul = int(void* handle, const void* described, const void* alpha, const void* a, const void* a_layout,
                     const void* b, const void* b_layout, const void* beta, const void* c, const void* c_layout,
                     void* d, const void* d_layout, const void* algorithm, void* workspace, std::size_t workspace_bytes,
                     void* stream);

}  // namespace heptad::cublas_testing
