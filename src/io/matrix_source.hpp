// A matrix in a file, whatever the format: where its elements begin and how they lie. Reads headers only.
//
//   A.npy            as its header says
//   A.bin            with a raw shape: nothing but the elements, row by row, from byte 0 on
//   A.h5:/path       a two-dimensional dataset of an HDF5 file (where the library was found); one that is chunked or
//                    compressed lies nowhere in one piece, and is read by the library
//   A.pbm, A.npy     where bits are asked for: packed, eight columns to a byte
//   A.mtx            Matrix Market: read whole, so that it has facts but no place of its elements
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/matrix.hpp"
#include "plan/search/file_layout.hpp"

namespace heptad {

/// What the caller says of a file without a header.
struct RawShape {
    Type type = Type::f32;
    std::int64_t rows = 0, cols = 0;
};

struct MatrixName {
    std::string path;             ///< with ":/dataset" for HDF5
    std::optional<Type> as = {};  ///< for whole matrices also a type that holds all values of the file's
    std::optional<RawShape> raw = {};
    std::optional<Type> bits = {};             ///< gf2 or boolean: a file of packed bits
    std::optional<std::int64_t> columns = {};  ///< of a packed .npy
};

struct MatrixSource {
    std::string name;  ///< as the caller wrote it, for error sentences
    std::string path;  ///< of the file
    Type type = Type::f32;
    FileLayout layout;  ///< block_bytes is 1
    std::int64_t file_bytes = 0;
    bool by_library = false;   ///< the elements cannot be read where they lie; layout.data_offset says nothing then
    std::string storage = {};  ///< of a dataset, in words
    std::int64_t beside_bytes = 0;  ///< memory that reading it takes besides, where that is much
};

/// What a product needs to know of a matrix before it is read whole.
struct MatrixFacts {
    Type type = Type::f32;
    std::int64_t rows = 0, cols = 0;
    std::int64_t bytes = 0;  ///< in memory, while it is read and converted too
};

/// Is this the name of a dataset in an HDF5 file?
bool is_hdf5_name(const std::string& name);

/// Validates the header and the length of the file. Throws Error(input) for a file that is missing, unreadable, not a
/// regular file, malformed, truncated or too long, and for one that can only be read whole.
MatrixSource find_matrix(const MatrixName& name);

/// The same of any file that read_matrix() reads.
MatrixFacts matrix_facts(const MatrixName& name);

// Files that are read as another type than they hold, where that rounds nothing: f16, bf16 -> f32 -> f64, i32 -> f64
// and i32 -> i64.

bool is_widened(Type from, Type to);

/// The type that the file holds, if another one is asked for that holds all its values; read from the header.
std::optional<Type> widened_from(const MatrixName& name);

/// A matrix of the same shape and order with the same values. Throws Error(input) unless the type can hold them all.
Matrix widened(const Matrix& matrix, Type to);

}  // namespace heptad
