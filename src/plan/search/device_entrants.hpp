// Who takes part in a contest on a device: the library with its own choice of kernel and with ours, and the levels and
// leaves that are predicted to be near the best.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/problem.hpp"
#include "plan/predict/contest.hpp"

namespace heptad {

/// Classical products first, the library's at the front; then at most `most_with_levels` plans with levels, those with
/// the least predicted time. What the planner takes with `usual` in place of what was measured is always among them, so
/// that measuring can only make plans better; and one place is kept for levels that `balanced` allows, where `balanced`
/// follows contests at all.
std::vector<ContestPlan> device_entrants(const Problem& problem, const Machine& machine, const Machine& usual,
                                         std::size_t most_with_levels);

}  // namespace heptad
