// Products of bit matrices in host memory on a device that holds all of them at once. Pieces of A and B are brought
// over while earlier ones are multiplied, and pieces of C come back as soon as they are complete. Transfers go straight
// from and to the caller's memory, whose pages are locked for the time of the product.
#pragma once

#include <heptad/bits.hpp>

#include "place/devices/bit_device_plan.hpp"

namespace heptad {

/// Where the seconds of a product went, as the caller's thread saw it: each stage ends when the host knows that it has.
struct HostBitTimes {
    double lock_s = 0;        // locking pages, part of which runs beside the device's work
    double enqueued_s = 0;    // from the start: everything was handed to the device
    double uploaded_s = 0;    // A and B were there
    double multiplied_s = 0;  // the product was done
    double total_s = 0;       // C was back, and all pages unlocked
};

/// c = a * b, or c ^= a * b or c |= a * b; all begin at bit 0 of a word. The result is there on return; bits of C's
/// words beside its columns are kept.
HostBitTimes multiply_host_bits_on_device(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b,
                                          const BitView& c, bool accumulate, int device);

/// The same for a plan of counts, `c_row_stride` of them from row to row.
void count_host_bits_on_device(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b, std::int32_t* c,
                               std::int64_t c_row_stride, int device);

}  // namespace heptad
