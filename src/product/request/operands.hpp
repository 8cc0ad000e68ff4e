// The matrices of a request as their headers tell: which type, do they fit together, and how large they are.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "product/request/request.hpp"

namespace heptad {

/// What the headers say of C = alpha * op(A) * op(B) + beta * C0.
struct OperandFacts {
    Type type = Type::f32;
    ProblemSize size;
    std::int64_t bytes = 0, c_bytes = 0;                                         // in memory: of A, B and C, and of C
    bool packed = false;                                                         // bits in words
    std::optional<std::int64_t> columns_a = {}, columns_b = {}, columns_c = {};  // of packed .npy files

    /// With those of C0, of which numbers keep a copy until the result is checked.
    std::int64_t bytes_of(const Request& request) const;
};
/// The same of matrices that are in no file yet.
OperandFacts operand_facts(const ProblemSize& size, Type type, bool packed);
/// Bytes of rows x cols packed bits in memory.
std::int64_t bit_bytes(std::int64_t rows, std::int64_t cols);

/// A file as the library names it: with the type asked for, and a shape where it has no header.
MatrixName name_of(const std::string& path, const Request& request, const std::optional<RawShape>& raw = {});

/// The type of a product of these files (empty names: none): the one asked for, or where Matrix Market files, which
/// have no type of their own, are among them, that of the others; without others f64, and i32 where all hold integers.
/// Empty where the files tell it or nothing does.
std::optional<Type> product_type(const std::vector<std::string>& files, const Request& request);

/// Reads the headers only. Throws Error(input) where the types or shapes of A, B and C0 do not match.
OperandFacts read_operand_facts(const Request& request);

/// The rows and columns of op(F) of a file F.
inline std::pair<std::int64_t, std::int64_t> as_operand(std::int64_t rows, std::int64_t cols, bool transpose) {
    return transpose ? std::pair(cols, rows) : std::pair(rows, cols);
}
/// A is m x k and B is k_of_b x n, transposes applied; Error(input) with the file names unless k is k_of_b.
void require_inner_sizes(const Request& request, std::int64_t m, std::int64_t k, std::int64_t k_of_b, std::int64_t n);
/// What is added to the product, a file of rows x cols, has its size.
void require_size_of_sum(const Request& request, std::int64_t rows, std::int64_t cols, std::int64_t m, std::int64_t n);
/// What is claimed to be the product, likewise.
void require_size_of_result(const Request& request, std::int64_t rows, std::int64_t cols, const ProblemSize& size);

}  // namespace heptad
