// Products of bit matrices in host memory on a device that holds all of them at once. Pieces of A and B are brought
// over while earlier ones are multiplied, and pieces of C come back as soon as they are complete. Transfers go straight
// from and to the caller's memory where its pages are locked, and otherwise through small buffers.
#pragma once

#include <heptad/bits.hpp>

#include "product/device/bit_device_plan.hpp"
#include "run/dense/runner.hpp"

namespace heptad {

/// When the stages of a product ended, in seconds from its start, as the caller's thread saw it.
struct HostBitTimes {
    double enqueued_s = 0;  // all of A and B was read, and everything handed to the device
    double uploaded_s = 0;  // A and B were there
    double total_s = 0;     // C was back
};

/// c = a * b, or c ^= a * b or c |= a * b; all begin at bit 0 of a word. The result is there on return; bits of C's
/// words beside its columns are kept. Throws Error(cancelled) soon after the token is set; C is undefined then.
HostBitTimes multiply_host_bits_on_device(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b,
                                          const BitView& c, bool accumulate, int device, const RunHooks& hooks = {});

/// The same for a plan of counts, `c_row_stride` of them from row to row.
void count_host_bits_on_device(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, std::int32_t* c,
                               std::int64_t c_row_stride, int device, const RunHooks& hooks = {});

}  // namespace heptad
