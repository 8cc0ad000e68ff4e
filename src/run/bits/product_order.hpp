// The products of several levels of a program at once, in its own basis; blocks are quarters of quarters.
#pragma once

#include <vector>

#include "kernels/bits/level_program.hpp"

namespace heptad::bits {

/// In the order of the program's steps. Made once per process and kept. `program` is one of level_programs().
const std::vector<BlockProduct>& products_in_order(const LevelProgram& program, int levels);

/// In an order in which neighbours share blocks, so that more of what a product wants is in the L2 cache already.
/// Likewise found once and kept.
const std::vector<BlockProduct>& products_with_neighbours(const LevelProgram& program, int levels);

}  // namespace heptad::bits
