#include "product/request/operands.hpp"

#include <algorithm>

#include "base/fail_if.hpp"
#include "base/matrix.hpp"
#include "base/size.hpp"
#include "io/bit_file.hpp"
#include "io/matrix_market.hpp"

namespace heptad {
namespace {

void require_equal_types(const std::string& a, const MatrixFacts& first, const std::string& b,
                         const MatrixFacts& second) {
    fail_if(
        first.type != second.type, ErrorCode::input,
        "{} holds {} and {} holds {}; all matrices of a product must have the same type (--type f64 widens f32, f16 "
        "and i32, --type i64 widens i32)",
        a, type_name(first.type), b, type_name(second.type));
}

}  // namespace

std::int64_t OperandFacts::bytes_of(const Request& request) const {
    return !packed && request.beta != 0.0 && request.verify ? checked_add(bytes, c_bytes) : bytes;
}

std::int64_t bit_bytes(std::int64_t rows, std::int64_t cols) {
    return checked_mul(rows, checked_mul(checked_add(cols, 511) / 512, 64));
}

OperandFacts operand_facts(const ProblemSize& size, Type type, bool packed) {
    const auto bytes_of = [&](std::int64_t rows, std::int64_t cols) {
        return packed ? bit_bytes(rows, cols) : matrix_bytes(type, rows, cols);
    };
    const std::int64_t c_bytes = bytes_of(size.m, size.n), a_bytes = bytes_of(size.m, size.k);
    return {type, size, checked_add(checked_add(a_bytes, bytes_of(size.k, size.n)), c_bytes), c_bytes, packed};
}

MatrixName name_of(const std::string& path, const Request& request, const std::optional<RawShape>& raw) {
    return {path, request.type, raw};
}

std::optional<Type> product_type(const std::vector<std::string>& files, const Request& request) {
    std::vector<std::string> markets, others;
    for (const std::string& file : files) {
        if (!file.empty()) {
            (is_matrix_market_name(file) ? markets : others).push_back(file);
        }
    }
    const bool bits = request.columns || std::ranges::any_of(others, is_bit_file_name);
    if (request.type || markets.empty() || bits) {
        return request.type;
    }
    if (const std::optional<RawShape>& raw = request.raw_a ? request.raw_a : request.raw_b) {
        return raw->type;
    }
    return others.empty() ? type_of_markets(markets) : matrix_facts(name_of(others.front(), request)).type;
}

void require_inner_sizes(const Request& request, std::int64_t m, std::int64_t k, std::int64_t k_of_b, std::int64_t n) {
    fail_if(k != k_of_b, ErrorCode::input,
            "{}{} is {} x {} and {}{} is {} x {}, but the columns of the first must equal the rows of the second; "
            "check the files or --transpose-a and --transpose-b",
            request.a, request.transpose_a ? " transposed" : "", m, k, request.b,
            request.transpose_b ? " transposed" : "", k_of_b, n);
}

void require_size_of_sum(const Request& request, std::int64_t rows, std::int64_t cols, std::int64_t m, std::int64_t n) {
    fail_if(rows != m || cols != n, ErrorCode::input, "{} is {} x {}, but the product it is added to is {} x {}",
            request.add, rows, cols, m, n);
}

void require_size_of_result(const Request& request, std::int64_t rows, std::int64_t cols, const ProblemSize& size) {
    fail_if(rows != size.m || cols != size.n, ErrorCode::input,
            "{} is {} x {}, but the product of {} and {} is {} x {}", request.output, rows, cols, request.a, request.b,
            size.m, size.n);
}

OperandFacts read_operand_facts(const Request& request) {
    const MatrixFacts facts_a = matrix_facts(name_of(request.a, request, request.raw_a));
    const MatrixFacts facts_b = matrix_facts(name_of(request.b, request, request.raw_b));
    require_equal_types(request.a, facts_a, request.b, facts_b);
    const auto [m, k] = as_operand(facts_a.rows, facts_a.cols, request.transpose_a);
    const auto [k_of_b, n] = as_operand(facts_b.rows, facts_b.cols, request.transpose_b);
    require_inner_sizes(request, m, k, k_of_b, n);
    if (!request.add.empty()) {
        const MatrixFacts facts_c0 = matrix_facts(name_of(request.add, request));
        require_equal_types(request.a, facts_a, request.add, facts_c0);
        require_size_of_sum(request, facts_c0.rows, facts_c0.cols, m, n);
    }
    const std::int64_t c_bytes = matrix_bytes(facts_a.type, m, n);
    return {facts_a.type, {m, k, n}, checked_add(checked_add(facts_a.bytes, facts_b.bytes), c_bytes), c_bytes};
}

}  // namespace heptad
