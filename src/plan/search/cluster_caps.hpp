// Strassen's algorithm breadth first over 7^steps ranks: who holds what.
//
// A, B and C are cut into 2^steps x 2^steps blocks, and every rank holds its 1/7^steps of the rows of every block. One
// step makes the seven sums of A and of B locally, and sends sum q to the q-th seventh of the ranks: rank r's rows go
// to the rank r / 7 of that seventh, which gets those of seven ranks and so holds the rows of a seventh of as many.
// After all steps a rank has one whole block of each, multiplies them, and the results go back the same way. Sizes that
// do not divide are filled up with zeros.
#pragma once

#include <cstdint>

#include "plan/search/cluster_plan.hpp"

namespace heptad {

/// The most steps that so many ranks make: 7^steps <= ranks.
int most_caps_steps(std::int64_t ranks);

struct CapsShape {
    std::int64_t ranks = 1;                              // 7^steps
    std::int64_t side = 1;                               // 2^steps blocks in a row
    std::int64_t block_m = 0, block_k = 0, block_n = 0;  // of a block, zeros included
    std::int64_t rows_a = 0, rows_b = 0;                 // of every block that a rank holds; of C as of A
};
CapsShape caps_shape(const ProductPlan& plan);

/// Block by block, cut off where the matrix ends.
HeldWindows held_by_caps(const ProductPlan& plan, std::int64_t rank);
std::vector<Window> results_of_caps(const ProductPlan& plan, std::int64_t rank);
/// Elements that a rank receives, zeros that fill up included.
std::int64_t received_by_caps(const ProductPlan& plan, std::int64_t rank);

/// The other end of a rank's messages in one round of a step within a group of `size` ranks, all numbered from 0 within
/// it: whom it sends a sum to, and which; whose rows it receives, and where among the seven they belong.
struct CapsRound {
    std::int64_t to = 0, sum = 0;
    std::int64_t from = 0, place = 0;
};
CapsRound caps_round(std::int64_t size, std::int64_t rank, std::int64_t round);

}  // namespace heptad
