// What follows from the levels that a plan asks for: what the sizes, the type and the backend make of them.
#pragma once

#include "base/types.hpp"
#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"

namespace heptad {

/// Types for which levels pay on this backend: CPUs convert the 16-bit types, which costs more than levels gain.
bool has_levels(Type type, const BackendTraits& backend);

/// What the backend that was asked for is able to do.
const BackendTraits& backend_traits(const Problem& problem);

/// f16 always, for its range; bf16 unless everything is for speed: the scans of A and B take 2 % at n = 16384. Never
/// tf32, whose products are to be those of tf32: a plan that says so itself may have them.
bool wants_scaled_sums(const Problem& problem);
/// Whether breadth-first plans for the problem keep their sums in f16.
bool scales_sums(const Problem& problem);

/// Fills in the core and the flags; drops levels and schedules that cannot be.
void normalize_plan(ProductPlan& plan);

}  // namespace heptad
