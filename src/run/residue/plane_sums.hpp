// The sums of levels inside residues, as passes over planes take them.
#pragma once

#include "algorithm/level_terms.hpp"
#include "kernels/backend.hpp"

namespace heptad {

/// Of the matrix that is multiplied from the left, of the other, and of their product.
struct ProductPlaneSums {
    PlaneSums left, right, result;
};

/// Planes of both operands have lines along k. `by_columns`: C is made as its transpose, so B is on the left.
ProductPlaneSums plane_sums(const LevelTerms& levels, bool by_columns);

}  // namespace heptad
