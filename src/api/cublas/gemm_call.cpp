#include "api/cublas/gemm_call.hpp"

#include "base/complex_as_real.hpp"
#include "base/types.hpp"

namespace heptad::cublas {
namespace {

bool is_op(int op) {
    return op == kOpN || op == kOpT || op == kOpC;
}

/// op(X)', of which X has rows x cols by columns.
ConstView transposed_operand(const Operand& x, int op, Type type, std::int64_t rows, std::int64_t cols) {
    const ConstView as_stored{x.data, type, rows, cols, 1, x.leading};
    return op == kOpN ? transposed(as_stored) : conjugated(as_stored, op == kOpC && is_complex(type));
}

template <class T>
Factor read(const void* scalar) {
    return Factor(*static_cast<const T*>(scalar));
}

}  // namespace

std::optional<Type> product_type(int a, int b, int c, int compute) {
    if (a != b || a != c) {
        return std::nullopt;
    }
    switch (compute) {
        case kCompute64F:
            return a == kR64F ? std::optional(Type::f64) : a == kC64F ? std::optional(Type::c128) : std::nullopt;
        case kCompute32FFastTf32:
            return a == kR32F ? std::optional(Type::tf32) : std::nullopt;
        case kCompute32F:
            return a == kR32F    ? std::optional(Type::f32)
                   : a == kR16BF ? std::optional(Type::bf16)
                   : a == kR16F  ? std::optional(Type::f16)
                   : a == kC32F  ? std::optional(Type::c64)
                                 : std::nullopt;
        default:
            return std::nullopt;
    }
}

Factor scalar_of(const void* scalar, Type type) {
    return type == Type::f64    ? read<double>(scalar)
           : type == Type::c64  ? read<std::complex<float>>(scalar)
           : type == Type::c128 ? read<std::complex<double>>(scalar)
                                : read<float>(scalar);
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
    const Factor alpha = scalar_of(call.alpha, call.type), beta = scalar_of(call.beta, call.type);
    products.alpha = alpha.real();
    products.beta = beta.real();
    products.imaginary = {alpha.imag(), beta.imag()};
    products.a = transposed_operand(call.b, call.op_b, call.type, b_rows, b_cols);
    products.stride_a = call.b.distance;
    products.b = transposed_operand(call.a, call.op_a, call.type, a_rows, a_cols);
    products.stride_b = call.a.distance;
    products.c = {const_cast<void*>(call.c.data), call.type, call.n, call.m, call.c.leading, 1};
    products.stride_c = call.c.distance;
    return products;
}

}  // namespace heptad::cublas
