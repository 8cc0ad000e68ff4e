// An algorithm <m,k,n>:r is data: with A cut into m x k blocks a_1..a_mk (row by row), B into k x n and C into m x n,
//
//   a' = phi a,  b' = psi b                    (only for alternative bases; identity otherwise)
//   p_s = (sum_i U[s][i] a'_i) * (sum_j V[s][j] b'_j)      for s = 1..r
//   c = chi * c',  c'_l = sum_s W[s][l] p_s
//
// All entries are exact rationals of the stated ring. Flattened: U phi, V psi, and W with chi applied, is an ordinary
// algorithm in the standard basis.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <heptad/heptad.hpp>

#include "algorithm/coefficient_matrix.hpp"

namespace heptad {

enum class Ring : std::uint8_t {
    integers,   // "Z": valid over every ring
    halves,     // "Z[1/2]": needs division by two; not for i32, i64, gf2
    rationals,  // "Q": other denominators
    gf2,        // "GF(2)": valid in characteristic two only
};
const char* ring_name(Ring ring);
std::optional<Ring> ring_from_name(std::string_view name);

struct BasisChange {
    CoefficientMatrix phi;  // mk x mk, applied to the blocks of A
    CoefficientMatrix psi;  // kn x kn, applied to the blocks of B
    CoefficientMatrix chi;  // mn x mn, applied to the result
};

struct Algorithm {
    std::string name;
    int m = 1, k = 1, n = 1;
    Ring ring = Ring::integers;
    std::string source;         // where it was published
    CoefficientMatrix u, v, w;  // rank x mk, rank x kn, rank x mn
    std::optional<BasisChange> basis;

    int rank() const { return u.rows; }
    /// "<2,2,2>:7"
    std::string signature() const;
};

/// May products of this element type use algorithms over this ring? (bool: none; see below.)
bool ring_admits(Ring ring, Type type);
/// The same question about one algorithm; the answer for bool is yes for "classical", which never subtracts.
bool algorithm_admits(const Algorithm& algorithm, Type type);

/// Reads .alg text. Errors are Error(input) and start with "FILE:LINE: ".
Algorithm parse_algorithm(const std::string& text, const std::string& file_name);
/// The .alg text of an algorithm; parses back to an equal one.
std::string print_algorithm(const Algorithm& algorithm);

/// Exact proof by the triple-product equations over the algorithm's ring. Empty when it holds, otherwise a sentence
/// with the first equation that fails.
std::string prove(const Algorithm& algorithm);

/// The same algorithm in the standard basis (bases multiplied in; name and source are kept).
Algorithm flattened(const Algorithm& algorithm);
/// <m1 m2, k1 k2, n1 n2>: outer over inner, in the standard basis; blocks are numbered row by row of the composed grid.
/// Throws Error(usage) beyond 64 blocks a side or rank 4096, Error(input) if halves meet GF(2).
Algorithm compose(const Algorithm& outer, const Algorithm& inner);
/// The variant for the dimensions permuted to (m, k, n): one of the six symmetric ones. Throws Error(usage) if
/// (m, k, n) is no permutation of the algorithm's. Other than for the algorithm's own sizes, bases are flattened.
Algorithm permuted(const Algorithm& algorithm, int m, int k, int n);
/// The name of that variant: leading sizes are replaced ("2x2x3-11" gives "3x2x2-11"), otherwise appended.
std::string permuted_name(const Algorithm& algorithm, int m, int k, int n);

}  // namespace heptad
