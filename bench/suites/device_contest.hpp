// Contests on one stream of a device, timed by the device's own events.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/suites/bench_contest.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {

inline constexpr unsigned char kDevicePoison = 0xff;  // a NaN in every float type

/// One call after the other on the stream, timed there. The timer must outlive the contestant.
Contestant device_contestant(const std::string& name, cuda::Timer& timer, void* stream, std::function<void()> call);

/// Runs them in turns for a moment: the clock of an idle device is low.
void warm_up_device(const std::vector<Contestant>& contestants);

}  // namespace heptad::cli
