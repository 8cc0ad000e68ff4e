// Products of bit matrices in host memory on a device that holds all of them at once.
#pragma once

#include <heptad/bits.hpp>

#include "place/devices/bit_device_plan.hpp"

namespace heptad {

/// c = a * b, or c ^= a * b or c |= a * b; all begin at bit 0 of a word. The result is there on return.
void multiply_host_bits_on_device(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b,
                                  const BitView& c, bool accumulate, int device);

/// The same for a plan of counts, `c_row_stride` of them from row to row.
void count_host_bits_on_device(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b, std::int32_t* c,
                               std::int64_t c_row_stride, int device);

}  // namespace heptad
