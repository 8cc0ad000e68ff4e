// A plan as text: what `heptad plan` prints and `heptad mul --plan` reads back. Lines that start with '#' are for
// people.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <heptad/heptad.hpp>

#include "plan/model/plan.hpp"

namespace heptad::cli {

/// The plan, then its workspace, predicted time and error bound as '#' lines.
std::string print_plan(const ProductPlan& plan);
/// The same as the object of `heptad plan --json`.
nlohmann::ordered_json plan_json(const ProductPlan& plan, std::int64_t operand_bytes);
/// The plan in such a file, without what is for people.
std::string read_plan_text(const std::string& path);
/// Reads a file that holds print_plan()'s text or the object of `heptad plan --json`. Throws Error(input).
Plan read_plan_file(const std::string& path);

}  // namespace heptad::cli
