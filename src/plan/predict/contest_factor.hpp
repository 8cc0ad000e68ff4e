// What contests say about the cost model, for the problems that no contest is near to.
#pragma once

#include <optional>
#include <string>

#include "plan/model/machine.hpp"
#include "plan/predict/contest.hpp"

namespace heptad {

/// How its levels cut; halved_once where there are none.
LevelCuts cuts_of(const ContestPlan& plan);

/// What the contest of a square says of plans with levels against the sum of their parts; none if it had no such plans.
/// `device`: as in Options, where it was held.
std::optional<LevelFactor> level_factor_of(const Contest& contest, const Machine& machine,
                                           const std::string& device = "auto");

}  // namespace heptad
