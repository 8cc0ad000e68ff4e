// A whole matrix of numbers from a file of any format into memory, and into a file, whose suffix says the format:
//
//   C.npy            and every name whose suffix promises nothing else
//   C.h5:/path       a dataset of an HDF5 file (where the library was found)
#pragma once

#include <string>

#include "base/view.hpp"
#include "io/hooks.hpp"
#include "io/matrix_source.hpp"

namespace heptad {

/// Throws Error(input) as find_matrix() does, Error(resource) without memory and Error(cancelled).
Matrix read_matrix(const MatrixName& name, const FileHooks& hooks = {});

/// Does the suffix promise a format that no result is written in, such as .mtx or .csv?
bool promises_foreign_format(const std::string& path);

/// For results that are written piece by piece: throws Error(input) for a name that is not one of a .npy file.
void require_npy_name(const std::string& path);

/// Throws Error(input) now, before a long computation, if write_matrix() could not write this type under this name.
/// Leaves nothing.
void check_matrix_writable(const std::string& path, Type type);

/// The final name appears only when the file is complete and synced. Throws Error(input), Error(resource) for a full
/// disk and Error(cancelled).
void write_matrix(const std::string& path, const ConstView& matrix, const FileHooks& hooks = {});

}  // namespace heptad
