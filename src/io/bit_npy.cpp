// .npy files of bits: one byte per element (bool, or bytes of 0 and 1), or eight elements per byte.
#include <algorithm>
#include <cstring>

#include "base/bit_bytes.hpp"
#include "base/fail_if.hpp"
#include "io/bit_formats.hpp"
#include "io/npy.hpp"

namespace heptad {
namespace {

/// The bytes of a packed row, and the columns that they hold.
void require_packed(const NpyHeader& header, std::int64_t columns, const std::string& path) {
    fail_if(header.dtype != "|u1" || header.fortran_order, ErrorCode::input,
            "'{}' holds '{}' in {} order, but packed bits are '|u1' in C order; make them with numpy.packbits(a, "
            "axis=1)",
            path, header.dtype, header.fortran_order ? "Fortran" : "C");
    fail_if(header.cols != packed_row_bytes(columns), ErrorCode::input,
            "'{}' has {} bytes per row, but {} columns take {}; check --columns", path, header.cols, columns,
            packed_row_bytes(columns));
}

/// Of any dtype: require_packed() says what is wrong with one that holds no bits.
NpyHeader header_of_any(const std::string& path) {
    try {
        return read_npy_header(path, Type::gf2);
    } catch (const Error&) {
        return read_npy_header(path);
    }
}

/// Bit i of the result is byte i, all of which are 0 or 1.
std::uint64_t gathered(std::uint64_t bytes) {
    return (bytes * 0x0102040810204080U) >> 56;
}

void pack_row(const std::uint8_t* bytes, const BitView& to, std::int64_t row) {
    for (std::int64_t w = 0; w < bits::words_of(to.cols); ++w) {
        const std::int64_t count = std::min(bits::kWordBits, to.cols - w * bits::kWordBits);
        std::uint8_t padded[64] = {};
        std::memcpy(padded, bytes + w * bits::kWordBits, static_cast<std::size_t>(count));
        std::uint64_t word = 0;
        for (std::int64_t i = 0; i < 8; ++i) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, padded + 8 * i, 8);
            word |= gathered(eight) << (8 * i);
        }
        bits::store_word<bits::Store::assign>(to, row, w, word);
    }
}

/// A .npy in C order.
BitMatrix read_in_order(const std::string& path, const NpyHeader& header, const FileHooks& hooks) {
    BitMatrix matrix(header.rows, header.cols);
    read_rows(path, header.data_offset, {header.rows, header.cols, "read"}, hooks,
              [&](std::int64_t row, const std::uint8_t* bytes) {
                  require_bits(bytes, header.cols, row * header.cols, path);
                  pack_row(bytes, matrix.view(), row);
              });
    return matrix;
}

}  // namespace

BitFileHeader read_npy_bits_header(const std::string& path, std::optional<std::int64_t> packed_columns) {
    const NpyHeader header = packed_columns ? header_of_any(path) : read_npy_header(path, Type::gf2);
    if (packed_columns) {
        require_packed(header, *packed_columns, path);
    }
    return {packed_columns ? BitFormat::npy_packed : BitFormat::npy_bool, header.rows,
            packed_columns.value_or(header.cols), header.data_bytes, header.data_offset};
}

BitMatrix read_npy_bits(const std::string& path, const FileHooks& hooks) {
    const NpyHeader header = read_npy_header(path, Type::gf2);
    if (!header.fortran_order) {
        return read_in_order(path, header, hooks);
    }
    NpyHeader columns_as_rows = header;
    std::swap(columns_as_rows.rows, columns_as_rows.cols);
    return read_in_order(path, columns_as_rows, hooks).transposed();
}

std::string packed_npy_header_text(std::int64_t rows, std::int64_t cols) {
    std::string header = npy_header_text(Type::boolean, rows, packed_row_bytes(cols));
    header.replace(header.find("|b1"), 3, "|u1");
    return header;
}

void write_npy_bits(const std::string& path, const ConstBitView& matrix, const FileHooks& hooks) {
    write_rows(path, npy_header_text(Type::boolean, matrix.rows, matrix.cols), {matrix.rows, matrix.cols, "write"},
               hooks, [&](std::int64_t row, std::uint8_t* bytes) {
                   for (std::int64_t j = 0; j < matrix.cols; ++j) {
                       bytes[j] = matrix(row, j) ? 1 : 0;
                   }
               });
}

}  // namespace heptad
