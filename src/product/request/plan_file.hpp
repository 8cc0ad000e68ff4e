// A plan in a file: what `heptad plan` prints, as text or as JSON. Lines that start with '#' are for people.
#pragma once

#include <string>

#include "plan/model/plan.hpp"

namespace heptad {

/// Throws Error(input) if a plan, which may come from anywhere, cannot be carried out. What the disk cuts is checked
/// where the files are known.
void check_given_plan(const ProductPlan& plan);
/// A plan that passed that. Throws Error(input), and Error(usage) for one among the ranks of a cluster, which
/// heptad-mpi carries out.
ProductPlan read_plan_file(const std::string& path);

}  // namespace heptad
