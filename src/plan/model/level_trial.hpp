// Which lines and places of two operands show what levels do to the errors of their product: before levels are taken
// they are tried there (run/dense/level_sample.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/model/plan.hpp"

namespace heptad {

/// How levels of these algorithms cut a product: so many blocks of rows, along k, and of columns.
struct LevelGrid {
    std::int64_t m = 1, k = 1, n = 1;
};
LevelGrid grid_of(const std::vector<LevelPlan>& levels);

/// The outermost of these levels, as many as a sample can be multiplied with in some milliseconds: each block has a
/// part in it, so it grows with them, whatever the size of the product.
std::vector<LevelPlan> levels_to_try(const std::vector<LevelPlan>& levels);

/// Lines of every block, where there are so many of those, counted from its first. `by_runs`: neighbouring lines lie
/// side by side in memory.
std::vector<std::int64_t> tried_lines(std::int64_t block_lines, std::int64_t blocks, bool by_runs);
/// Places along k likewise.
std::vector<std::int64_t> tried_places(std::int64_t block_places, std::int64_t blocks);

}  // namespace heptad
