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

/// Calls use(first row, how many, memory for them) for a few megabytes of rows after another; can be cancelled.
using UseRows = std::function<void(std::int64_t first, std::int64_t count, std::uint8_t* chunk)>;
void over_row_chunks(std::int64_t rows, std::int64_t row_bytes, const std::string& path, const FileHooks& hooks,
                     const char* stage, const UseRows& use);

}  // namespace heptad
