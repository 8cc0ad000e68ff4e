// The decision that matters most, levels or not on a large product, is measured by a contest and not put together from
// parts: at n = kLongest the best leaf on our threads, the best one with its own, and a plan with two levels run in
// turns, with a batch of smaller products that ties them to the other samples. The clock of a virtual machine drifts by
// a third within seconds and a busy neighbour only ever adds, so the least time of each counts.
#pragma once

#include "backend/cpu/cpu_backend.hpp"
#include "plan/machine.hpp"
#include "run/tune_timing.hpp"

namespace heptad {

/// Adds the square of kLongest to the samples of those leaves of `type`, and to machine.level_factors what a plan with
/// levels takes against its prediction, between 0.8 and 1.5. Takes about `most_s` seconds, or does nothing if one turn
/// takes longer than that.
void measure_large_products(cpu::CpuBackend& backend, const Operands& operands, Type type, double most_s,
                            Machine& machine);

}  // namespace heptad
