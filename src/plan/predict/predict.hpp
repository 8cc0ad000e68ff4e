// The cost model: seconds of a plan from the rates of a machine, and from whole plans that were measured there.
#pragma once

#include "algorithm/algorithm.hpp"
#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"
#include "plan/predict/fused_prediction.hpp"

namespace heptad {

/// Rows of A, B or C that do not begin on 16-byte boundaries, if they lie as close as they can.
bool rows_are_misaligned(const ProductPlan& plan);
/// How much longer the products at the bottom take because of that.
double alignment_factor(const ProductPlan& plan, const Machine& machine);
/// Depth first, each product at the bottom is one by itself.
bool are_leaves_alone(const ProductPlan& plan);

/// How much longer levels with such an algorithm take on the backend because they leave odd blocks at the bottom.
double odd_blocks_factor(const BackendTraits& backend, const Algorithm& algorithm);

/// The blocks of the fused level of a plan that has one.
FusedWork fused_work(const ProductPlan& plan);

/// Seconds of work with so many passes in it and their starts. The host of a device starts them while that is busy with
/// those before, all but the first.
double seconds_with_starts(const BackendTraits& backend, const Machine& machine, double work_s, double passes);

/// Seconds of the plan by the cost model alone.
double model_seconds(const ProductPlan& plan, const Machine& machine);
/// Seconds that the plan will take: the cost model's, corrected by what measured plans took.
double predict_seconds(const ProductPlan& plan, const Machine& machine);

}  // namespace heptad
