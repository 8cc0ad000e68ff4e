#include "product/request/request_plan.hpp"

#include "plan/predict/error_bound.hpp"
#include "plan/search/stage_choice.hpp"
#include "product/device/device_product.hpp"

namespace heptad {

bool FileRequestPlan::disk_binds() const {
    return layers ? multiply_s() < read_s + write_s : heptad::disk_binds(problem, traffic);
}

double RequestPlan::growth() const {
    if (decided.disk || decided.host || decided.transfers || is_packed(decided)) {
        return 0;
    }
    return device >= 0 ? expected_growth_on_device(decided, device) : expected_growth_here(decided);
}

}  // namespace heptad
