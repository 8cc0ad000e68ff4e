// The matrices of one product as files: do they fit together, do they fit in memory, and their contents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/matrix.hpp"
#include "base/view.hpp"
#include "io/hooks.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace heptad::cli {

/// What the headers say of C = alpha * op(A) * op(B) + beta * C0.
struct OperandFacts {
    Type type = Type::f32;
    ProblemSize size;
    std::int64_t a_bytes = 0, b_bytes = 0, c_bytes = 0;
};

/// A is m x k and B is k_of_b x n, transposes applied; Error(input) with the file names unless k is k_of_b.
void require_inner_sizes(const std::string& a, std::int64_t m, std::int64_t k, const std::string& b,
                         std::int64_t k_of_b, std::int64_t n, const ProductOptions& product);
/// What is added to the product, a file of rows x cols, has its size.
void require_size_of_sum(const std::string& add, std::int64_t rows, std::int64_t cols, std::int64_t m, std::int64_t n);

/// A file as the library names it: with the type asked for, and a shape where it has no header.
MatrixName name_of(const std::string& path, const ProductOptions& product, const std::optional<RawShape>& raw);

/// The type of a product of these files (empty names: none): the one asked for, or where Matrix Market files, which
/// have no type of their own, are among them, that of the others; without others f64, and i32 where all hold integers.
/// Empty where the files tell it or nothing does.
std::optional<Type> product_type(const std::vector<std::string>& files, const ProductOptions& product);

/// Reads the headers only. Throws Error(input) where the types or shapes of A, B and C0 do not match.
OperandFacts read_operand_facts(const std::string& a, const std::string& b, const ProductOptions& product);

/// Bytes of memory that may be used: --memory, or what is free for this process (base/free_memory.hpp).
std::int64_t memory_limit_bytes(const ProductOptions& product);
/// What is left after `operand_bytes`. Throws Error(resource), naming both, where nothing is left.
std::int64_t workspace_after(std::int64_t operand_bytes, const ProductOptions& product);
/// Most bytes of workspace beside them: all that --memory leaves, or the share of what is free that every product takes
/// (base/workspace.hpp).
std::int64_t workspace_limit_after(std::int64_t operand_bytes, const ProductOptions& product);
/// The same for a plan, which may be for another machine: no limit where the matrices themselves do not fit here.
std::int64_t planned_workspace_limit(std::int64_t operand_bytes, const ProductOptions& product);

/// The same on an NVIDIA device, which holds copies of the operands: also no more than it has free.
std::int64_t device_workspace_after(std::int64_t operand_bytes, const ProductOptions& product, int cuda_device);

/// Hooks of a file operation that show the stage and stop at a signal. The meter must outlive them.
FileHooks file_hooks(ProgressMeter& meter, const std::string& stage, int threads);
/// A context that does so for products.
Context product_context(ProgressMeter& meter, int threads);

inline ConstView oriented(const ConstView& view, bool transpose) {
    return transpose ? transposed(view) : view;
}
/// 2mkn, the operations that an effective rate counts.
double operation_count(const ProblemSize& size);

}  // namespace heptad::cli
