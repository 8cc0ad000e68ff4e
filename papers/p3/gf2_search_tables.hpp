// Tiny exact linear algebra over GF(2) for searches over 2 x 2 block algorithms. A vector of GF(2)^4 is a nibble (bit i
// is coordinate i), so a block sum over a11, a12, a21, a22 is one nibble and a 4 x 4 matrix is four of them, row by
// row.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "algorithm/coefficient_matrix.hpp"

namespace heptad {

using Nibble = std::uint8_t;
using NibbleMatrix = std::array<Nibble, 4>;

/// x * m for the row vector x.
Nibble times(Nibble x, const NibbleMatrix& m);
NibbleMatrix times(const NibbleMatrix& x, const NibbleMatrix& y);
NibbleMatrix transposed(const NibbleMatrix& m);
/// Precondition: m is invertible.
NibbleMatrix inverse(const NibbleMatrix& m);
/// All 20160 invertible ones, in a fixed order.
const std::vector<NibbleMatrix>& invertible_matrices();

/// Fewest additions that make every vector of a set from the four unit vectors, found by exhausting all sets: a program
/// with t additions makes a set of t new vectors, so the 2^15 sets of non-zero vectors are all states there are.
class AdditionTable {
public:
    AdditionTable();
    /// Bit v of `wanted` stands for vector v; zero and the unit vectors are free.
    int least_additions(std::uint16_t wanted) const { return least_[wanted]; }

private:
    std::vector<std::uint8_t> least_;
};

CoefficientMatrix to_coefficients(const std::vector<Nibble>& rows);
CoefficientMatrix to_coefficients(const NibbleMatrix& m);
/// Precondition: x has four columns. Entries are taken mod 2.
std::vector<Nibble> to_nibbles(const CoefficientMatrix& x);

}  // namespace heptad
