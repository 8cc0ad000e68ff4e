// Which split into serial and parallel levels is fastest for packed bits on a device (P3's d_s and d_p; d_i is what
// they leave) cannot be told from rates alone, so `heptad tune --device cuda` tries them, within the memory that is
// free.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/machine.hpp"

namespace heptad {

/// Times products over GF(2) of three sizes with every split that leaves long leaves and fits the device: about three
/// seconds on an H200. `note` is called with what comes next.
std::vector<BitSplitSample> measure_bit_splits(int device, const std::function<void(const std::string&)>& note);

}  // namespace heptad
