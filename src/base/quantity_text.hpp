// Bytes, times and rates for people.
#pragma once

#include <cstdint>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad {

/// "1.50 GiB", "37 bytes"
std::string format_bytes(std::int64_t bytes);
/// "3.21 s", "12.3 ms", "840 ns"
std::string format_seconds(double seconds);
/// "12:05" or "1:02:33", for the time left of a run.
std::string format_clock(double seconds);
/// "61.2 GFLOP/s" from an effective rate in operations per second; "Gop/s" for exact types.
std::string format_rate(double operations_per_s, Type type);

/// "2.13 GB/s"; "-" where no time passed.
std::string format_byte_rate(double bytes, double seconds);

}  // namespace heptad
