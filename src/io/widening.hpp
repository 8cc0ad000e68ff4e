// Files that are read as another type than they hold, where that rounds nothing: f16, bf16 -> f32 -> f64, i32 -> f64
// and i32 -> i64.
#pragma once

#include <optional>

#include "io/matrix_source.hpp"

namespace heptad {

/// The type that the file holds, if another one is asked for that holds all its values; read from the header.
std::optional<Type> widened_from(const MatrixName& name);

/// A matrix of the same shape and order with the same values. Throws Error(input) unless the type can hold them all.
Matrix widened(const Matrix& matrix, Type to);

}  // namespace heptad
