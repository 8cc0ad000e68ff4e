// What can be computed from U, V, W and is never typed.
#pragma once

#include <string>
#include <vector>

#include "algorithm/algorithm.hpp"

namespace heptad {

struct AlgorithmFacts {
    int rank = 0;
    int additions_plain = 0;                                // without sharing
    int additions_a = 0, additions_b = 0, additions_c = 0;  // with shared subexpressions
    double growth = 0;  // E = max over c_l of sum_s |W[s][l]| * |U[s]|_1 * |V[s]|_1, of the flattened algorithm
    double rms_growth =
        0;  // sqrt of the mean over c_l of sum_s W^2 |U[s]|_2^2 |V[s]|_2^2, over k: growth of random errors
    double largest_sum_a = 0;  // max |U[s]|_1 : how far A's entries can grow in one level
    double largest_sum_b = 0;
    double largest_sum_c = 0;  // max over c_l of sum_s |W[s][l]|
    int roundings = 0;  // Q: most roundings on a path from an entry of A or B to one of C in one level, leaf apart
    double leading_constant = 0;  // total operations / n^omega for n -> infinity (square algorithms; 0 otherwise)
    double exponent = 0;          // 3 log(rank) / log(mkn)
    // alternative bases only
    std::vector<int> weights_a, weights_b, weights_c;  // non-zeros per row of U, V and per column of W, sorted
    int basis_additions_a = 0, basis_additions_b = 0, basis_additions_c = 0;
    bool self_inverse = false;  // phi, psi and chi are each their own inverse
    bool chaining = false;      // phi = psi = inverse of chi
};

AlgorithmFacts compute_facts(const Algorithm& algorithm);

}  // namespace heptad
