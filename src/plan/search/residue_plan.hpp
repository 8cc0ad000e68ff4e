// Plans by residues: what accuracy `exact` asks for. Every tile of C is multiplied modulo up to 24 small numbers, as
// products of bytes, or one after another as products of integers with levels inside.
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

/// Bytes of workspace for the residues of a tile of A and of B, where the leaf multiplies bytes.
struct HostResidueLayout {
    std::int64_t a = 0, b = 0;
};
HostResidueLayout host_residue_layout(const ProductPlan& plan);

/// The product of integers modulo one number, of one tile of C.
ProductPlan plane_plan(const ProductPlan& plan);

}  // namespace heptad
