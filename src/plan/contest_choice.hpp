// Plans that contests decide. Where whole plans ran beside the library on a problem like this one, the verdict is taken
// whatever the cost model says: the fastest of those that beat the library, or the library. Larger problems than any
// contest put a halving on top of the plan that won at half their size. The cost model decides everything else.
#pragma once

#include <optional>
#include <string>

#include "plan/machine.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "plan/problem.hpp"

namespace heptad {

/// None: no contest has anything to say, or the winner needs more workspace than there is.
std::optional<ProductPlan> plan_by_contest(const Problem& problem, const Machine& machine, const PlannerLimits& limits,
                                           bool levels_allowed);

/// Far from every contest levels are for the cost model to choose, but not where the square of about the same volume
/// was won without. Beyond the largest square contests forbid nothing.
bool contests_forbid_levels(const Problem& problem, const Machine& machine);

/// The halving that goes on top of plans, and that contests are held with.
inline constexpr const char* kHalving = "winograd";

/// The problem that the contest was held on.
Problem problem_of(const Contest& contest, int threads, const std::string& device = "auto");
/// The plan that took part, for this problem.
ProductPlan plan_of(const ContestPlan& plan, const Problem& problem, const Machine& machine);

}  // namespace heptad
