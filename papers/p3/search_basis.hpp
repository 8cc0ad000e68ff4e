// Searches all changes of basis over GF(2) for the ones that make Strassen's algorithm cheapest, and so finds the
// algorithms of Karppa and Kaski (theorems 1.1 and 1.2) from nothing but Strassen's U, V and W.
//
// With core U' = U phi^-1, V' = V psi^-1 and W' = W (chi^T)^-1 the three bases can be chosen apart from each other,
// each among the 20160 invertible 4 x 4 matrices. The additions of a core and of a basis change are exact minima.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithm/algorithm.hpp"

namespace heptad {

/// What one of U, V, W costs in its best bases.
struct MatrixBases {
    std::int64_t examined = 0;
    int least_additions = 0;
    std::int64_t with_least_additions = 0;  // bases that attain it
    std::vector<int> best_weights;          // non-zeros per product, sorted; least total among those bases
    std::int64_t with_best_weights = 0;
    int least_basis_additions = 0;  // of the basis change itself, among those with the best weights
    std::int64_t with_least_basis_additions = 0;
};

/// The best triple of bases (phi, psi, chi) under one condition on them.
struct BasisDesign {
    int additions_a = 0, additions_b = 0, additions_c = 0;
    int basis_additions_a = 0, basis_additions_b = 0, basis_additions_c = 0;
    std::vector<int> weights_a, weights_b, weights_c;
    std::int64_t examined = 0;    // triples that meet the condition, over all forms of the algorithm
    std::int64_t attained = 0;    // those with these costs
    std::int64_t forms_with = 0;  // forms that have one
    Algorithm example;            // proven by the search
};

struct BasisSearch {
    MatrixBases u, v, w;  // of plain Strassen, without further conditions
    /// Strassen's algorithm seen through A -> P A Q^-1, B -> Q B R^-1, C -> P C R^-1, for P, Q, R in GL(2, GF(2)), as
    /// different sets of products; Strassen's own and Winograd's forms are among them.
    int forms = 0;
    /// Fewest additions in the core always come first. Then either the lightest core wins, and the cheapest bases
    /// among those, or the other way round.
    BasisDesign self_inverse;  // phi, psi, chi each their own inverse, lightest core: theorem 1.1
    BasisDesign self_inverse_cheap_bases;
    BasisDesign chaining;  // phi = psi = inverse of chi, cheapest bases: theorem 1.2
    BasisDesign chaining_light;
};

/// Takes under a few seconds.
BasisSearch search_basis();
/// The text of `heptad algorithms search-basis`.
std::string describe(const BasisSearch& search);

}  // namespace heptad
