// What stands behind CudaBackend: its stream and library, the guard of the product under way, and what turns views
// into arguments of kernels.
#pragma once

#include <utility>

#include "base/device_layout.hpp"
#include "base/types.hpp"
#include "kernels/cuda/combine/linear_pass.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/cuda_kernels.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/status.hpp"
#include "kernels/cuda/residue/exact_launches.hpp"
#include "kernels/cuda/residue/kept_operand.hpp"
#include "kernels/cuda/residue/residue_launches.hpp"
#include "kernels/cuda/vendor/batched_product.hpp"
#include "kernels/cuda/vendor/cublas_library.hpp"

namespace heptad::cuda {

inline Scalar scalar_type(Type type) {
    switch (type) {
        case Type::f64:
            return Scalar::f64;
        case Type::f32:
        case Type::tf32:
            return Scalar::f32;
        case Type::bf16:
            return Scalar::bf16;
        case Type::f16:
            return Scalar::f16;
        case Type::i32:
            return Scalar::i32;
        default:
            fail(ErrorCode::usage, "products of {} do not run on cuda; set device to cpu", type_name(type));
    }
}

/// Of complex numbers that of their parts.
inline Scalar part_scalar(Type type) {
    return scalar_type(is_complex(type) ? part_type(type) : type);
}

inline DeviceMatrix device_matrix(const ConstView& view) {
    return {const_cast<void*>(view.data), view.rows, view.cols, view.row_stride, view.col_stride};
}

inline DeviceLines device_lines(const LineExponents& lines) {
    return {lines.rows, lines.cols};
}

inline Scale::Kind scale_kind(SumScaling scaling) {
    switch (scaling) {
        case SumScaling::a_to_sums:
            return Scale::Kind::a_to_sums;
        case SumScaling::b_to_sums:
            return Scale::Kind::b_to_sums;
        case SumScaling::sums_to_c:
            return Scale::Kind::sums_to_c;
        default:
            return Scale::Kind::none;
    }
}

struct CudaBackend::State {
    int device = 0;
    cudaStream_t stream = nullptr;
    const CublasLibrary* library = nullptr;
    cublasHandle_t handle = nullptr;
    /// Of cuBLAS, or of counters of fused products, which need it at other times; and behind it the report.
    void* own_workspace = nullptr;
    void* vendor_workspace = nullptr;
    std::int64_t vendor_workspace_bytes = 0;
    BatchedProducts batched_products;
    std::byte* reserved = nullptr;
    std::int64_t reserved_bytes = 0;
    bool guarded = false;
    Guard guard;
    GuardLimits limits;
    ProblemSize guarded_size;
    ProductExponents judged;    // beside A and B; nulls: none
    DeviceMemory guard_memory;  // of products without workspace
    bool has_report = false;    // of guarded products that nobody has asked for
    /// The guard's words are cleared by their first user, so that what clears other things anyway can do it.
    bool words_are_fresh = false;
    bool is_result_judged = false;  // by the kernels that made it
    bool watched[2] = {};           // all of A, all of B: their largest value is noted
    PassShapes shapes;
    LinearPasses linear_passes;
    cudaStream_t second_stream = nullptr;  // beside `stream`, for what need not wait for each other
    cudaEvent_t turn = nullptr;

    /// Of the product by residues under way.
    struct Residues {
        ResidueChoice choice;
        ResidueLines lines[2];  // all rows of A, all columns of B
        PlanesInPlace kept;
        /// Where nothing is rounded on the way.
        bool is_exact = false, has_norms = false;
        ExactElement element = ExactElement::f32;
        int pieces = 0;
    } residues;
    KeptOperand kept[2];  // for products to come, too

    bool is_captured() const { return cuda::is_captured(stream); }
    std::int64_t guard_size_bytes() const { return guard_bytes(guarded_size.m, guarded_size.k, guarded_size.n); }
    std::byte* guard_data() const {
        return guard_memory.data() != nullptr ? static_cast<std::byte*>(guard_memory.data()) : reserved;
    }
    GuardWords* words() const { return reinterpret_cast<GuardWords*>(guard_data()); }
    /// Where the powers of two of rows and columns go: those of A (0) or B (1).
    struct Lines {
        std::int32_t *rows, *cols;
    };
    Lines lines(int operand) const {
        auto* const of_a = reinterpret_cast<std::int32_t*>(guard_data() + kGuardBytes + kEvennessBytes);
        const std::int64_t m = line_count(guarded_size.m), k = line_count(guarded_size.k);
        return operand == 0 ? Lines{of_a, of_a + m} : Lines{of_a + m + k, of_a + m + 2 * k};
    }
    GuardReport* report() const {
        return reinterpret_cast<GuardReport*>(static_cast<std::byte*>(own_workspace) + kCublasWorkspaceBytes);
    }
    GuardReport* cleared_report() {
        if (!std::exchange(has_report, true)) {
            check(cudaMemsetAsync(report(), 0, sizeof(GuardReport), stream), "clear a verdict");
        }
        return report();
    }
    GuardWords* cleared_words() {
        if (words_are_fresh) {
            words_are_fresh = false;
            check(cudaMemsetAsync(words(), 0, static_cast<std::size_t>(guard_size_bytes()), stream), "clear the guard");
        }
        return words();
    }
    void make_second_stream() {
        if (second_stream == nullptr) {
            check(cudaStreamCreateWithFlags(&second_stream, cudaStreamNonBlocking), "make a second stream");
        }
    }
    /// What is enqueued on `then` from now on comes after what is on `first`.
    void in_turn(cudaStream_t first, cudaStream_t then) {
        if (turn == nullptr) {
            check(cudaEventCreateWithFlags(&turn, cudaEventDisableTiming), "make an event");
        }
        check(cudaEventRecord(turn, first), "record an event");
        check(cudaStreamWaitEvent(then, turn), "wait for an event");
    }
    ProductExponents judge(const ConstView& a, const ConstView& b, cudaStream_t where);
    void multiply_cublas(const Product& product) const;
    bool multiply_strided(std::span<const Product> batch, bool as_one_alone);
    void multiply_classical(const Product& product, const Guard& guard_of_product) const;
    /// The classical product, if `unsafe` says on the device that it is needed.
    void answer(const Product& product, const Guard& unsafe, std::span<std::byte> free) const;
    /// The same of short floats. False: the device has no such tensor cores, or `free` is too small for copies.
    bool answer_by_tensor_cores(const Product& product, const Guard& unsafe, std::span<std::byte> free) const;
    void multiply_limbs(const Product& product) const;
    void scale(double beta, const View& c) const;
    /// The same of complex numbers.
    void multiply_complex(const Product& product) const;
    void multiply_parts(const Product& product, const Guard& guard_of_product) const;
    void scale_complex(const Product& product, const Guard& guard_of_product) const;
};

}  // namespace heptad::cuda
