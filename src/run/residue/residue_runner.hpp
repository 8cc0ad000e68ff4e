// Carries out plans whose arithmetic is residues: integers are made of the rows of A and the columns of B, multiplied
// modulo some small numbers one after another, and put together by the Chinese remainder theorem. Levels inside those
// products are levels of integers, and exact.
#pragma once

#include "run/dense/runner.hpp"

namespace heptad {

/// The product, rounded once. What the plan and the memory have to be is as for run_plan(). Throws
/// Error(input), with c as it was, where the values of a row of A and a column of B span more bits than there are
/// moduli for.
RunReport run_residue_plan(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                           const RunHooks& hooks);

/// The same on a backend that has the kernels for it and runs behind the caller. Data that is not finite, or too uneven
/// for the most moduli of the plan, is multiplied classically; where the result is rounded once, moduli_within()
/// refuses.
RunReport run_residues_on_device(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                                 const RunHooks& hooks);

}  // namespace heptad
