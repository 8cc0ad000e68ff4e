// Packed bits on one NVIDIA device, wherever the matrices lie: on the device, or in host memory, however large.
#pragma once

#include <heptad/bits.hpp>

#include "product/device/bit_device_plan.hpp"
#include "product/memory/product.hpp"

namespace heptad {

/// c = a * b, or c ^= a * b or c |= a * b, on the device that the options name. Matrices on the device are multiplied
/// in the order of the context's stream and within its workspace, if it has one, and the call does not wait; those in
/// host memory are there on return.
void multiply_bits_on_cuda(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                           bool accumulate, const bits::BitOptions& options, const ProductContext& context);

/// What would be done with matrices in host memory. Needs no device.
ProductPlan plan_bits_on_cuda(Type algebra, const ProblemSize& size, const bits::BitOptions& options,
                              const ProductContext& context);

/// Bytes that a product may use there; without such a device, those of an H200.
std::int64_t usable_bytes(int device);

/// The transitive closure of a graph in host memory. Throws Error(input) for one on a device, and Error(resource) with
/// the bytes that are missing.
BitMatrix close_on_cuda(const ConstBitView& graph, const bits::BitOptions& options, const ProductContext& context);

}  // namespace heptad
