#include "product/request/request_plan.hpp"

#include "plan/predict/error_bound.hpp"
#include "plan/search/stage_choice.hpp"
#include "product/device/device_product.hpp"

namespace heptad {
namespace {

PlanFacts told_by(const ProductPlan& plan) {
    return {to_string(plan), level_count(plan), plan.workspace_bytes, plan.predicted_s, plan.error_bound};
}
PlanFacts told_by(const TransferDecision& made) {
    return told_by(made.plan);
}
PlanFacts told_by(const HostDecision& made) {
    const ProductPlan& plan = made.plan;
    return {to_string(plan), plan.host->levels, plan.workspace_bytes, plan.predicted_s, plan.error_bound};
}
PlanFacts told_by(const FileRequestPlan& files) {
    PlanFacts facts = told_by(files.plan);
    facts.levels = files.plan.disk->levels;
    return facts;
}

}  // namespace

bool FileRequestPlan::disk_binds() const {
    return layers ? multiply_s() < read_s + write_s : heptad::disk_binds(problem, traffic);
}

PlanFacts RequestPlan::facts() const {
    return std::visit([](const auto& plan) { return told_by(plan); }, decided);
}

double RequestPlan::growth() const {
    const auto* whole = std::get_if<ProductPlan>(&decided);
    if (whole == nullptr || whole->transfers || is_packed(*whole)) {
        return 0;
    }
    return device >= 0 ? expected_growth_on_device(*whole, device) : expected_growth_here(*whole);
}

}  // namespace heptad
