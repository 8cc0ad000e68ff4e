// The products of fused levels, a launch at a time.
#pragma once

#include <functional>
#include <vector>

#include "kernels/backend.hpp"
#include "plan/model/plan.hpp"
#include "run/dense/lined_product.hpp"

namespace heptad {

/// The first product of some levels, then the second: neighbours of different levels have no common target, so more of
/// them can run at a time. What fills a launch is launched before the rest is made.
void for_each_launch(const LevelPlan& level, const std::vector<LinedProduct>& products,
                     const std::function<void(const std::vector<FusedProduct>&)>& launch);

}  // namespace heptad
