// The readers and writers behind bit_file.hpp, one file per format.
#pragma once

#include "io/atomic_file.hpp"
#include "io/bit_file.hpp"
#include "io/open_file.hpp"

namespace heptad {

/// Both are 4096 bytes long.
std::string pbm_header_text(std::int64_t rows, std::int64_t cols);
std::string packed_npy_header_text(std::int64_t rows, std::int64_t cols);

BitFileHeader read_pbm_header(const std::string& path);

BitFileHeader read_png_header(const std::string& path);
BitMatrix read_png(const std::string& path, const FileHooks& hooks);
void write_png(const std::string& path, const ConstBitView& matrix, const FileHooks& hooks);

BitFileHeader read_matrix_market_header(const std::string& path);
BitMatrix read_matrix_market(const std::string& path, const FileHooks& hooks);

BitFileHeader read_npy_bits_header(const std::string& path, std::optional<std::int64_t> packed_columns);
/// Of a byte for each bit.
BitMatrix read_npy_bits(const std::string& path, const FileHooks& hooks);
void write_npy_bits(const std::string& path, const ConstBitView& matrix, const FileHooks& hooks);

/// How rows lie in a file, one after another.
struct RowsOfBytes {
    std::int64_t rows = 0, bytes = 0;  // so many rows of so many bytes
    const char* stage = "";            // as progress calls it
};
/// Calls take(row, its bytes) for row after row, a few megabytes of them at a time; can be cancelled.
void read_rows(const std::string& path, std::int64_t data_offset, const RowsOfBytes& lie, const FileHooks& hooks,
               const std::function<void(std::int64_t row, const std::uint8_t* bytes)>& take);
/// A file of a header and of rows as make(row, its bytes) makes them.
void write_rows(const std::string& path, const std::string& header, const RowsOfBytes& lie, const FileHooks& hooks,
                const std::function<void(std::int64_t row, std::uint8_t* bytes)>& make);

}  // namespace heptad
