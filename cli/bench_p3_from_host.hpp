// heptad bench p3 --from-host: the same product from and to host memory.
#pragma once

#include <vector>

#include "backend/cuda/device.hpp"
#include "bench_product.hpp"
#include "place/devices/bit_device_plan.hpp"

namespace heptad::cli {

/// Times the plan with operands in ordinary host memory, and in memory whose pages were locked before, checks both
/// results, prints a line each beside the time on the device, and returns their records. Prints why, and returns
/// nothing, where the host has too little memory.
std::vector<BenchRecord> bench_from_host(Type type, std::int64_t n, const BitDevicePlan& plan,
                                         const BenchRecord& on_device, const cuda::Stream& stream);

}  // namespace heptad::cli
