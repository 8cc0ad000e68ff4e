#include "kernels/cuda/vendor/strided_batch.hpp"

#include <algorithm>
#include <utility>

namespace heptad::cuda {

Operand operand_of(const ConstView& view) {
    const auto leading = [](std::int64_t stride, std::int64_t lines, std::int64_t length) {
        return lines <= 1 ? std::max<std::int64_t>(length, 1) : stride;
    };
    if (view.col_stride == 1 || view.cols <= 1) {
        const std::int64_t stride = leading(view.row_stride, view.rows, view.cols);
        if (stride >= std::max<std::int64_t>(view.cols, 1)) {
            return {true, true, stride};
        }
    }
    if (view.row_stride == 1 || view.rows <= 1) {
        const std::int64_t stride = leading(view.col_stride, view.cols, view.rows);
        if (stride >= std::max<std::int64_t>(view.rows, 1)) {
            return {true, false, stride};
        }
    }
    return {};
}

GemmTypes gemm_types(Type type) {
    switch (type) {
        case Type::f64:
            return {CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
        case Type::tf32:
            return {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
        case Type::bf16:
            return {CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
        case Type::f16:
            return {CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
        case Type::c64:
            return {CUDA_C_32F, CUBLAS_COMPUTE_32F, CUDA_C_32F};
        case Type::c128:
            return {CUDA_C_64F, CUBLAS_COMPUTE_64F, CUDA_C_64F};
        default:
            return {CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    }
}

std::optional<cublasOperation_t> operation_of(const Operand& operand, bool conjugate, bool c_by_rows) {
    if (operand.by_rows == c_by_rows) {
        return conjugate ? std::nullopt : std::optional(CUBLAS_OP_N);
    }
    return conjugate ? CUBLAS_OP_C : CUBLAS_OP_T;
}

namespace {

/// Distance in elements between neighbours of a batch, if it is the same for all and not negative.
template <class Get>
std::optional<std::int64_t> common_distance(std::span<const Product> batch, Get&& view_of) {
    if (batch.size() == 1) {
        return 0;
    }
    const ConstView& first = view_of(batch[0]);
    const auto element = static_cast<std::int64_t>(element_bytes(first.type));
    const auto address = [](const ConstView& v) { return static_cast<const std::byte*>(v.data); };
    const std::int64_t bytes = address(view_of(batch[1])) - address(first);
    for (std::size_t i = 1; i < batch.size(); ++i) {
        const ConstView& view = view_of(batch[i]);
        if (address(view) - address(view_of(batch[i - 1])) != bytes || view.rows != first.rows ||
            view.cols != first.cols || view.row_stride != first.row_stride || view.col_stride != first.col_stride) {
            return std::nullopt;
        }
    }
    return bytes >= 0 && bytes % element == 0 ? std::optional(bytes / element) : std::nullopt;
}

}  // namespace

std::optional<StridedBatch> strided_batch(std::span<const Product> batch) {
    if (batch.empty()) {
        return std::nullopt;
    }
    const Product& one = batch[0];
    const bool same_scalars = std::all_of(batch.begin(), batch.end(), [&](const Product& p) {
        return p.alpha == one.alpha && p.beta == one.beta && p.imaginary.alpha == one.imaginary.alpha &&
               p.imaginary.beta == one.imaginary.beta;
    });
    auto distance_a = common_distance(batch, [](const Product& p) -> ConstView { return p.a; });
    auto distance_b = common_distance(batch, [](const Product& p) -> ConstView { return p.b; });
    const auto distance_c = common_distance(batch, [](const Product& p) -> ConstView { return p.c; });
    Operand a = operand_of(one.a), b = operand_of(one.b);
    const Operand c = operand_of(one.c);
    if (!same_scalars || !distance_a || !distance_b || !distance_c || !a.usable || !b.usable || !c.usable) {
        return std::nullopt;
    }
    auto op_a = operation_of(a, one.a.conjugate, c.by_rows), op_b = operation_of(b, one.b.conjugate, c.by_rows);
    if (!op_a || !op_b) {
        return std::nullopt;
    }
    StridedBatch strided;
    strided.m = one.c.rows;
    strided.n = one.c.cols;
    strided.k = one.a.cols;
    strided.a = one.a.data;
    strided.b = one.b.data;
    if (c.by_rows) {  // C stored by rows is its transpose stored by columns: C' = B' A'
        std::swap(strided.m, strided.n);
        std::swap(strided.a, strided.b);
        std::swap(a, b);
        std::swap(op_a, op_b);
        std::swap(distance_a, distance_b);
    }
    strided.op_a = *op_a;
    strided.op_b = *op_b;
    strided.lda = a.leading;
    strided.ldb = b.leading;
    strided.distance_a = *distance_a;
    strided.distance_b = *distance_b;
    strided.c = one.c.data;
    strided.ldc = c.leading;
    strided.distance_c = *distance_c;
    strided.count = static_cast<std::int64_t>(batch.size());
    strided.type = one.a.type;
    strided.types = gemm_types(one.a.type);
    strided.result = gemm_types(one.c.type).data;
    strided.alpha = HostScalar(one.alpha, one.a.type, one.imaginary.alpha);
    strided.beta = HostScalar(one.beta, one.a.type, one.imaginary.beta);
    return strided;
}

}  // namespace heptad::cuda
