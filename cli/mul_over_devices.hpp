// Products over several devices, or larger than one, on the command line: when they are meant, and their plans as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "options.hpp"
#include "plan/search/host_plan.hpp"

namespace heptad::cli {

/// Is this product of dense matrices, so many bytes in all, cut up by the host?
bool goes_over_devices(const ProductOptions& product, std::int64_t operand_bytes);

/// The plan as one line, and remarks: memory, stages, bound.
std::string print_plan(const HostPlan& plan);
nlohmann::ordered_json plan_json(const HostPlan& plan, std::int64_t operand_bytes);
/// What a product took, over the predicted time of its slowest stage: into the JSON of a product whose plan has one.
void add_wall_over_bound(nlohmann::ordered_json& object, double multiply_s);

}  // namespace heptad::cli
