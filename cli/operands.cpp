#include "operands.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/free_memory.hpp"
#include "base/size.hpp"
#include "base/workspace.hpp"
#include "interrupt.hpp"
#include "io/matrix_source.hpp"
#include "kernels/cuda/device/device.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

/// For cuBLAS, its kernels and rows that are padded.
constexpr std::int64_t kDeviceReservedBytes = std::int64_t{256} << 20;

void require_equal_types(const std::string& a, const MatrixFacts& first, const std::string& b,
                         const MatrixFacts& second) {
    if (first.type != second.type) {
        fail(ErrorCode::input,
             "{} holds {} and {} holds {}; all matrices of a product must have one type (--type f64 widens f32, f16 "
             "and i32)",
             a, type_name(first.type), b, type_name(second.type));
    }
}

}  // namespace

void require_inner_sizes(const std::string& a, std::int64_t m, std::int64_t k, const std::string& b,
                         std::int64_t k_of_b, std::int64_t n, const ProductOptions& product) {
    if (k != k_of_b) {
        fail(ErrorCode::input,
             "{}{} is {} x {} and {}{} is {} x {}, but the columns of the first must equal the rows of the second; "
             "check the files or --transpose-a and --transpose-b",
             a, product.transpose_a ? " transposed" : "", m, k, b, product.transpose_b ? " transposed" : "", k_of_b, n);
    }
}

void require_size_of_sum(const std::string& add, std::int64_t rows, std::int64_t cols, std::int64_t m, std::int64_t n) {
    if (rows != m || cols != n) {
        fail(ErrorCode::input, "{} is {} x {}, but the product it is added to is {} x {}", add, rows, cols, m, n);
    }
}

OperandFacts read_operand_facts(const std::string& a, const std::string& b, const ProductOptions& product) {
    const MatrixFacts facts_a = matrix_facts(name_of(a, product, product.raw_a));
    const MatrixFacts facts_b = matrix_facts(name_of(b, product, product.raw_b));
    require_equal_types(a, facts_a, b, facts_b);
    auto [m, k] = std::pair(facts_a.rows, facts_a.cols);
    auto [k_of_b, n] = std::pair(facts_b.rows, facts_b.cols);
    if (product.transpose_a) {
        std::swap(m, k);
    }
    if (product.transpose_b) {
        std::swap(k_of_b, n);
    }
    require_inner_sizes(a, m, k, b, k_of_b, n, product);
    if (!product.add.empty()) {
        const MatrixFacts facts_c0 = matrix_facts(name_of(product.add, product, {}));
        require_equal_types(a, facts_a, product.add, facts_c0);
        require_size_of_sum(product.add, facts_c0.rows, facts_c0.cols, m, n);
    }
    return {facts_a.type, {m, k, n}, facts_a.bytes, facts_b.bytes, matrix_bytes(facts_a.type, m, n)};
}

MatrixName name_of(const std::string& path, const ProductOptions& product, const std::optional<RawShape>& raw) {
    return {path, product.type, raw};
}

std::int64_t memory_limit_bytes(const ProductOptions& product) {
    return product.memory_bytes.value_or(free_memory_bytes());
}

std::int64_t workspace_after(std::int64_t operand_bytes, const ProductOptions& product) {
    const std::int64_t limit = memory_limit_bytes(product);
    if (operand_bytes > limit) {
        fail(ErrorCode::resource, "the matrices alone take {} ({} bytes), but {} {} ({} bytes); use smaller matrices{}",
             format_bytes(operand_bytes), operand_bytes,
             product.memory_bytes ? "--memory allows" : "this process may take", format_bytes(limit), limit,
             product.memory_bytes ? " or a larger --memory" : "");
    }
    return limit - operand_bytes;
}

std::int64_t workspace_limit_after(std::int64_t operand_bytes, const ProductOptions& product) {
    const std::int64_t left = workspace_after(operand_bytes, product);
    return product.memory_bytes ? left : workspace_share(left);
}

std::int64_t planned_workspace_limit(std::int64_t operand_bytes, const ProductOptions& product) {
    if (!product.memory_bytes && operand_bytes > free_memory_bytes()) {
        return std::numeric_limits<std::int64_t>::max() - 1;  // the largest number asks for what is free here
    }
    return workspace_limit_after(operand_bytes, product);
}

std::int64_t device_workspace_after(std::int64_t operand_bytes, const ProductOptions& product, int cuda_device) {
    const std::int64_t allowed = workspace_after(operand_bytes, product);
    cuda::require_device(cuda_device);
    const std::int64_t free = cuda::report().devices.at(static_cast<std::size_t>(cuda_device)).free_bytes;
    if (operand_bytes > free - kDeviceReservedBytes) {
        fail(ErrorCode::resource,
             "the matrices take {} ({} bytes), but cuda:{} has {} ({} bytes) free, of which {} are kept back; use "
             "smaller matrices or --device cpu",
             format_bytes(operand_bytes), operand_bytes, cuda_device, format_bytes(free), free,
             format_bytes(kDeviceReservedBytes));
    }
    return std::min(product.memory_bytes ? allowed : free, free - kDeviceReservedBytes - operand_bytes);
}

FileHooks file_hooks(ProgressMeter& meter, const std::string& stage, int threads) {
    meter.begin(stage);
    return {threads, [&meter](const Progress& progress) { meter.update(progress.fraction); }, interrupt_token()};
}

Context product_context(ProgressMeter& meter, int threads) {
    Context context;
    context.set_threads(threads);
    context.set_cancel(interrupt_token());
    context.set_progress([&meter](const Progress& progress) { meter.update(progress.fraction, progress.stage); });
    return context;
}

double operation_count(const ProblemSize& size) {
    return 2.0 * static_cast<double>(size.m) * static_cast<double>(size.k) * static_cast<double>(size.n);
}

}  // namespace heptad::cli
