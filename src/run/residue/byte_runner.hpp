// Products that are rounded once, by products of bytes: all residues of the rows of A and the columns of B are made
// first, then every entry of C in one go.
#pragma once

#include "run/dense/runner.hpp"

namespace heptad {

/// As run_residue_plan(), for plans whose leaf multiplies bytes.
RunReport run_exact_by_bytes(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                             const RunHooks& hooks);

}  // namespace heptad
