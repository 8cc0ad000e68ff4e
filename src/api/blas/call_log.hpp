// What a call that was taken over saved (api/drop_in/product_log.hpp).
#pragma once

#include "api/blas/fast_product.hpp"
#include "plan/model/plan.hpp"

namespace heptad::blas {

/// Nothing unless asked for. `seconds`: that the call took.
void log_call(const GemmCall& call, RealFunction& real, ProbeSeconds probe, const ProductPlan& plan, double seconds);

}  // namespace heptad::blas
