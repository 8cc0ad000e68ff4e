// Requests whose matrices all fit in memory, as decided.
#pragma once

#include "product/request/report.hpp"

namespace heptad {

Report multiply_whole(const Request& request, const OperandFacts& facts, RequestPlan plan, const RequestHooks& hooks);
VerifyResult verify_whole(const Request& request, const OperandFacts& facts, const VerifyOptions& options,
                          const RequestHooks& hooks);

}  // namespace heptad
