#include "api/cublas/gemm_call.hpp"

#include <algorithm>

namespace heptad::cublas {
namespace {

bool is_op(int op) {
    return op == kOpN || op == kOpT || op == kOpC;
}

/// op(X)', of which X has rows x cols by columns.
ConstView transposed_operand(const Operand& x, int op, Type type, std::int64_t rows, std::int64_t cols) {
    return op == kOpN ? ConstView{x.data, type, cols, rows, x.leading, 1}
                      : ConstView{x.data, type, rows, cols, 1, x.leading};
}

}  // namespace

std::optional<Type> product_type(int a, int b, int c, int compute) {
    if (a != b || a != c) {
        return std::nullopt;
    }
    switch (compute) {
        case kCompute64F:
            return a == kR64F ? std::optional(Type::f64) : std::nullopt;
        case kCompute32FFastTf32:
            return a == kR32F ? std::optional(Type::tf32) : std::nullopt;
        case kCompute32F:
            return a == kR32F    ? std::optional(Type::f32)
                   : a == kR16BF ? std::optional(Type::bf16)
                   : a == kR16F  ? std::optional(Type::f16)
                                 : std::nullopt;
        default:
            return std::nullopt;
    }
}

double scalar_of(const void* scalar, Type type) {
    return type == Type::f64 ? *static_cast<const double*>(scalar)
                             : static_cast<double>(*static_cast<const float*>(scalar));
}

std::optional<ProductBatch> as_products(const GemmCall& call) {
    const bool a_as_is = call.op_a == kOpN, b_as_is = call.op_b == kOpN;
    const std::int64_t a_rows = a_as_is ? call.m : call.k, a_cols = a_as_is ? call.k : call.m;
    const std::int64_t b_rows = b_as_is ? call.k : call.n, b_cols = b_as_is ? call.n : call.k;
    if (!is_op(call.op_a) || !is_op(call.op_b) || call.m <= 0 || call.n <= 0 || call.k <= 0 || call.count <= 0 ||
        call.a.leading < a_rows || call.b.leading < b_rows || call.c.leading < call.m) {
        return std::nullopt;
    }
    ProductBatch products;
    products.count = call.count;
    products.alpha = scalar_of(call.alpha, call.type);
    products.beta = scalar_of(call.beta, call.type);
    products.a = transposed_operand(call.b, call.op_b, call.type, b_rows, b_cols);
    products.stride_a = call.b.distance;
    products.b = transposed_operand(call.a, call.op_a, call.type, a_rows, a_cols);
    products.stride_b = call.a.distance;
    products.c = {const_cast<void*>(call.c.data), call.type, call.n, call.m, call.c.leading, 1};
    products.stride_c = call.c.distance;
    return products;
}

}  // namespace heptad::cublas
