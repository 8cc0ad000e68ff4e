// heptad plan --machine c1060: the plan and counts of the paper's GPU, see docs/p0.md.
#pragma once

#include "options.hpp"

namespace heptad::cli {

/// Prints the plan, then arithmetics, transactions and volume beside those of the classical product. Precondition:
/// `arguments.c1060` is there. Throws Error(usage) for sizes or an algorithm that the paper has no counts for.
void print_c1060_plan(const PlanArguments& arguments);

}  // namespace heptad::cli
