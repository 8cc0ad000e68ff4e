#include "product/request/memory_limits.hpp"

#include <algorithm>
#include <limits>

#include "base/fail_if.hpp"
#include "base/free_memory.hpp"
#include "base/quantity_text.hpp"
#include "base/workspace.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad {
namespace {

/// For cuBLAS, its kernels and rows that are padded.
constexpr std::int64_t kDeviceReservedBytes = std::int64_t{256} << 20;

}  // namespace

std::int64_t memory_limit_bytes(const Request& request) {
    return request.memory_bytes.value_or(free_memory_bytes());
}

std::int64_t file_memory_bytes(const Request& request) {
    constexpr double kShareOfFree = 0.8;  // the rest is for the system's own cache
    return request.memory_bytes
               ? *request.memory_bytes
               : static_cast<std::int64_t>(kShareOfFree * static_cast<double>(memory_limit_bytes(request)));
}

std::int64_t workspace_after(std::int64_t operand_bytes, const Request& request) {
    const std::int64_t limit = memory_limit_bytes(request);
    fail_if(operand_bytes > limit, ErrorCode::resource,
            "the matrices alone take {} ({} bytes), but {} {} ({} bytes); use smaller matrices{}",
            format_bytes(operand_bytes), operand_bytes,
            request.memory_bytes ? "--memory allows" : "this process may take", format_bytes(limit), limit,
            request.memory_bytes ? " or a larger --memory" : "");
    return limit - operand_bytes;
}

std::int64_t workspace_limit_after(std::int64_t operand_bytes, const Request& request) {
    const std::int64_t left = workspace_after(operand_bytes, request);
    return request.memory_bytes ? left : workspace_share(left);
}

std::int64_t planned_workspace_limit(std::int64_t operand_bytes, const Request& request) {
    if (!request.memory_bytes && operand_bytes > free_memory_bytes()) {
        return std::numeric_limits<std::int64_t>::max() - 1;  // the largest number asks for what is free here
    }
    return workspace_limit_after(operand_bytes, request);
}

std::int64_t device_workspace_after(std::int64_t operand_bytes, const Request& request, int cuda_device) {
    const std::int64_t allowed = workspace_after(operand_bytes, request);
    cuda::require_device(cuda_device);
    const std::int64_t free = cuda::report().devices.at(static_cast<std::size_t>(cuda_device)).free_bytes;
    fail_if(operand_bytes > free - kDeviceReservedBytes, ErrorCode::resource,
            "the matrices take {} ({} bytes), but cuda:{} has {} ({} bytes) free, of which {} are reserved; use "
            "smaller matrices or --device cpu",
            format_bytes(operand_bytes), operand_bytes, cuda_device, format_bytes(free), free,
            format_bytes(kDeviceReservedBytes));
    return std::min(request.memory_bytes ? allowed : free, free - kDeviceReservedBytes - operand_bytes);
}

}  // namespace heptad
