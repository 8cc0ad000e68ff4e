// Products of complex matrices are made of real ones, and so are their plans: levels, core, leaf and arithmetic are
// those of one of the real products, workspace, time and errors those of the whole.
//
//   three products   3 of m x k x n: (re A)(re B), (im A)(im B), (re A + im A)(re B + im B); not for `strict`, `exact`
//   one product      1 of m x 2k x 2n: B is expanded to real numbers (base/complex_as_real.hpp)
//   in place         4 of m x k x n where the parts lie: needs no memory, and is the slowest
#pragma once

#include "plan/search/planner.hpp"

namespace heptad {

/// One of the real products of a complex plan, whole in itself.
ProductPlan real_plan(const ProductPlan& plan);

/// Parts of A, B and C that are copied, whatever the layouts: the workspace beside that of the real products.
std::int64_t real_copies_bytes(const ProductPlan& plan);

/// The fastest way that the accuracy and the workspace allow; one on the processor.
ProductPlan make_complex_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits);
/// With this way, whatever the workspace.
ProductPlan plan_complex_way(const Problem& problem, const Machine& machine, ComplexWay way,
                             const PlannerLimits& limits = {});
ProductPlan complex_library_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits);

/// As check_plan().
void check_complex_plan(const ProductPlan& plan);

}  // namespace heptad
