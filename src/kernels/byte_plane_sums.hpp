// Sums of levels inside residues, as data.
#pragma once

#include <vector>

namespace heptad {

/// Sums of blocks of bytes, of every modulus and part by itself. Of an operand: from a plane that is cut into rows x
/// cols blocks, numbered row by row, to the planes of products. Of the result: from those to the blocks of a plane.
struct PlaneSums {
    struct Term {
        int input = 0, coefficient = 0;
    };
    bool of_result = false;
    int rows = 1, cols = 1;
    std::vector<std::vector<Term>> outputs;
};

}  // namespace heptad
