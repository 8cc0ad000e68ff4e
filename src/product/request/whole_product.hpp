// Requests whose matrices all fit in memory, as decided.
#pragma once

#include "product/request/report.hpp"

namespace heptad {

Report multiply_numbers(const Request& request, const OperandFacts& facts, RequestPlan plan, const RequestHooks& hooks);
Report multiply_bits(const Request& request, const BitFacts& facts, RequestPlan plan, const RequestHooks& hooks);

VerifyResult verify_numbers(const Request& request, const OperandFacts& facts, const VerifyOptions& options,
                            const RequestHooks& hooks);
VerifyResult verify_bits(const Request& request, Type algebra, const BitFacts& facts, const VerifyOptions& options,
                         const RequestHooks& hooks);

}  // namespace heptad
