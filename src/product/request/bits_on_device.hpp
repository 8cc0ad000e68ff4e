// A request of packed bits in the words of products on an NVIDIA device.
#pragma once

#include "base/matrix.hpp"
#include "base/size.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_bits.hpp"
#include "product/request/bit_operands.hpp"

namespace heptad {

/// A plan for a device may be handed back without naming the device again.
inline int bit_device_of(const Request& request) {
    const std::string& name = request.options.device;
    return cuda::is_device_name(name) ? cuda::device_index(name) : 0;
}

/// Bytes of A, B and C on the device.
inline std::int64_t bit_device_operand_bytes(const ProblemSize& size, const Request& request) {
    const std::int64_t result =
        request.count ? matrix_bytes(Type::i32, size.m, size.n) : DeviceBits::bytes(size.m, size.n);
    return checked_add(checked_add(DeviceBits::bytes(size.m, size.k), DeviceBits::bytes(size.k, size.n)), result);
}

/// What is planned with that, and with so much memory of the device for the workspace.
inline ProductPlan plan_bits_on_device(const Request& request, Type algebra, const ProblemSize& size,
                                       std::int64_t workspace_limit_bytes) {
    ProductPlan plan = plan_bit_device_product({bit_operation(algebra, request.count), size},
                                               bit_device_options(bit_options(request), workspace_limit_bytes),
                                               bit_device_facts(bit_device_of(request)));
    plan.type = algebra;
    return plan;
}

}  // namespace heptad
