// The products of several levels at once, each by the blocks that take part in it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bits/level_program.hpp"

namespace heptad::bits {

/// Blocks of A and of B that are summed, blocks of C that the product is added to.
struct ProductBlocks {
    std::vector<std::int64_t> a, b, c;
};

std::int64_t product_count(const LevelProgram& program, int levels);

/// Product number `number` in the order of the program's steps.
ProductBlocks product_blocks(const LevelProgram& program, int levels, std::int64_t number);

/// All of them in an order in which neighbours share blocks, so that more of what a product wants is in the L2 cache
/// already. Found once per process and kept. `program` is one of level_programs().
const std::vector<ProductBlocks>& products_with_neighbours(const LevelProgram& program, int levels);

}  // namespace heptad::bits
