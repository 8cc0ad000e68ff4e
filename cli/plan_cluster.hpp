// heptad plan --nodes P: what a product on a cluster would take; see docs/cluster.md.
#pragma once

#include "option_words.hpp"

namespace heptad::cli {

/// Prints the cluster's plan, bytes per rank beside the lower bound, seconds per stage, P4's terms and the efficiency.
/// Precondition: `arguments.cluster` is there.
void print_cluster_plan(const PlanArguments& arguments);

}  // namespace heptad::cli
