// Problem + catalogue + Machine -> Plan. Pure functions: no I/O, no clocks, no devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"
#include "plan/predict/predict.hpp"

namespace heptad {

/// Every knob of the planner, with its reason.
struct PlannerLimits {
    /// Blocks at the bottom are not made smaller than this by choice: below, leaves starve and passes dominate
    /// everywhere.
    std::int64_t smallest_leaf = 128;
    /// More levels than this never paid on any machine seen, and the error grows with each.
    int most_levels = 5;
    /// `balanced`: growth of the error on uniform data over the classical product's. Ten are promised, and data that is
    /// just even enough, or positive, loses up to twice as much as uniform data (docs/accuracy.md).
    double balanced_growth = 5;
    /// A plan must be predicted this much faster than the library's own call, which cannot lose against itself. As
    /// little as that, because it is also how far the prediction may jump up where a plan ceases to be taken.
    double min_gain = 1.04;
};

/// For devices: below that size neither leaves nor passes fill the chip, and their clocks are steadier than those of
/// virtual CPUs: what is left of noise where plans run side by side is below this gain.
inline PlannerLimits device_limits() {
    PlannerLimits limits;
    limits.smallest_leaf = 512;
    limits.min_gain = 1.015;
    return limits;
}

/// The halving that goes on top of plans that were measured, and that plans are measured with.
inline constexpr const char* kHalving = "winograd";

/// How even data must be where these levels are to keep their digits (`balanced`); without levels, as it likes.
double least_evenness_of(const std::vector<LevelPlan>& levels);
/// Of products by residues with the moduli that a plan names.
double least_evenness();

/// What the problem says, and nothing decided.
ProductPlan empty_plan(const Problem& problem);

/// Is its workspace within the limit?
inline bool fits_workspace(const ProductPlan& plan, const Problem& problem) {
    return plan.workspace_bytes <= problem.options.workspace_limit_bytes;
}

/// Decides. Throws Error(usage) for an unknown algorithm or one whose ring does not admit the type.
ProductPlan make_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits = {});

/// The library's own call, or what takes its place where there is none.
ProductPlan library_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits = {});

struct ClassicalPlans {
    ProductPlan library;  // its own call: what levels must gain over
    ProductPlan fastest;
};
/// The plan with the least predicted time over algorithms and modes, from the outside in; a classical one where no
/// levels pay.
ProductPlan search_levels(const Problem& problem, const Machine& machine, const PlannerLimits& limits,
                          const ClassicalPlans& classical);

/// The shipped schedules of an algorithm that overwrite A and B, those that do not add to C first.
std::vector<std::string> overwriting_schedules(const std::string& algorithm, Type type);

/// The plan with exactly these levels, as far as the sizes go: workspace, time and bound filled in.
ProductPlan plan_with_levels(const Problem& problem, const Machine& machine, const std::vector<LevelPlan>& levels);

/// The plan of that shape. Without its levels where the sizes or the type do not allow them.
ProductPlan plan_with_shape(const Problem& problem, const Machine& machine, const PlanShape& shape);

/// Throws Error(input) unless the plan is one that plan_with_levels could have made: a plan that was edited by hand
/// must not lead the runner beyond a matrix or its workspace.
void check_plan(const ProductPlan& plan);

}  // namespace heptad
