// What can be computed from U, V, W and is never typed.
#pragma once

#include <vector>

#include "algorithm/algorithm.hpp"
#include "algorithm/linear_program.hpp"

namespace heptad {

/// Rank, additions, weights and the leading constant are those of U, V, W as written, that is in the algorithm's own
/// basis; growth, largest sums and roundings are those of the flattened algorithm, which is what errors see.
struct AlgorithmFacts {
    int rank = 0;
    int additions_plain = 0;                                // without sharing: non-zeros less sums, over U, V and W
    int additions_a = 0, additions_b = 0, additions_c = 0;  // with shared subexpressions

    /// E = max over c_l of sum_s |W[s][l]| * |U[s]|_1 * |V[s]|_1: how much larger than max|A| max|B| the exact terms
    /// that meet in one block of C can be (times the inner block size). Classical: k.
    double growth = 0;
    /// sqrt( (1/k) * mean over c_l of sum_s W[s][l]^2 |U[s]|_2^2 |V[s]|_2^2 ): the same for independent random signs,
    /// as a factor over the classical algorithm, whose value is 1.
    double rms_growth = 0;
    double largest_sum_a = 0;  // max over s of |U[s]|_1: how far A's entries can grow in one level
    double largest_sum_b = 0;  // the same of V
    double largest_sum_c = 0;  // max over c_l of sum_s |W[s][l]|
    /// Q: most roundings that one term a * b of a block of C meets in one level, the leaf's own apart:
    /// max over W[s][l] != 0 of (additions of the sum U[s]) + (of V[s]) + (of column l of W), plus one for each
    /// coefficient on the way that is no power of two. Holds for plain sums in any order and for the shared programs,
    /// which never cancel.
    int roundings = 0;
    /// c of c n^omega - (c - 1) n^2, the operations for n = s^levels down to leaves of size 1, where s x s blocks take
    /// q additions and rank products: c = 1 + q / (rank - s^2). Square algorithms; 0 otherwise.
    double leading_constant = 0;
    double exponent = 0;  // omega = 3 log(rank) / log(mkn)

    std::vector<int> weights_a, weights_b, weights_c;  // non-zeros per product (rows of U, V, W), sorted
    // alternative bases only
    int basis_additions_a = 0, basis_additions_b = 0, basis_additions_c = 0;  // of phi, psi and chi
    /// Growth and roundings where sums are made in changed bases, in two steps: what cancels between them leaves its
    /// rounding errors behind, so that |U| |phi| takes the place of |U phi|.
    double changed_growth = 0;
    int changed_roundings = 0;
    bool self_inverse = false;  // phi, psi and chi are their own inverses
    bool chaining = false;      // phi = psi = inverse of chi

    int additions() const { return additions_a + additions_b + additions_c; }
};

/// With shared subexpressions, in the algorithm's own bases.
LevelSums shared_sums(const Algorithm& algorithm);
AlgorithmFacts compute_facts(const Algorithm& algorithm);
/// The same where its sums are known already.
AlgorithmFacts compute_facts(const Algorithm& algorithm, const LevelSums& sums);

}  // namespace heptad
