// A plan as text: what `heptad plan` prints and `heptad mul --plan` reads back. Lines that start with '#' are for
// people, and come first.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "product/request/report.hpp"
#include "product/request/request_plan.hpp"

namespace heptad::cli {

struct PlanArguments;

/// What to expect of it, its memory and predicted time as '#' lines; the plan last.
std::string plan_text(const RequestPlan& plan);
/// The same of one plan alone, with more lines above it.
std::string print_plan(const ProductPlan& plan, const std::string& more);
/// The '#' lines of a product from file to file but for what to expect.
std::string plan_text(const FileRequestPlan& plan);
/// The same as the object of `heptad plan --json`.
nlohmann::ordered_json plan_json(const RequestPlan& plan);
nlohmann::ordered_json plan_json(const FileRequestPlan& plan);

/// Prints the cluster's plan, bytes per rank beside the lower bound, seconds per stage, P4's terms and the efficiency.
/// Precondition: `arguments.cluster` is there.
void print_cluster_plan(const PlanArguments& arguments);

// What `heptad mul` did, as text and as JSON.

/// A few lines or one JSON object. Throws DetailedError(verification) where a product from file to file did not pass.
void print_report(const Report& report, const Request& request, bool json);

/// What moved and what bound, from file to file.
nlohmann::ordered_json to_json(const FileProductReport& report, const ProblemSize& size);
nlohmann::ordered_json to_json(const OuterLaunch& layers);

}  // namespace heptad::cli
