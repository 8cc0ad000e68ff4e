// Which split into serial and parallel levels is fastest for packed bits on a device (P3's d_s and d_p; d_i is what
// they leave), and which cut at the host for matrices that do not fit (d_h, and pipelines to a device), cannot be told
// from rates alone, so `heptad tune --device cuda` tries them, within the memory that is free (P3 3.17).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/model/machine.hpp"

namespace heptad {

/// Times products over GF(2) of three sizes with every split that leaves long leaves and fits the device: about three
/// seconds on an H200. `note` is called with what comes next.
std::vector<BitSplitSample> measure_bit_splits(int device, const std::function<void(const std::string&)>& note);

/// A product of packed bits in host memory on devices as device_list.hpp names them.
struct BitHostTrial {
    std::string devices;
    std::int64_t n = 0;
    std::int64_t device_memory_bytes = 0;  // that each of them may use, fewer than the matrices take
};
/// Times it with segments of C and with one and two levels at the host (P3's d_h), each with one to three pipelines to
/// a device, as far as they fit; ways far behind are not tried with more pipelines.
std::vector<BitHostSample> measure_bit_hosts(const BitHostTrial& trial,
                                             const std::function<void(const std::string&)>& note);
/// What `heptad tune` tries on a device: 1.5 GiB of matrices in 1 GiB, about four seconds on an H200.
BitHostTrial host_trial_of(int device);

}  // namespace heptad
