// What `heptad mul` did, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "product/request/report.hpp"

namespace heptad::cli {

/// A few lines or one JSON object. Throws DetailedError(verification) where a product from file to file did not pass.
void print_report(const Report& report, const Request& request, bool json);

/// What moved and what bound, from file to file.
nlohmann::ordered_json to_json(const FileProductReport& report, const ProblemSize& size);
nlohmann::ordered_json to_json(const OuterLaunch& layers);

}  // namespace heptad::cli
