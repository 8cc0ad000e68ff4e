// One product by cuBLAS or by our own classical kernel, or several at equal distances by one call.
#include <complex>
#include <optional>

#include "base/complex_as_real.hpp"
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

void CudaBackend::State::scale_complex(const Product& product, const Guard& guard_of_product) const {
    check_launch(launch_complex_scale(part_scalar(product.c.type), device_matrix(product.c), product.beta,
                                      product.imaginary.beta, guard_of_product, stream),
                 "scale C");
}

void CudaBackend::State::multiply_complex(const Product& product) const {
    if (product.reads_operands()) {
        multiply_cublas(product);
    } else {
        scale_complex(product, {});
    }
}

/// Parts are real matrices where they lie: with alpha = x + i y,
///   re C += x (re A re B - im A im B) - y (re A im B + im A re B),
///   im C += x (re A im B + im A re B) + y (re A re B - im A im B).
void CudaBackend::State::multiply_parts(const Product& product, const Guard& guard_of_product) const {
    scale_complex(product, guard_of_product);
    const auto multiply = [&](double factor, bool a_imaginary, bool b_imaginary, bool c_imaginary) {
        if (factor != 0) {
            const Product part{factor, part_of(product.a, a_imaginary), part_of(product.b, b_imaginary), 1,
                               part_of(product.c, c_imaginary)};
            guard_of_product.words == nullptr ? multiply_classical(part, {}) : answer(part, guard_of_product, {});
        }
    };
    for (const bool a_imaginary : {false, true}) {
        for (const bool b_imaginary : {false, true}) {
            std::complex<double> factor(product.alpha, product.imaginary.alpha);
            const std::complex<double> of_a(0, product.a.conjugate ? -1 : 1), of_b(0, product.b.conjugate ? -1 : 1);
            factor = a_imaginary ? factor * of_a : factor;
            factor = b_imaginary ? factor * of_b : factor;
            multiply(factor.real(), a_imaginary, b_imaginary, false);
            multiply(factor.imag(), a_imaginary, b_imaginary, true);
        }
    }
}

void CudaBackend::State::multiply_cublas(const Product& product) const {
    const Operand a = operand_of(product.a), b = operand_of(product.b), c = operand_of(product.c);
    const auto op_a = operation_of(a, product.a.conjugate, c.by_rows),
               op_b = operation_of(b, product.b.conjugate, c.by_rows);
    const Type type = product.a.type;
    if (!a.usable || !b.usable || !c.usable || !op_a || !op_b) {
        is_complex(type) ? multiply_parts(product, {}) : multiply_classical(product, {});
        return;
    }
    const GemmTypes types = gemm_types(type);
    const HostScalar alpha(product.alpha, type, product.imaginary.alpha),
        beta(product.beta, type, product.imaginary.beta);
    // C stored by rows is its transpose stored by columns: C' = B' A'.
    const ConstView& first = c.by_rows ? product.b : product.a;
    const ConstView& second = c.by_rows ? product.a : product.b;
    const Operand& first_operand = c.by_rows ? b : a;
    const Operand& second_operand = c.by_rows ? a : b;
    check(library->gemm(handle, c.by_rows ? *op_b : *op_a, c.by_rows ? *op_a : *op_b,
                        c.by_rows ? product.c.cols : product.c.rows, c.by_rows ? product.c.rows : product.c.cols,
                        product.a.cols, alpha.pointer(), first.data, types.data, first_operand.leading, second.data,
                        types.data, second_operand.leading, beta.pointer(), product.c.data,
                        gemm_types(product.c.type).data, c.leading, types.compute, CUBLAS_GEMM_DEFAULT),
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
