// A request of packed bits in the words of products on an NVIDIA device.
#pragma once

#include "base/matrix.hpp"
#include "base/size.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_plan.hpp"
#include "product/device/device_bits.hpp"
#include "product/request/request.hpp"

namespace heptad {

/// A plan for a device may be handed back without naming the device again.
inline int bit_device_of(const Request& request) {
    const std::string& name = request.options.device;
    return cuda::is_device_name(name) ? cuda::device_index(name) : 0;
}

inline cuda::BitOperation bit_operation(const Request& request, Type algebra) {
    if (request.count) {
        return cuda::BitOperation::count;
    }
    return algebra == Type::gf2 ? cuda::BitOperation::parity : cuda::BitOperation::any;
}

/// Bytes of A, B and C on the device.
inline std::int64_t bit_device_operand_bytes(const ProblemSize& size, const Request& request) {
    const std::int64_t result =
        request.count ? matrix_bytes(Type::i32, size.m, size.n) : DeviceBits::bytes(size.m, size.n);
    return checked_add(checked_add(DeviceBits::bytes(size.m, size.k), DeviceBits::bytes(size.k, size.n)), result);
}

inline BitDeviceOptions bit_device_options(const Request& request, std::int64_t workspace_limit_bytes) {
    BitDeviceOptions options;
    options.algorithm = request.options.algorithm;
    options.levels = request.options.levels;
    options.leaf = request.options.leaf;
    options.workspace_limit_bytes = workspace_limit_bytes;
    return options;
}

}  // namespace heptad
