// Which plans run beside the library when a machine is measured. Every one costs seconds of `heptad tune`, so only
// those do that can be expected to be near the best; one of them is always classical and one, where there are any, has
// levels that `balanced` allows.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/problem.hpp"
#include "plan/search/planner.hpp"

namespace heptad {

/// Has levels, and `balanced` may take them.
bool is_balanced(const ProductPlan& plan, const Machine& machine, const PlannerLimits& limits);
/// Does `balanced` take levels of this type on a device as they are measured? Of tf32 and f16 it takes none, and keeps
/// sums of bf16 in another way.
bool balanced_takes_measured_levels(Type type);

struct CandidateLimits {
    std::size_t most_libraries = 3, most_others = 4;
    /// The planner's own choice is a candidate. It is the most hopeful of thousands of sums and rarely as good: not
    /// where a round takes seconds.
    bool has_planned = true;
    /// Right behind the first of the others, its leaf with one level more and with one less (but not without any):
    /// predictions err most in how many levels pay.
    bool has_neighbours = false;
};

/// The libraries with their own threads; the other classical products, one to three halvings over each leaf, a halving
/// on top of what was measured before and the planner's choice. Of either kind those with the least predicted time.
std::vector<PlanShape> plan_candidates(const Problem& problem, const Machine& machine, const CandidateLimits& limits);

/// On a device: classical products first, the library's at the front and the same with a kernel of our choice; then at
/// most `most_with_levels` plans with levels, those with the least predicted time. What the planner takes with `usual`
/// in place of what was measured is always among them, so that measuring can only make plans better.
std::vector<PlanShape> device_plan_candidates(const Problem& problem, const Machine& machine, const Machine& usual,
                                              std::size_t most_with_levels);

}  // namespace heptad
