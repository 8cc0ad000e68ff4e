// A call of one of the gemm entries, whatever form it came in: C = alpha * op(A) op(B) + beta * C, by columns.
#pragma once

#include <cstdint>
#include <optional>

#include "api/cublas/calling_object.hpp"
#include "api/cublas/cublas_abi.hpp"
#include "product/memory/batch.hpp"

namespace heptad::cublas {

/// One matrix of a call, or one of each product of a batch.
struct Operand {
    const void* data = nullptr;
    std::int64_t leading = 0;   // elements from one column to the next
    std::int64_t distance = 0;  // elements from one product's to the next one's
};

struct GemmCall {
    Function entry{};
    int op_a = kOpN, op_b = kOpN;
    std::int64_t m = 0, n = 0, k = 0;
    const void *alpha = nullptr, *beta = nullptr;  // to f64, c64 or c128 if the type is that, otherwise to f32
    Operand a, b, c;
    std::int64_t count = 1;
    bool by_pointers = false;  // data: the addresses of one matrix for each product, in device memory
    Type type = Type::f32;
    /// cublasLt: added to every column of the result; null: nothing. Only with a beta of zero.
    const void* bias = nullptr;
};

/// The type of a product of such matrices with such arithmetic; nothing where we have none.
std::optional<Type> product_type(int a, int b, int c, int compute);

/// Scalars of a call; precondition: they lie in host memory.
Factor scalar_of(const void* scalar, Type type);

/// The call as products of ours, whose addresses mean nothing where it is by pointers; or nothing where its arguments
/// are wrong. C by columns is its transpose by rows, which is how most products of ours were measured: C' = op(B)'
/// op(A)'.
std::optional<ProductBatch> as_products(const GemmCall& call);

}  // namespace heptad::cublas
