// What of its machine a rank may use, and what the parts of the matrices that it has in memory leave to its products.
#pragma once

#include <cstdint>

#include "move/ranks/communicator.hpp"
#include "plan/search/cluster_plan.hpp"

namespace heptad {

/// A rank that is bound to some cores has those; otherwise the ranks of a machine share all of them.
int share_of_cores(const Communicator& ranks);
/// Bytes of A, B and C that a rank has in memory at a time.
std::int64_t held_in_memory_bytes(const ProductPlan& plan);

/// The largest product inside a rank.
ProblemSize largest_product(const ProductPlan& plan);

}  // namespace heptad
