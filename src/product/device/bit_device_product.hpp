// C = A * B of packed bit matrices that lie on a device: over GF(2), Boolean, or as counts of common ones.
#pragma once

#include <heptad/bits.hpp>

#include "product/device/bit_device_plan.hpp"

namespace heptad {

/// Where the matrices and the workspace lie. Rows are `..._row_words` 64-bit words apart, bits lowest first; counts are
/// 32-bit integers, `c_row_stride` of them from row to row.
struct BitDeviceOperands {
    const std::uint64_t* a = nullptr;
    std::int64_t a_row_words = 0;
    const std::uint64_t* b = nullptr;
    std::int64_t b_row_words = 0;
    void* c = nullptr;
    std::int64_t c_row_stride = 0;
    bool accumulate = false;             // c ^= , |= or +=
    std::uint64_t* workspace = nullptr;  // plan.workspace_bytes, on a 16-byte boundary
};

/// Is A where a product without levels reads it in place?
bool is_aligned_for_leaf(const std::uint64_t* a, std::int64_t row_words);

/// What the plan comes to for operands that lie so. Throws Error(usage) where the plan is for others.
BitDeviceLaunch bit_device_launch(const ProductPlan& plan, const BitDeviceOperands& operands);
/// Carries it out for the same; nothing is waited for. A and B are never written, nor anything outside of C: bits of a
/// row's last word beyond the last column stay as they are.
void walk_bit_device(const BitDeviceLaunch& launch, cuda::BitVerbs& verbs, const BitDeviceOperands& operands);

/// Throws Error(usage) if A and B have other sizes than were planned for.
void require_sizes(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b);

/// What the planner should know of a device that is there.
BitDeviceFacts bit_device_facts(int device);

/// c = a * b (or c ^= a * b, c |= a * b) in the order of a stream of the device. The views point to memory there and
/// begin at the first bit of a word. Without a workspace, one is allocated in the order of the stream.
void multiply_bits_on_device(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                             bool accumulate, int device, void* stream, void* workspace = nullptr);

}  // namespace heptad
