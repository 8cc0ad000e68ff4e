// How unevenly the values of two matrices are spread over rows and columns, which is what levels lose digits by.
//
// Levels add blocks before they multiply, so their rounding errors are relative to the largest rows of A and columns of
// B, and to the largest values along k; those of the classical product are relative to the very rows and columns that
// meet. With r_i, c_k the largest values of row i and column k of A, and likewise d_k, e_j of B, a level may lose
//
//   max r / min r  *  max e / min e  *  (max c)(max d) / max_k (c_k d_k)
//
// times more than on even data. 1: as even as can be. A row of A or a column of B without anything in it makes it
// infinite, because C must be zero there and sums leave rounding errors; one matrix of zeros alone makes it 1.
#pragma once

#include "kernels/backend.hpp"

namespace heptad {

/// NaN where a value is.
double spread_of(const ScanResult& a, const ScanResult& b);

}  // namespace heptad
