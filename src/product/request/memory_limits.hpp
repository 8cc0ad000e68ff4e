// How much memory a request may take, in all and beside its matrices.
#pragma once

#include "product/request/request.hpp"

namespace heptad {

/// Bytes of memory that may be used: those of the request, or what is free for this process (base/free_memory.hpp).
std::int64_t memory_limit_bytes(const Request& request);
/// From file to file: those of the request, or most of what is free.
std::int64_t file_memory_bytes(const Request& request);

/// What is left after `operand_bytes`. Throws Error(resource), naming both, where nothing is left.
std::int64_t workspace_after(std::int64_t operand_bytes, const Request& request);
/// Most bytes of workspace beside them: all that the request leaves, or the share of what is free that every product
/// takes (base/workspace.hpp).
std::int64_t workspace_limit_after(std::int64_t operand_bytes, const Request& request);
/// The same for a plan, which may be for another machine: no limit where the matrices themselves do not fit here.
std::int64_t planned_workspace_limit(std::int64_t operand_bytes, const Request& request);
/// The same on an NVIDIA device, which holds copies of the operands: also no more than it has free.
std::int64_t device_workspace_after(std::int64_t operand_bytes, const Request& request, int cuda_device);

}  // namespace heptad
