// Products of gf2 and bool matrices of one byte per element by way of packed bits: 64 elements to a word, multiplied by
// src/run/bits, and spread to bytes again. In plans this is the leaf "packed", which has its levels inside.
#pragma once

#include "plan/model/plan.hpp"
#include "run/dense/runner.hpp"

namespace heptad {

inline constexpr const char* kPackedLeaf = "packed";

/// gf2 and bool on the CPU.
bool has_packed_leaf(Type type, const std::string& backend);

/// The plan of the same product with the leaf "packed": its workspace and predicted time. Throws Error(input) for sizes
/// that overflow.
ProductPlan packed_plan(const ProductPlan& plan);

/// check_plan(), for plans with that leaf too.
void check_plan_in_memory(const ProductPlan& plan);

/// c = alpha * a * b + beta * c by a plan with that leaf. Everything was validated. `workspace` holds
/// plan.workspace_bytes. Throws Error(usage) if the plan tells less than the product takes here, and Error(cancelled).
RunReport multiply_packed_bits(const ProductPlan& plan, double alpha, const ConstView& a, const ConstView& b,
                               double beta, const View& c, void* workspace, const RunHooks& hooks);

}  // namespace heptad
