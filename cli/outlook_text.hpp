// What a person wants to know of a product first: how large its errors are, and how fast it is.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "product/request/cluster_outlook.hpp"
#include "product/request/request_plan.hpp"

namespace heptad::cli {

/// "expected error: 3 x the classical product's (typical 2e-07 of |a_i||b_j|); 1.31 x faster than openblas (predicted)"
std::string expectation_text(const Outlook& outlook);
/// "error bound: |AB - computed|_ij <= 0.000244 (|A||B|)_ij, guaranteed"
std::string bound_text(const ErrorPromise& error);
/// The same as fields of an object.
nlohmann::ordered_json outlook_json(const Outlook& outlook);
/// The forecast of a product on a cluster, likewise.
nlohmann::ordered_json forecast_json(const ProductPlan& plan, const ClusterForecast& predicted);

}  // namespace heptad::cli
