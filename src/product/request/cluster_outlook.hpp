// What a product would take on a cluster that need not exist (plan/predict/cluster_forecast.hpp).
#pragma once

#include "plan/predict/cluster_forecast.hpp"
#include "plan/predict/promised_error.hpp"
#include "plan/search/cluster_plan.hpp"
#include "product/request/request.hpp"

namespace heptad {

struct ClusterQuestion {
    std::int64_t nodes = 1;
    ClusterRequest request;
    ForecastOptions forecast;
    ClusterRates rates;
    bool rate_given = false;  // rates.operations_per_s; otherwise what this machine would do
};

struct ClusterOutlook {
    ProductPlan plan;
    ClusterRates rates;
    ClusterForecast predicted;
    /// As far as it is known before the ranks have cut their blocks: what is guaranteed, of products without levels.
    std::optional<ErrorPromise> error = {};
};

ClusterOutlook forecast_cluster(const Request& request, const ProblemSize& size, const ClusterQuestion& cluster);

}  // namespace heptad
