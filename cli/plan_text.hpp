// A plan as text: what `heptad plan` prints and `heptad mul --plan` reads back. Lines that start with '#' are for
// people.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "product/request/request_plan.hpp"

namespace heptad::cli {

/// The plan, then its memory, predicted time and error bound as '#' lines.
std::string plan_text(const RequestPlan& plan);
std::string plan_text(const FileRequestPlan& plan);
std::string print_plan(const ProductPlan& plan);
/// The same as the object of `heptad plan --json`.
nlohmann::ordered_json plan_json(const RequestPlan& plan);
nlohmann::ordered_json plan_json(const FileRequestPlan& plan);

}  // namespace heptad::cli
