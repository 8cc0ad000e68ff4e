// The machine of P0 (device_counts.hpp): an NVIDIA Tesla C1060 whose leaf is the kernel GPU8. Plans for it are counted
// and compared with the paper; nothing runs on it.
#pragma once

#include <string>

#include "papers/p0/device_counts.hpp"
#include "papers/p0/p0_plan.hpp"
#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

/// Named "c1060", with one leaf, "gpu8", timed by figure 16.
Machine c1060_machine();

/// P0's thresholds (p0_plan.hpp) that make `levels` levels of a product of size n. Throws Error(usage) unless n is a
/// power of two that leaves GPU8 blocks of at least 16, and at most 2^20.
P0Thresholds thresholds_for_levels(std::int64_t n, int levels);

/// The plan of C = A*B in f32 with P0's schedules: figures 8 and 15 outside, figures 4 and 5 at the last level. Throws
/// Error(usage) unless m = k = n is a power of two (P0 assumes it), the blocks of GPU8 are at least 16 and n at most
/// 2^20, `algorithm` is strassen or winograd and 1 <= tau1 <= tau2.
ProductPlan plan_for_c1060(ProblemSize size, const std::string& algorithm, const P0Thresholds& thresholds);

/// What that plan costs.
DeviceCounts counts_on_c1060(const ProductPlan& plan);

}  // namespace heptad
