// One product by cuBLAS or by our own classical kernel, or several at equal distances by one call.
#include <optional>

#include "kernels/cuda/device/cuda_backend_state.hpp"

namespace heptad::cuda {

void CudaBackend::State::scale(double beta, const View& c) const {
    LinearLaunch launch;
    launch.scalar = launch.result = scalar_type(c.type);
    launch.outputs.push_back(device_matrix(c));
    launch.keep = beta;
    check_launch(launch_linear(launch, stream), "scale C");
}

void CudaBackend::State::multiply_classical(const Product& product, const Guard& guard_of_product) const {
    check_launch(launch_classical(
                     {scalar_type(product.a.type), scalar_type(product.c.type), product.alpha, device_matrix(product.a),
                      device_matrix(product.b), product.beta, device_matrix(product.c), guard_of_product},
                     stream),
                 "start the classical product");
}

void CudaBackend::State::multiply_cublas(const Product& product) const {
    const Operand a = operand_of(product.a), b = operand_of(product.b), c = operand_of(product.c);
    if (!a.usable || !b.usable || !c.usable) {
        multiply_classical(product, {});
        return;
    }
    const Type type = product.a.type;
    const GemmTypes types = gemm_types(type);
    const HostScalar alpha(product.alpha, type), beta(product.beta, type);
    const auto op = [&](const Operand& x) { return x.by_rows == c.by_rows ? CUBLAS_OP_N : CUBLAS_OP_T; };
    // C stored by rows is its transpose stored by columns: C' = B' A'.
    const ConstView& first = c.by_rows ? product.b : product.a;
    const ConstView& second = c.by_rows ? product.a : product.b;
    const Operand& first_operand = c.by_rows ? b : a;
    const Operand& second_operand = c.by_rows ? a : b;
    check(library->gemm(handle, op(first_operand), op(second_operand), c.by_rows ? product.c.cols : product.c.rows,
                        c.by_rows ? product.c.rows : product.c.cols, product.a.cols, alpha.pointer(), first.data,
                        types.data, first_operand.leading, second.data, types.data, second_operand.leading,
                        beta.pointer(), product.c.data, gemm_types(product.c.type).data, c.leading, types.compute,
                        CUBLAS_GEMM_DEFAULT),
          "multiply");
}

bool CudaBackend::State::multiply_strided(std::span<const Product> batch, bool as_one_alone) {
    const std::optional<StridedBatch> strided = strided_batch(batch);
    if (!strided) {
        return false;
    }
    if (as_one_alone && batched_products.multiply(*strided, vendor_workspace, vendor_workspace_bytes, stream)) {
        return true;
    }
    if (batch.size() == 1) {
        return false;
    }
    check(library->gemm_strided_batched(
              handle, strided->op_a, strided->op_b, strided->m, strided->n, strided->k, strided->alpha.pointer(),
              strided->a, strided->types.data, strided->lda, strided->distance_a, strided->b, strided->types.data,
              strided->ldb, strided->distance_b, strided->beta.pointer(), strided->c, strided->result, strided->ldc,
              strided->distance_c, strided->count, strided->types.compute, CUBLAS_GEMM_DEFAULT),
          "multiply a batch");
    return true;
}

/// alpha * sum over i + j <= 3 of 2^(8(i+j)) A_i B_j + beta * C, mod 2^32. Limbs lie side by side along k, so the
/// products of equal weight are one product with a longer inner dimension: [A_0 .. A_s] [B_s .. B_0]'.
void CudaBackend::State::multiply_limbs(const Product& product) const {
    const std::int64_t m = product.c.rows, k = product.a.cols, n = product.c.cols;
    const std::int64_t depth = limb_depth(k);
    const Operand c = operand_of(product.c);
    const std::int64_t offset = reserved_bytes >= kGuardBytes + limb_bytes(m, k, n) ? kGuardBytes : 0;
    // cuBLAS's int8 products want 4-byte rows of int32 at multiples of four.
    if (reserved_bytes - offset < limb_bytes(m, k, n) || !c.usable) {
        multiply_classical(product, {});
        return;
    }
    auto* const limbs_a = reinterpret_cast<signed char*>(reserved + offset);
    signed char* const limbs_b = limbs_a + 4 * m * depth;
    check_launch(launch_split_limbs(device_matrix(product.a), false, depth, limbs_a, stream), "split A into limbs");
    check_launch(launch_split_limbs(device_matrix(transposed(product.b)), true, depth, limbs_b, stream),
                 "split B into limbs");
    const auto wrapped = [](double x) {
        return std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(x)));
    };
    for (int shift = 0; shift < 4; ++shift) {
        const auto alpha = std::bit_cast<std::int32_t>(std::bit_cast<std::uint32_t>(wrapped(product.alpha))
                                                       << static_cast<unsigned>(8 * shift));
        const std::int32_t beta = shift == 0 ? wrapped(product.beta) : 1;
        const signed char* const part_a = limbs_a;
        const signed char* const part_b = limbs_b + (3 - shift) * depth;
        const cublasStatus_t status = library->gemm(
            handle, CUBLAS_OP_T, CUBLAS_OP_N, c.by_rows ? n : m, c.by_rows ? m : n, (shift + 1) * depth, &alpha,
            c.by_rows ? part_b : part_a, CUDA_R_8I, 4 * depth, c.by_rows ? part_a : part_b, CUDA_R_8I, 4 * depth, &beta,
            product.c.data, CUDA_R_32I, c.leading, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED && shift == 0) {
            multiply_classical(product, {});  // sizes that its int8 kernels do not take; nothing was written yet
            return;
        }
        check(status, "multiply limbs");
    }
}

}  // namespace heptad::cuda
