// Says once per machine that plans get better when it was measured, after a product for which that matters.
#pragma once

#include "product/request/report.hpp"

namespace heptad::cli {

/// To standard error, where the product was planned here from built-in figures and was long enough for a better plan to
/// show. That it was said is kept beside the file that `heptad tune` would write; where that cannot be, nothing is
/// said.
void suggest_tune_once(const Report& report, const Request& request);

}  // namespace heptad::cli
