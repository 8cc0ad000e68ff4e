#include "product/request/request_plan.hpp"

#include "plan/predict/error_bound.hpp"
#include "plan/search/stage_choice.hpp"

namespace heptad {
namespace {

/// What all plans tell.
struct Told {
    std::string text;
    int levels = 0;
    std::int64_t workspace_bytes = 0;
    double predicted_s = 0, error_bound = 0;
};

Told told_by(const ProductPlan& plan) {
    return {to_string(plan), static_cast<int>(plan.levels.size()), plan.workspace_bytes, plan.predicted_s,
            plan.error_bound};
}
Told told_by(const bits::BitPlan& plan) {
    return {plan.to_string(), plan.levels, plan.workspace_bytes(), plan.predicted_s, 0};
}
Told told_by(const BitDevicePlan& plan) {
    return {plan.to_string(), plan.levels(), plan.workspace_bytes(), plan.predicted_s, 0};
}
Told told_by(const HostOperandPlan& plan) {
    return {to_string(plan), plan.levels, plan.workspace_bytes, plan.schedule.predicted_s, plan.error_bound};
}
Told told_by(const HostPlan& plan) {
    return {to_string(plan), plan.levels, plan.host_bytes, plan.predicted_s, plan.error_bound};
}
Told told_by(const FileRequestPlan& plan) {
    return {to_string(plan.plan), plan.layers ? plan.layers->outer.levels : 0, plan.plan.workspace_bytes, plan.wall_s,
            plan.steps.error_bound};
}

Told told(const RequestPlan& plan) {
    return std::visit([](const auto& decided) { return told_by(decided); }, plan.decided);
}

}  // namespace

bool FileRequestPlan::disk_binds() const {
    return layers ? multiply_s() < read_s + write_s : heptad::disk_binds(problem, plan);
}

std::string RequestPlan::text() const {
    return told(*this).text;
}
int RequestPlan::levels() const {
    return told(*this).levels;
}
std::int64_t RequestPlan::workspace_bytes() const {
    return told(*this).workspace_bytes;
}
double RequestPlan::predicted_s() const {
    return told(*this).predicted_s;
}
double RequestPlan::error_bound() const {
    return told(*this).error_bound;
}
double RequestPlan::growth() const {
    const auto* whole = std::get_if<ProductPlan>(&decided);
    return whole != nullptr ? expected_growth(whole->levels) : 0;
}

}  // namespace heptad
