#include "product/request/bit_operands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_if.hpp"
#include "io/bit_file.hpp"
#include "io/npy.hpp"
#include "kernels/bits/level_program.hpp"
#include "kernels/cuda/bits/bit_verbs.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_list.hpp"

namespace heptad {
namespace {

bool is_bits(Type type) {
    return type == Type::gf2 || type == Type::boolean;
}

bool has_bit_algorithm(const std::string& name) {
    const auto programs = bits::level_programs();
    return name == "auto" || name == "classical" ||
           std::ranges::any_of(programs, [&](const bits::LevelProgram& p) { return p.name == name; });
}

bool has_bit_leaf(const std::string& name, Type algebra, const std::string& device) {
    const std::vector<std::string> names =
        device.starts_with("cuda") ? cuda::bit_leaf_names() : bits::leaf_names(algebra);
    return name == "auto" || std::ranges::find(names, name) != names.end();
}

bool multiplies_bits(const std::string& device) {
    return device == "auto" || device == "cpu" || is_device_list(device) || cuda::is_device_name(device);
}

/// alpha * A * B + beta * C0 is a product, or a product added to a matrix.
bool has_plain_factors(const Request& request) {
    return request.alpha == 1.0 && (request.beta == 0.0 || request.beta == 1.0);
}

constexpr const char* kColumnsAreOfBits = "--columns is for matrices of packed bits (leave it out for numbers)";

/// gf2 or bool, for files that can hold nothing but packed bits, which `reason` says.
Type packed_algebra_of_files(const std::string& reason, const Request& request) {
    fail_if(!request.type || !is_bits(*request.type), ErrorCode::usage, "{}; use --type gf2 or --type bool", reason);
    const std::string& device = request.options.device;
    fail_if(!multiplies_bits(device), ErrorCode::usage,
            "files of packed bits are multiplied on cpu or cuda, not on '{}'; leave --device out", device);
    fail_if(request.options.mode != "auto", ErrorCode::usage, "packed bits have no --mode; leave it out");
    fail_if(!has_plain_factors(request), ErrorCode::usage,
            "packed bits take --alpha 1 and --beta 0 or 1, not {} and {}", factor_text(request.alpha),
            factor_text(request.beta));
    return *request.type;
}

}  // namespace

std::optional<Type> packed_algebra(const Request& request) {
    const std::string &a = request.a, &b = request.b;
    const bool named = request.columns.has_value() || is_bit_file_name(a) || is_bit_file_name(b);
    const bool raw = request.raw_a || request.raw_b;
    if (named) {
        fail_if(raw, ErrorCode::usage,
                "{} and {} are matrices of bits, which have headers; leave --raw-a and --raw-b out", a, b);
        const bool by_name = is_bit_file_name(a) || is_bit_file_name(b);
        return packed_algebra_of_files(
            by_name ? fmt::format("{} and {} are matrices of bits", a, b) : kColumnsAreOfBits, request);
    }
    if (raw) {
        return std::nullopt;  // numbers: what else they may be said to be is refused with the file
    }
    return packed_algebra(request.type ? *request.type : matrix_facts(name_of(a, request)).type, request);
}

std::optional<Type> packed_algebra(Type type, const Request& request) {
    if (request.columns) {
        return packed_algebra_of_files(kColumnsAreOfBits, request);
    }
    const Options& options = request.options;
    const bool packable = multiplies_bits(options.device) && options.mode == "auto" && has_plain_factors(request) &&
                          has_bit_algorithm(options.algorithm) && has_bit_leaf(options.leaf, type, options.device);
    return is_bits(type) && packable ? std::optional(type) : std::nullopt;
}

std::string packed_hint(const std::string& path, std::optional<std::int64_t> columns) {
    if (columns || is_bit_file_name(path)) {
        return "";
    }
    const NpyHeader header = read_npy_header(path, Type::gf2);  // which was read before
    return header.dtype == "|u1" ? fmt::format("; if {} holds packed bits, give --columns ({} to {})", path,
                                               std::max<std::int64_t>(8 * header.cols - 7, 0), 8 * header.cols)
                                 : "";
}

OperandFacts read_bit_facts(const Request& request, Type algebra) {
    const BitFileHeader header_b = read_bit_header(request.b, request.columns);
    const auto [k_of_b, n] = as_operand(header_b.rows, header_b.cols, request.transpose_b);
    std::optional<std::int64_t> columns_a;
    if (request.columns) {  // the inner size is known from B
        columns_a = request.transpose_a ? *request.columns : k_of_b;
    }
    const BitFileHeader header_a = read_bit_header(request.a, columns_a);
    const auto [m, k] = as_operand(header_a.rows, header_a.cols, request.transpose_a);
    try {
        require_inner_sizes(request, m, k, k_of_b, n);
    } catch (const Error& error) {
        const std::string hint = packed_hint(request.a, columns_a);
        fail(error.code(), "{}{}", error.what(), hint.empty() ? packed_hint(request.b, request.columns) : hint);
    }
    OperandFacts facts = operand_facts({m, k, n}, algebra, true);
    facts.columns_a = columns_a;
    facts.columns_b = request.columns;
    if (request.columns) {
        facts.columns_c = n;
    }
    if (!request.add.empty()) {
        const BitFileHeader header_c0 = read_bit_header(request.add, facts.columns_c);
        require_size_of_sum(request, header_c0.rows, header_c0.cols, m, n);
    }
    return facts;
}

bits::BitOptions bit_options(const Request& request) {
    return {request.options.algorithm, request.options.levels, request.options.leaf, request.options.device,
            request.options.host};
}

}  // namespace heptad
