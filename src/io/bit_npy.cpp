// .npy files of bits: one byte per element (bool, or bytes of 0 and 1), or eight elements per byte.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/bit_bytes.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "io/bit_formats.hpp"
#include "io/npy.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kChunkBytes = std::int64_t{4} << 20;

/// The bytes of a packed row, and the columns that they hold.
void require_packed(const NpyHeader& header, std::int64_t columns, const std::string& path) {
    if (header.dtype != "|u1" || header.fortran_order) {
        fail(ErrorCode::input,
             "'{}' holds '{}' in {} order, but packed bits are '|u1' in C order; make them with numpy.packbits(a, "
             "axis=1)",
             path, header.dtype, header.fortran_order ? "Fortran" : "C");
    }
    if (header.cols != packed_row_bytes(columns)) {
        fail(ErrorCode::input, "'{}' has {} bytes per row, but {} columns take {}; check --columns", path, header.cols,
             columns, packed_row_bytes(columns));
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

/// A .npy in C order, some rows at a time.
BitMatrix read_rows(const std::string& path, const NpyHeader& header, const FileHooks& hooks) {
    const OpenBitFile open = open_bit_file(path);
    BitMatrix matrix(header.rows, header.cols);
    if (header.rows == 0 || header.cols == 0) {
        return matrix;
    }
    const std::int64_t together = std::clamp<std::int64_t>(kChunkBytes / header.cols, 1, header.rows);
    std::vector<std::uint8_t> chunk(static_cast<std::size_t>(together * header.cols));
    for (std::int64_t first = 0; first < header.rows; first += together) {
        stop_if_cancelled(hooks, path);
        const std::int64_t count = std::min(together, header.rows - first);
        read_exactly(read_from(open.file.get()), chunk.data(), count * header.cols,
                     header.data_offset + first * header.cols, path);
        const auto end = chunk.begin() + count * header.cols;
        const auto bad = std::find_if(chunk.begin(), end, [](std::uint8_t byte) { return byte > 1; });
        if (bad != end) {
            fail(ErrorCode::input,
                 "element {} of '{}' is {}, and a matrix of bits holds only 0 and 1; save (a != 0), or give --columns "
                 "if it is packed",
                 first * header.cols + (bad - chunk.begin()), path, *bad);
        }
        for (std::int64_t i = 0; i < count; ++i) {
            pack_row(chunk.data() + i * header.cols, matrix.view(), first + i);
        }
        if (hooks.progress) {
            hooks.progress({static_cast<double>(first + count) / static_cast<double>(header.rows), "read"});
        }
    }
    return matrix;
}

}  // namespace

BitFileHeader read_npy_bits_header(const std::string& path, std::optional<std::int64_t> packed_columns) {
    const NpyHeader header = read_npy_header(path, Type::gf2);
    if (packed_columns) {
        require_packed(header, *packed_columns, path);
    }
    return {packed_columns ? BitFormat::npy_packed : BitFormat::npy_bool, header.rows,
            packed_columns.value_or(header.cols), header.data_bytes, header.data_offset};
}

BitMatrix read_npy_bits(const std::string& path, std::optional<std::int64_t> packed_columns, const FileHooks& hooks) {
    const NpyHeader header = read_npy_header(path, Type::gf2);
    if (packed_columns) {
        require_packed(header, *packed_columns, path);
        return read_packed_rows(open_bit_file(path), path, header.rows, *packed_columns, header.data_offset, hooks);
    }
    if (!header.fortran_order) {
        return read_rows(path, header, hooks);
    }
    NpyHeader columns_as_rows = header;
    std::swap(columns_as_rows.rows, columns_as_rows.cols);
    return read_rows(path, columns_as_rows, hooks).transposed();
}

std::string packed_npy_header_text(std::int64_t rows, std::int64_t cols) {
    std::string header = npy_header_text(Type::boolean, rows, packed_row_bytes(cols));
    header.replace(header.find("|b1"), 3, "|u1");
    return header;
}

void write_npy_bits(const std::string& path, const ConstBitView& matrix, bool packed, const FileHooks& hooks) {
    const std::string header = packed ? packed_npy_header_text(matrix.rows, matrix.cols)
                                      : npy_header_text(Type::boolean, matrix.rows, matrix.cols);
    const std::int64_t row_bytes = packed ? packed_row_bytes(matrix.cols) : matrix.cols;
    AtomicFile file(path, checked_add(checked_mul(matrix.rows, row_bytes), static_cast<std::int64_t>(header.size())));
    file.write(header.data(), static_cast<std::int64_t>(header.size()));
    if (packed) {
        write_packed_rows(file, path, matrix, hooks);
    } else if (row_bytes > 0) {
        const std::int64_t together = std::max<std::int64_t>(kChunkBytes / row_bytes, 1);
        std::vector<std::uint8_t> chunk(static_cast<std::size_t>(std::min(together, matrix.rows) * row_bytes));
        for (std::int64_t first = 0; first < matrix.rows; first += together) {
            stop_if_cancelled(hooks, path);
            const std::int64_t count = std::min(together, matrix.rows - first);
            for (std::int64_t i = 0; i < count; ++i) {
                for (std::int64_t j = 0; j < matrix.cols; ++j) {
                    chunk[static_cast<std::size_t>(i * row_bytes + j)] = matrix(first + i, j) ? 1 : 0;
                }
            }
            file.write(chunk.data(), count * row_bytes);
            if (hooks.progress) {
                hooks.progress({static_cast<double>(first + count) / static_cast<double>(matrix.rows), "write"});
            }
        }
    }
    stop_if_cancelled(hooks, path);
    file.commit();
}

}  // namespace heptad
