// NumPy's .npy files (format versions 1, 2 and 3): one matrix, little endian, C or Fortran order.
//
//   bytes 0-5   \x93NUMPY        6-7  major, minor version
//   8-9 (v1) or 8-11 (v2, v3)    header length H, little endian
//   H bytes     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } padded with spaces, ends in a newline
//   then        rows * cols elements
//
// Everything about a file is validated, its length included, before anything large is allocated. A file longer than
// its header promises is refused: either the header lies or the file holds several arrays, and both are better told
// than guessed. One- and three-dimensional arrays are refused with the numpy call that makes a matrix of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/matrix.hpp"
#include "io/atomic_file.hpp"
#include "io/hooks.hpp"

namespace heptad {

struct NpyHeader {
    int version = 1;        ///< major version: 1, 2 or 3
    std::string dtype;      ///< as written in the file: "<f4"
    Type type = Type::f32;  ///< what the elements are taken for
    std::int64_t rows = 0, cols = 0;
    bool fortran_order = false;
    std::int64_t data_offset = 0;  ///< where the elements start
    std::int64_t data_bytes = 0;   ///< rows * cols * element size
};

/// Which dtypes become which type, and the second choice the caller can make with `as`:
///   <f8 f64    <f4 f32 or tf32    <f2 f16    <i4 i32    <i8 i64    <c8 c64    <c16 c128    |b1 bool or gf2
///   only when asked for:   <u4 as i32   <u8 as i64   |u1 and |i1 of zeros and ones as gf2 or bool   <V2 and |V2 as
///   bf16
///
/// `start` is the start of a file (all of it or at least its header), `name` what to call it in error sentences. Does
/// not look at the length of the file. Throws Error(input).
NpyHeader parse_npy_header(std::span<const std::byte> start, const std::string& name, std::optional<Type> as = {});

/// Reads and validates the header of a file and compares the file's length with it.
/// Throws Error(input) for a file that is missing, unreadable, not a regular file, malformed, truncated or too long.
NpyHeader read_npy_header(const std::string& path, std::optional<Type> as = {});

/// Reads a whole matrix; Fortran order becomes a column-major matrix without a copy. gf2 and bool elements other than 0
/// and 1 are refused. Throws Error(input) as above, Error(resource) without memory and Error(cancelled).
Matrix read_npy(const std::string& path, std::optional<Type> as = {}, const FileHooks& hooks = {});

/// Writes a view in C order, with a header of 4096 bytes so that the elements can be read with O_DIRECT or mapped.
/// The final name appears only when the file is complete and synced; on failure the old file stays as it was.
/// dtypes: f64 <f8, f32 and tf32 <f4, f16 <f2, bf16 <V2, i32 <i4, i64 <i8, c64 <c8, c128 <c16, gf2 and bool |b1.
/// Throws Error(input) for a path that cannot be written, Error(resource) for a full disk and Error(cancelled).
void write_npy(const std::string& path, const ConstView& matrix, const FileHooks& hooks = {});

/// Elements row by row, for a file that is called `name`. Throws as write_npy() does.
void write_elements(AtomicFile& file, const ConstView& matrix, const std::string& name, const FileHooks& hooks);

/// The 4096 bytes that write_npy() puts in front of the elements.
std::string npy_header_text(Type type, std::int64_t rows, std::int64_t cols);

/// Throws Error(input) now, before a long computation, if write_npy() could not create this file. Leaves nothing.
void check_writable(const std::string& path);

}  // namespace heptad
