// Products of packed bit matrices from files: when they are meant, what the headers say, and the matrices.
#pragma once

#include <optional>
#include <string>

#include <heptad/bits.hpp>

#include "operands.hpp"
#include "options.hpp"

namespace heptad::cli {

/// gf2 or bool, if the product of these files is one of packed bits: the files can hold nothing else, or hold bits (or
/// are asked for as bits) and the options name nothing that only the general way can do. Throws Error(usage) for bit
/// files with options that do not apply.
std::optional<Type> packed_algebra(const std::string& a, const std::string& b, const ProductOptions& product);

/// gf2 or bool, for files that can hold nothing but packed bits, which `reason` says. Throws Error(usage) as above.
Type packed_algebra_of_files(const std::string& reason, const ProductOptions& product);

/// The same for elements of a type, without files.
std::optional<Type> packed_algebra(Type type, const ProductOptions& product);

/// Sizes of C = op(A) * op(B) + beta * C0, and the columns of packed .npy files.
struct BitFacts {
    ProblemSize size;
    std::optional<std::int64_t> columns_a, columns_b, columns_c;
    std::int64_t operand_bytes = 0;  // of A, B and C in memory
};
/// Reads the headers only. Throws Error(input) where the shapes do not match.
BitFacts read_bit_facts(const std::string& a, const std::string& b, const ProductOptions& product);

/// A way out for an error sentence about the shape of a file: it may be packed and want its columns; or nothing.
std::string packed_hint(const std::string& path, std::optional<std::int64_t> columns);

/// A whole matrix; transposed if asked.
BitMatrix read_bit_operand(const std::string& path, std::optional<std::int64_t> columns, bool transpose,
                           ProgressMeter& meter, const std::string& stage, int threads);

bits::BitOptions bit_options(const ProductOptions& product);
/// Bytes of rows x cols bits in memory.
std::int64_t bit_bytes(std::int64_t rows, std::int64_t cols);
/// Something that is not the result, on all cores.
void poison(BitMatrix& c);

/// `heptad mul`, `plan` and `verify` of packed bits.
void run_bits(const MulArguments& mul, Type algebra);
void run_bits(const PlanArguments& arguments, Type algebra);
void run_bits(const VerifyArguments& arguments, Type algebra);

}  // namespace heptad::cli
