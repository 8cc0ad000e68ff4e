// The part of cuBLAS's binary interface that is spoken here, by its numbers, which have not changed since version 11:
// no header of CUDA is needed. Where there is one, tests/api/cublas/abi_test.cpp compares them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heptad::cublas {

using Handle = void*;
using Status = int;
inline constexpr Status kSuccess = 0, kNotInitialized = 1, kExecutionFailed = 13;

inline constexpr int kOpN = 0, kOpT = 1, kOpC = 2;
inline constexpr int kPointersToHost = 0;

// cublasMath_t
inline constexpr int kDefaultMath = 0, kTensorOpMath = 1, kTf32Math = 3;

// cudaDataType_t
inline constexpr int kR32F = 0, kR64F = 1, kR16F = 2, kC32F = 4, kC64F = 5, kR16BF = 14;

// cublasComputeType_t
inline constexpr int kCompute32F = 68, kCompute64F = 70, kCompute32FFastTf32 = 77;

// cublasLtMatmulDescAttributes_t
inline constexpr int kDescComputeType = 0, kDescScaleType = 1, kDescPointerMode = 2, kDescTransA = 3, kDescTransB = 4,
                     kDescTransC = 5, kDescEpilogue = 7, kDescBiasPointer = 8, kDescSmCountTarget = 15,
                     kDescBiasDataType = 26;
inline constexpr std::uint32_t kEpilogueNone = 1, kEpilogueBias = 4;

// cublasLtMatrixLayoutAttribute_t
inline constexpr int kLayoutType = 0, kLayoutOrder = 1, kLayoutRows = 2, kLayoutCols = 3, kLayoutLeading = 4,
                     kLayoutBatchCount = 5, kLayoutBatchOffset = 6;
inline constexpr std::int32_t kOrderColumns = 0;

using GetStream = Status (*)(Handle handle, void** stream);
using GetNumber = Status (*)(Handle handle, int* number);  // pointer mode, math mode, count of multiprocessors
using GetAttribute = Status (*)(const void* described, int attribute, void* value, std::size_t bytes,
                                std::size_t* written);

}  // namespace heptad::cublas
