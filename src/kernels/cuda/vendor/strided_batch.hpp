// Products as cuBLAS wants them: it stores by columns, takes a leading dimension and, of a batch, equal distances.
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/backend.hpp"

namespace heptad::cuda {

/// How cuBLAS sees a matrix.
struct Operand {
    bool usable = false;  // one side is contiguous
    bool by_rows = false;
    std::int64_t leading = 1;
};
Operand operand_of(const ConstView& view);

/// The data types of a product and of its scalars.
struct GemmTypes {
    cudaDataType_t data = CUDA_R_32F;
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    cudaDataType_t scale = CUDA_R_32F;
};
GemmTypes gemm_types(Type type);

/// How cuBLAS is told to take an operand for a C that is stored as said; nothing where it cannot: conjugates that are
/// not transposed.
std::optional<cublasOperation_t> operation_of(const Operand& operand, bool conjugate, bool c_by_rows);

/// A scalar where cuBLAS expects it.
struct HostScalar {
    double f64[2] = {};  // the second of each is the imaginary part, which only complex products read
    float f32[2] = {};
    bool wide = false;
    HostScalar(double value, Type type, double imaginary = 0)
        : f64{value, imaginary},
          f32{static_cast<float>(value), static_cast<float>(imaginary)},
          wide(type == Type::f64 || type == Type::c128) {}
    const void* pointer() const { return wide ? static_cast<const void*>(f64) : static_cast<const void*>(f32); }
};

/// By columns, C = alpha * op(A) op(B) + beta * C.
struct StridedBatch {
    cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
    std::int64_t m = 0, n = 0, k = 0;
    const void* a = nullptr;
    std::int64_t lda = 0, distance_a = 0;
    const void* b = nullptr;
    std::int64_t ldb = 0, distance_b = 0;
    void* c = nullptr;
    std::int64_t ldc = 0, distance_c = 0;
    std::int64_t count = 0;
    Type type = Type::f32;  // of A and B
    GemmTypes types;
    cudaDataType_t result = CUDA_R_32F;  // the type of C
    HostScalar alpha{1, Type::f32}, beta{0, Type::f32};
};

/// One product, or several of one shape at equal distances; nothing where they are not that.
std::optional<StridedBatch> strided_batch(std::span<const Product> batch);

}  // namespace heptad::cuda
