// The products of fused levels, a launch at a time: views of A, B and C in place of block numbers, alpha and beta in
// place.
#pragma once

#include <functional>
#include <vector>

#include "kernels/backend.hpp"
#include "plan/model/plan.hpp"
#include "run/dense/lined_product.hpp"

namespace heptad {

/// Those of each of `products` together give  c = alpha * a * b + beta * c.  The first one that updates a block of C
/// applies beta to it (and stores there if beta is 0). Sizes are any, from 1 up: blocks at the lower and right edges
/// are smaller, and those that are empty are left out.
///
/// The first product of some levels, then the second: neighbours of different levels have no common target, so more of
/// them can run at a time. What fills a launch is launched before the rest is made.
void for_each_launch(const LevelPlan& level, const std::vector<LinedProduct>& products,
                     const std::function<void(const std::vector<FusedProduct>&)>& launch);

}  // namespace heptad
