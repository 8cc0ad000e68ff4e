// A plan in a file: what `heptad plan` prints, as text or as JSON. Lines that start with '#' are for people.
#pragma once

#include <string>

#include "plan/model/plan.hpp"

namespace heptad {

/// Throws Error(input) if a plan of matrices in memory, which may come from anywhere, cannot be carried out.
void check_given_plan(const ProductPlan& plan);
/// A plan that passed that. Throws Error(input).
ProductPlan read_plan_file(const std::string& path);
/// Is there one (empty: none), and does a host cut the product up in it for devices? Might it be of packed bits?
bool has_host_plan(const std::string& path);
bool has_packed_plan(const std::string& path);
/// Is there one, and is it from file to file?
bool plans_files(const std::string& path);
/// That plan. Throws Error(input).
ProductPlan read_disk_plan(const std::string& path);
/// Throws Error(usage) for a plan among the ranks of a cluster, which heptad-mpi carries out.
void refuse_rank_plan(const std::string& path);

}  // namespace heptad
