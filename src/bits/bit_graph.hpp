// Graphs as bit matrices: a one in (i, j) is an edge from i to j.
#pragma once

#include "bits/bit_product.hpp"

namespace heptad::bits {

/// graph := its transitive closure, in place. Called between steps with the share that is done, where not empty.
void close_transitively(const BitView& graph, const BitContext& context);

/// Triangles i < j < k with edges (i, j), (i, k), (j, k).
std::int64_t triangles(const ConstBitView& graph, const BitContext& context);

}  // namespace heptad::bits
