#include "bit_operands.hpp"

#include "operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "io/bit_file.hpp"
#include "io/npy.hpp"
#include "kernels/bits/level_program.hpp"
#include "kernels/cuda/bits/bit_verbs.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_list.hpp"

namespace heptad::cli {
namespace {

bool is_bits(Type type) {
    return type == Type::gf2 || type == Type::boolean;
}

bool has_bit_algorithm(const std::string& name) {
    const auto programs = bits::level_programs();
    return name == "auto" || name == "classical" ||
           std::any_of(programs.begin(), programs.end(), [&](const bits::LevelProgram& p) { return p.name == name; });
}

bool has_bit_leaf(const std::string& name, Type algebra, const std::string& device) {
    const std::vector<std::string> names =
        device.starts_with("cuda") ? cuda::bit_leaf_names() : bits::leaf_names(algebra);
    return name == "auto" || std::find(names.begin(), names.end(), name) != names.end();
}

bool multiplies_bits(const std::string& device) {
    return device == "auto" || device == "cpu" || is_device_list(device) || cuda::is_device_name(device);
}

/// alpha * A * B + beta * C0 is a product, or a product added to a matrix.
bool has_plain_factors(const ProductOptions& product) {
    return product.alpha == 1 && (product.beta == 0 || product.beta == 1);
}

}  // namespace

std::optional<Type> packed_algebra(const std::string& a, const std::string& b, const ProductOptions& product) {
    const bool named = product.columns.has_value() || is_bit_file_name(a) || is_bit_file_name(b);
    const bool raw = product.raw_a || product.raw_b;
    if (named) {
        if (raw) {
            fail(ErrorCode::usage, "{} and {} are matrices of bits, which have headers; leave --raw-a and --raw-b out",
                 a, b);
        }
        return packed_algebra_of_files(fmt::format("{} and {} are matrices of bits", a, b), product);
    }
    if (raw) {
        return std::nullopt;  // numbers: what else they may be said to be is refused with the file
    }
    return packed_algebra(product.type ? *product.type : matrix_facts(name_of(a, product, {})).type, product);
}

Type packed_algebra_of_files(const std::string& reason, const ProductOptions& product) {
    if (!product.type || !is_bits(*product.type)) {
        fail(ErrorCode::usage, "{}; say --type gf2 or --type bool", reason);
    }
    const std::string& device = product.options.device;
    if (!multiplies_bits(device)) {
        fail(ErrorCode::usage, "files of packed bits are multiplied on cpu or cuda, not on '{}'; leave --device out",
             device);
    }
    if (product.options.mode != "auto") {
        fail(ErrorCode::usage, "packed bits have no --mode; leave it out");
    }
    if (!has_plain_factors(product)) {
        fail(ErrorCode::usage, "packed bits take --alpha 1 and --beta 0 or 1, not {} and {}", product.alpha,
             product.beta);
    }
    return *product.type;
}

std::optional<Type> packed_algebra(Type type, const ProductOptions& product) {
    const Options& options = product.options;
    const bool packable = multiplies_bits(options.device) && options.mode == "auto" && has_plain_factors(product) &&
                          has_bit_algorithm(options.algorithm) && has_bit_leaf(options.leaf, type, options.device);
    return is_bits(type) && packable ? std::optional(type) : std::nullopt;
}

void poison(BitMatrix& c) {
    constexpr std::int64_t kRowsPerTask = 64;
    shared_pool(available_cores()).run(ceil_div(c.rows(), kRowsPerTask), [&](std::int64_t task) {
        const std::int64_t first = task * kRowsPerTask, last = std::min(c.rows(), first + kRowsPerTask);
        std::fill(c.view().words + first * c.stride(), c.view().words + last * c.stride(), 0x5555555555555555U);
    });
}

std::int64_t bit_bytes(std::int64_t rows, std::int64_t cols) {
    return checked_mul(rows, checked_mul(checked_add(cols, 511) / 512, 64));
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

BitFacts read_bit_facts(const std::string& a, const std::string& b, const ProductOptions& product) {
    BitFacts facts;
    facts.columns_b = product.columns;
    const BitFileHeader header_b = read_bit_header(b, facts.columns_b);
    auto [k_of_b, n] = std::pair(header_b.rows, header_b.cols);
    if (product.transpose_b) {
        std::swap(k_of_b, n);
    }
    if (product.columns) {  // the inner size is known from B
        facts.columns_a = product.transpose_a ? *product.columns : k_of_b;
    }
    const BitFileHeader header_a = read_bit_header(a, facts.columns_a);
    auto [m, k] = std::pair(header_a.rows, header_a.cols);
    if (product.transpose_a) {
        std::swap(m, k);
    }
    try {
        require_inner_sizes(a, m, k, b, k_of_b, n, product);
    } catch (const Error& error) {
        const std::string hint = packed_hint(a, facts.columns_a);
        fail(error.code(), "{}{}", error.what(), hint.empty() ? packed_hint(b, facts.columns_b) : hint);
    }
    if (product.columns) {
        facts.columns_c = n;
    }
    if (!product.add.empty()) {
        const BitFileHeader header_c0 = read_bit_header(product.add, facts.columns_c);
        require_size_of_sum(product.add, header_c0.rows, header_c0.cols, m, n);
    }
    facts.size = {m, k, n};
    facts.operand_bytes = checked_add(checked_add(bit_bytes(m, k), bit_bytes(k, n)), bit_bytes(m, n));
    return facts;
}

BitMatrix read_bit_operand(const std::string& path, std::optional<std::int64_t> columns, bool transpose,
                           ProgressMeter& meter, const std::string& stage, int threads) {
    BitMatrix matrix = read_bits(path, columns, file_hooks(meter, stage, threads));
    return transpose ? matrix.transposed() : std::move(matrix);
}

bits::BitOptions bit_options(const ProductOptions& product) {
    return {product.options.algorithm, product.options.levels, product.options.leaf, product.options.device,
            product.options.host};
}

}  // namespace heptad::cli
