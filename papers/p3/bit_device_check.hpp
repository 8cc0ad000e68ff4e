// Is C = A * B for bit matrices on a device? Asked there, by the kernel without tensor cores, so that matrices too
// large for the host are checked by other code than made them.
#pragma once

#include <heptad/bits.hpp>

namespace heptad {

/// Rows of C x that differ from A (B x) over GF(2), for 64 random vectors x at once: a wrong C gives 0 with
/// probability 2^-64. Waits for the device.
std::int64_t differing_rows_over_gf2(const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                                     std::uint64_t seed, int device, void* stream);

/// Of `count` rows of C drawn at random, those that differ from the rows of the Boolean product. Waits for the device.
std::int64_t differing_rows_of_booleans(const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                                        std::int64_t count, std::uint64_t seed, int device, void* stream);

}  // namespace heptad
