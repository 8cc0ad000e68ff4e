// Carries out plans by residues on a backend that has the kernels for it and runs behind the caller.
#pragma once

#include "run/dense/runner.hpp"

namespace heptad {

/// As run_plan(). Data that is not finite, or too uneven for the most moduli of the plan, is multiplied classically;
/// where the result is rounded once, moduli_within() refuses.
RunReport run_residues_on_device(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                                 const RunHooks& hooks);

}  // namespace heptad
