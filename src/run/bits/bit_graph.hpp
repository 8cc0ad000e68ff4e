// Graphs as bit matrices: a one in (i, j) is an edge from i to j.
#pragma once

#include "run/bits/bit_product.hpp"

namespace heptad::bits {

/// graph := its transitive closure, in place, by products that end in that leaf. The context's progress is called
/// between steps with the share that is done, where not empty. Throws Error(usage) for a leaf that is none.
void close_transitively(const BitView& graph, const BitContext& context, const std::string& leaf = "auto");

/// Triangles i < j < k with edges (i, j), (i, k), (j, k).
std::int64_t triangles(const ConstBitView& graph, const BitContext& context);

}  // namespace heptad::bits
