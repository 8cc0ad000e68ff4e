// The energy that a device has used, as its driver counts it (NVML).
#pragma once

#include <optional>

namespace heptad::cuda {

/// Joules since the driver was loaded; the difference of two answers is what was used in between (the counter moves
/// every few tens of milliseconds). Nothing where NVML or the counter cannot be had.
std::optional<double> energy_joules(int device);

}  // namespace heptad::cuda
