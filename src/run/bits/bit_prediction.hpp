// How long the parts of a product of packed bit matrices are expected to take, from one measured figure per leaf.
#pragma once

#include "kernels/bits/interleave.hpp"
#include "run/bits/bit_level_runner.hpp"

namespace heptad::bits {

/// The product of packed operands, on one thread, in units of one bit product of the leaf (product_s). `task_levels`:
/// how many of the levels, the topmost, are made of tasks.
double levels_cost(const Leaf& leaf, const LeafShape& shape, const LevelProgram* program, int levels,
                   int task_levels = 0);

/// Packing or unpacking a matrix, in the same unit.
double packing_cost(const Leaf& leaf, const PackedShape& shape);

/// The share of the time on one thread that the product of packed operands takes on several, whose work are tasks.
double thread_share(const LevelProgram* program, int task_levels, int threads);

}  // namespace heptad::bits
