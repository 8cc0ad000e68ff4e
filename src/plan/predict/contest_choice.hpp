// Plans that contests decide. Where whole plans ran beside the library on a problem like this one, the verdict is taken
// whatever the cost model says: the fastest of those that beat the library, or the library. Larger problems than any
// contest put a halving on top of the plan that won at half their size. The cost model decides everything else, also
// where plans ran but none that the accuracy asked for allows.
#pragma once

#include <optional>
#include <string>

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"
#include "plan/search/planner.hpp"

namespace heptad {

/// None: no contest has anything to say, or the winner needs more workspace than there is. Where levels are allowed, a
/// contest without a verdict on any that the accuracy allows has nothing to say.
std::optional<ProductPlan> plan_by_contest(const Problem& problem, const Machine& machine, const PlannerLimits& limits,
                                           bool levels_allowed);

/// Far from every contest levels are for the cost model to choose, but not where the square of about the same volume
/// was won without, although somebody with levels that the accuracy allows took part. Beyond the largest square
/// contests forbid nothing.
bool contests_forbid_levels(const Problem& problem, const Machine& machine, const PlannerLimits& limits);

/// Do contests of this type on a device decide for `balanced`? Its levels of tf32 and f16 are none, and its sums of
/// bf16 are kept in another way than in contests.
bool balanced_follows_levels_of_contests(Type type);

/// Has levels, and `balanced` may take them.
bool is_balanced(const std::vector<LevelPlan>& levels, const PlannerLimits& limits);

/// The halving that goes on top of plans, and that contests are held with.
inline constexpr const char* kHalving = "winograd";

/// The problem that the contest was held on.
Problem problem_of(const Contest& contest, int threads, const std::string& device = "auto");
/// The plan that took part, for this problem.
ProductPlan plan_of(const ContestPlan& plan, const Problem& problem, const Machine& machine);

}  // namespace heptad
