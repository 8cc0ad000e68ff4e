// A whole matrix from a file of any format into memory.
#pragma once

#include "io/hooks.hpp"
#include "io/matrix_source.hpp"

namespace heptad {

/// Throws Error(input) as find_matrix() does, Error(resource) without memory and Error(cancelled).
Matrix read_matrix(const MatrixName& name, const FileHooks& hooks = {});

}  // namespace heptad
