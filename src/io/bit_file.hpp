// Files of bit matrices. The suffix names the format; the contents must agree with it.
//
//   .pbm    PBM P4 (netpbm): 8 bits to a byte, the first column in the highest bit, rows padded to a byte
//   .png    1-bit grey PNG as M4RI writes it: a one is black (where the library zlib was found)
//   .mtx    Matrix Market; read only: every stored entry that is not zero is a one
//   .npy    bool (or bytes of 0 and 1); with `packed_columns`, bytes of 8 bits as numpy.packbits(x, axis=1) makes them
//
// Headers are validated, and compared with the length of the file, before anything large is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <heptad/bits.hpp>

#include "io/hooks.hpp"

namespace heptad {

enum class BitFormat : std::uint8_t { pbm, png, matrix_market, npy_bool, npy_packed };
const char* bit_format_name(BitFormat format);

struct BitFileHeader {
    BitFormat format = BitFormat::pbm;
    std::int64_t rows = 0, cols = 0;
    std::int64_t data_bytes = 0;
    std::int64_t data_offset = 0;
};

/// By its suffix: a file that can hold nothing but bits.
bool is_bit_file_name(const std::string& path);

/// `packed_columns`: a .npy holds packed bytes, and so many columns. Throws Error(input).
BitFileHeader read_bit_header(const std::string& path, std::optional<std::int64_t> packed_columns = {});
BitMatrix read_bits(const std::string& path, std::optional<std::int64_t> packed_columns = {},
                    const FileHooks& hooks = {});

/// The final name appears only when the file is complete. `packed`: a .npy is written as packed bytes.
/// Throws Error(input) for a suffix that cannot be written, Error(resource) for a full disk.
void write_bits(const std::string& path, const ConstBitView& matrix, bool packed = false, const FileHooks& hooks = {});
/// What stands before the packed rows of such a file: 4096 bytes, so that the rows can be read directly.
std::string packed_header_text(const std::string& path, std::int64_t rows, std::int64_t cols);
/// Can such a file be written piece by piece?
bool is_written_in_pieces(const std::string& path, bool packed);
/// Throws Error(input) now if the suffix of `path` is not one that write_bits() knows.
void require_writable_format(const std::string& path);

}  // namespace heptad
