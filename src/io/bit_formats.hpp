// The readers and writers behind bit_file.hpp, one file per format.
#pragma once

#include "io/atomic_file.hpp"
#include "io/bit_file.hpp"
#include "io/transfer.hpp"

namespace heptad {

/// A regular file that was opened for reading.
struct OpenBitFile {
    Descriptor file;
    std::int64_t bytes = 0;
};
/// Throws Error(input) for what is missing, unreadable or no regular file.
OpenBitFile open_bit_file(const std::string& path);

/// Throws Error(cancelled).
void stop_if_cancelled(const FileHooks& hooks, const std::string& path);

/// Both are 4096 bytes long.
std::string pbm_header_text(std::int64_t rows, std::int64_t cols);
std::string packed_npy_header_text(std::int64_t rows, std::int64_t cols);

BitFileHeader read_pbm_header(const std::string& path);
BitMatrix read_pbm(const std::string& path, const FileHooks& hooks);
void write_pbm(const std::string& path, const ConstBitView& matrix, const FileHooks& hooks);

BitFileHeader read_png_header(const std::string& path);
BitMatrix read_png(const std::string& path, const FileHooks& hooks);
void write_png(const std::string& path, const ConstBitView& matrix, const FileHooks& hooks);

BitFileHeader read_matrix_market_header(const std::string& path);
BitMatrix read_matrix_market(const std::string& path, const FileHooks& hooks);

BitFileHeader read_npy_bits_header(const std::string& path, std::optional<std::int64_t> packed_columns);
BitMatrix read_npy_bits(const std::string& path, std::optional<std::int64_t> packed_columns, const FileHooks& hooks);
void write_npy_bits(const std::string& path, const ConstBitView& matrix, bool packed, const FileHooks& hooks);

/// Reads rows of packed bytes that lie at `offset`, one after another.
BitMatrix read_packed_rows(const OpenBitFile& open, const std::string& path, std::int64_t rows, std::int64_t cols,
                           std::int64_t offset, const FileHooks& hooks);
/// Writes them, a few megabytes at a time.
void write_packed_rows(AtomicFile& file, const std::string& path, const ConstBitView& matrix, const FileHooks& hooks);

}  // namespace heptad
