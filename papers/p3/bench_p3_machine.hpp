// What P3's tables 4 to 7 measure, on this machine: bandwidths of host memory, of the link and of the device, and the
// times of transposes and changes of basis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {

struct Bandwidth {
    std::string what;
    double single_gib_per_s = 0, all_gib_per_s = 0;  // one core and all; the first alone where there is no second
    double p3_single_gib_per_s = 0, p3_all_gib_per_s = 0;
};

/// Seconds at one size, 0 where P3 has none.
struct PassTimes {
    std::int64_t n = 0;
    double transpose_s = 0;  // the whole matrix on the device
    double level_s = 0;      // the seven sums of one level, change of basis included
    double p3_transpose_s = 0, p3_forward_s = 0, p3_inverse_s = 0;
};

struct P3Machine {
    std::vector<Bandwidth> host;    // table 4
    std::vector<Bandwidth> moves;   // table 5
    std::vector<PassTimes> passes;  // tables 6 and 7, of the self-inverse basis
};

/// Takes some seconds. Sizes whose matrices do not fit the device are left out.
P3Machine measure_p3_machine(const std::vector<std::int64_t>& sizes, const cuda::Stream& stream);
std::string text_of(const P3Machine& machine);

}  // namespace heptad::cli
