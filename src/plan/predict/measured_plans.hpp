// What measured plans say of other plans. Each is one measurement of how far the cost model is off; the further it is
// from the plan in question, in size or in kind, the larger its standard error. All of them, and the belief that the
// model is right, are averaged by the inverse squares of their standard errors:
//
//   log ratio = sum(w_i log(measured_i / modelled_i)) / (w_model + sum(w_i)),   w = 1 / std_error^2
//
// so the ratio goes to the measured one where the plan itself was measured, to 1 far from all of them, and is smooth in
// the sizes in between. A plan with levels that is less sure than another at those sizes is expected to take longer by
// what its standard error is larger.
#pragma once

#include <optional>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

/// The shapes of all measured plans of a type, each once.
std::vector<PlanShape> measured_shapes(const Machine& machine, Type type);

/// How many levels there are; those in one go count each.
int depth_of(const std::vector<LevelPlan>& levels);

/// By what the cost model's seconds of the plan are to be multiplied. `library_over_plan`: what the model says of a
/// classical plan. Far from all that was measured, another leaf is not expected to gain over the library, whatever its
/// samples say: they were not taken side by side.
double measured_ratio(const ProductPlan& plan, const Machine& machine, double library_over_plan = 1);

/// The same of plans with so many levels, whatever they are made of. `plan`: any for the problem.
double measured_ratio_of_depth(int depth, const ProductPlan& plan, const Machine& machine);

/// Growth of errors over the library's as it was measured with the same algorithms level by level: at the nearest size,
/// with the plan's leaf rather than with another. None: nobody did, or there are no levels.
std::optional<double> measured_growth(const ProductPlan& plan, const Machine& machine);

}  // namespace heptad
