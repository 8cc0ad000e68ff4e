// The choice of levels: over algorithms and modes, from the outside in.
#pragma once

#include <string>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/search/planner.hpp"

namespace heptad {

struct ClassicalPlans {
    ProductPlan library;  // its own call: what levels must gain over
    ProductPlan fastest;
};
/// The plan with the least predicted time; a classical one where no levels pay.
ProductPlan search_levels(const Problem& problem, const Machine& machine, const PlannerLimits& limits,
                          const ClassicalPlans& classical);

/// The shipped schedules of an algorithm that overwrite A and B, those that do not add to C first.
std::vector<std::string> overwriting_schedules(const std::string& algorithm, Type type);

}  // namespace heptad
