// The numbers and signatures of cuBLAS that the drop-in and its tests are written with, beside those of the headers.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "api/cublas/cublas_abi.hpp"
#include "api/cublas/entry_signatures.hpp"

namespace heptad::cublas {
namespace {

using namespace cublas_testing;

static_assert(kSuccess == CUBLAS_STATUS_SUCCESS && kNotInitialized == CUBLAS_STATUS_NOT_INITIALIZED &&
              kExecutionFailed == CUBLAS_STATUS_EXECUTION_FAILED);
static_assert(kOpN == CUBLAS_OP_N && kOpT == CUBLAS_OP_T && kOpC == CUBLAS_OP_C);
static_assert(kPointersToHost == CUBLAS_POINTER_MODE_HOST && kPointersToHost == CUBLASLT_POINTER_MODE_HOST);
static_assert(kDefaultMath == CUBLAS_DEFAULT_MATH && kTensorOpMath == CUBLAS_TENSOR_OP_MATH &&
              kTf32Math == CUBLAS_TF32_TENSOR_OP_MATH);
static_assert(kR32F == CUDA_R_32F && kR64F == CUDA_R_64F && kR16F == CUDA_R_16F && kR16BF == CUDA_R_16BF &&
              kC32F == CUDA_C_32F && kC64F == CUDA_C_64F);
static_assert(kCompute32F == CUBLAS_COMPUTE_32F && kCompute64F == CUBLAS_COMPUTE_64F &&
              kCompute32FFastTf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(kDescComputeType == CUBLASLT_MATMUL_DESC_COMPUTE_TYPE &&
              kDescScaleType == CUBLASLT_MATMUL_DESC_SCALE_TYPE &&
              kDescPointerMode == CUBLASLT_MATMUL_DESC_POINTER_MODE && kDescTransA == CUBLASLT_MATMUL_DESC_TRANSA &&
              kDescTransB == CUBLASLT_MATMUL_DESC_TRANSB && kDescTransC == CUBLASLT_MATMUL_DESC_TRANSC &&
              kDescEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE && kDescBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER &&
              kDescSmCountTarget == CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET &&
              kDescBiasDataType == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
static_assert(kEpilogueNone == CUBLASLT_EPILOGUE_DEFAULT && kEpilogueBias == CUBLASLT_EPILOGUE_BIAS);
static_assert(kLayoutType == CUBLASLT_MATRIX_LAYOUT_TYPE && kLayoutOrder == CUBLASLT_MATRIX_LAYOUT_ORDER &&
              kLayoutRows == CUBLASLT_MATRIX_LAYOUT_ROWS && kLayoutCols == CUBLASLT_MATRIX_LAYOUT_COLS &&
              kLayoutLeading == CUBLASLT_MATRIX_LAYOUT_LD && kLayoutBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
              kLayoutBatchOffset == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && kOrderColumns == CUBLASLT_ORDER_COL);

/// p: a pointer, 4 and 8: numbers of so many bytes.
template <class T>
char letter() {
    return std::is_pointer_v<T> ? 'p' : sizeof(T) == 4 ? '4' : sizeof(T) == 8 ? '8' : '?';
}
template <class Result, class... Arguments>
std::string shape(Result (*)(Arguments...)) {
    return {letter<Result>(), letter<Arguments>()...};
}
template <class Function>
std::string shape() {
    return shape(static_cast<Function*>(nullptr));
}

}  // namespace

TEST(cublas_abi, signatures_are_those_of_the_headers) {
    EXPECT_EQ(shape<Gemm<int>>(), "4p44444pp4p4pp4");
#define HEPTAD_SAME(name, Form) EXPECT_EQ(shape<decltype(name)>(), shape<Form>()) << #name;
#define HEPTAD_SAME_TWICE(name, Form) HEPTAD_SAME(name, Form<int>) HEPTAD_SAME(name##_64, Form<std::int64_t>)
#define HEPTAD_SAME_OF_TYPE(t)                                    \
    HEPTAD_SAME_TWICE(cublas##t##gemm_v2, Gemm)                   \
    HEPTAD_SAME_TWICE(cublas##t##gemmStridedBatched, StridedGemm) \
    HEPTAD_SAME_TWICE(cublas##t##gemmBatched, PointerGemm)
    HEPTAD_SAME_OF_TYPE(S)
    HEPTAD_SAME_OF_TYPE(D)
    HEPTAD_SAME_OF_TYPE(C)
    HEPTAD_SAME_OF_TYPE(Z)
    // Those with 32-bit sizes have another overload in C++.
    HEPTAD_SAME(cublasGemmEx_64, GemmEx<std::int64_t>)
    HEPTAD_SAME(cublasGemmStridedBatchedEx_64, StridedGemmEx<std::int64_t>)
    HEPTAD_SAME(cublasGemmBatchedEx_64, PointerGemmEx<std::int64_t>)
    HEPTAD_SAME(cublasLtMatmul, LtMatmul)
}

TEST(cublas_abi, what_we_ask_of_a_library_is_asked_as_in_the_headers) {
    EXPECT_EQ(shape<decltype(cublasGetStream_v2)>(), shape(GetStream{}));
    EXPECT_EQ(shape<decltype(cublasGetPointerMode_v2)>(), shape(GetNumber{}));
    EXPECT_EQ(shape<decltype(cublasGetMathMode)>(), shape(GetNumber{}));
    EXPECT_EQ(shape<decltype(cublasGetSmCountTarget)>(), shape(GetNumber{}));
    EXPECT_EQ(shape<decltype(cublasLtMatmulDescGetAttribute)>(), shape(GetAttribute{}));
    EXPECT_EQ(shape<decltype(cublasLtMatrixLayoutGetAttribute)>(), shape(GetAttribute{}));
}

}  // namespace heptad::cublas
