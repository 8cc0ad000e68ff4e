// What stands behind heptad::Plan.
#pragma once

#include <utility>

#include "plan/model/plan.hpp"

namespace heptad {

struct Plan::Impl {
    ProductPlan plan;
    int device = 0;  // of several NVIDIA devices the one it was made for; the print does not tell
};

inline Plan make_plan_handle(ProductPlan plan, int device = 0) {
    return Plan(std::make_unique<Plan::Impl>(Plan::Impl{std::move(plan), device}));
}

}  // namespace heptad
