// The forecast of a product on a cluster as the fields of a JSON object, for `heptad plan --nodes` and `heptad-mpi
// mul`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "product/request/cluster_outlook.hpp"

namespace heptad::cli {

nlohmann::ordered_json forecast_json(const ProductPlan& plan, const ClusterForecast& predicted);

}  // namespace heptad::cli
