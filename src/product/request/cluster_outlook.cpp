#include "product/request/cluster_outlook.hpp"

#include <algorithm>
#include <limits>

#include "base/fail_if.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"

namespace heptad {

ClusterOutlook forecast_cluster(const Request& request, const ProblemSize& size, const ClusterQuestion& cluster) {
    const Type type = request.type.value_or(Type::f32);
    ClusterRates rates = cluster.rates;
    ClusterRequest asked = cluster.request;
    asked.whole_k = takes_whole_k(request.options.accuracy, type);
    std::optional<ProductPlan> share;
    if (!cluster.rate_given || !is_device_list(request.options.device)) {
        const std::string& device = request.options.device;
        fail_if(is_device_list(device), ErrorCode::usage,
                "a plan is for one device; use plan_over_devices() for products over '{}'", device);
        share = plan_of_share(size, type, cluster.nodes, request.options, {.threads = request.threads});
    }
    if (!cluster.rate_given) {
        rates.operations_per_s =
            operation_count({share->m, share->k, share->n}, type) / std::max(share->predicted_s, 1e-9);
    }
    ClusterOutlook outlook{make_cluster_plan(size, type, cluster.nodes, asked, rates), rates, {}};
    outlook.predicted = forecast(outlook.plan, rates, cluster.forecast);
    outlook.plan.predicted_s = outlook.predicted.total_s();
    if (share) {
        outlook.error = promised_error(outlook.plan, *share, request.options.accuracy);
        if (outlook.error->growth > 1) {
            outlook.error->bound = std::numeric_limits<double>::infinity();
        }
    }
    return outlook;
}

}  // namespace heptad
