// Plans by residues: what accuracy `exact` asks for. Every tile of C is multiplied modulo up to 24 small numbers, one
// after another, as a product of integers with levels inside.
#pragma once

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"

namespace heptad {

/// For floats on a processor. Throws Error(usage) elsewhere, and Error(resource) where the smallest tile does not fit
/// the workspace.
ProductPlan make_residue_plan(const Problem& problem, const Machine& machine);
/// As check_plan().
void check_residue_plan(const ProductPlan& plan);

/// The product modulo one number, of one tile of C.
ProductPlan plane_plan(const ProductPlan& plan);

}  // namespace heptad
