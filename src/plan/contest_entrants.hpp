// Who takes part in a contest. Every entrant costs seconds of `heptad tune`, so only plans that can be expected to be
// near the best of them do.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/contest.hpp"
#include "plan/machine.hpp"
#include "plan/problem.hpp"

namespace heptad {

/// Every library with its own threads; the other classical products, one to three halvings over each leaf and the first
/// choice of the planner as it stands: of those the `most_others` with the least predicted time, among them one whose
/// levels `balanced` allows.
std::vector<ContestPlan> contest_entrants(const Problem& problem, const Machine& machine, std::size_t most_others);

}  // namespace heptad
