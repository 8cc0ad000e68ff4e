// From the instances of an algorithm to launches: views of A, B and C in place of block numbers, alpha and beta in
// place.
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "plan/fused_instances.hpp"

namespace heptad {

/// Products that together give  c = alpha * a * b + beta * c.  The first one that updates a block of C applies beta to
/// it (and stores there if beta is 0). Sizes are any, from 1 up: blocks at the lower and right edges are smaller, those
/// that are empty are left out, and so are products of which nothing is left. The order is the one of the instances, by
/// groups.
std::vector<FusedProduct> fused_products(const FusedInstances& instances, double alpha, const ConstView& a,
                                         const ConstView& b, double beta, const View& c);

}  // namespace heptad
