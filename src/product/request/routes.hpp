// The ways that a request goes: in memory, where all of its matrices fit there, or from file to file: A and B are read
// piece by piece, C is written piece by piece, in the memory allowed.
#pragma once

#include "product/request/report.hpp"

namespace heptad {

/// In memory, as decided.
Report multiply_whole(const Request& request, const OperandFacts& facts, RequestPlan plan, const RequestHooks& hooks);
VerifyResult verify_whole(const Request& request, const OperandFacts& facts, const VerifyOptions& options,
                          const RequestHooks& hooks);

/// Does this product go from file to file? Where something only that can do is asked for, or the matrices do not fit.
bool goes_by_files(const Request& request, std::int64_t operand_bytes);
Report multiply_by_files(const Request& asked, const OperandFacts& facts, const RequestHooks& hooks);

/// "DR 2.1 GB/s  MM 61 GFLOP/s  DW 0.8 GB/s"
std::string stage_rates(const StageTrace& trace, Type type);

}  // namespace heptad
