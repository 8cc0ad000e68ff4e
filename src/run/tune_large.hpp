// The decision that matters most, levels or not, is measured by contests and not put together from parts: plans with
// levels run in turns with the classical product. The clock of a virtual machine drifts by a third within seconds and a
// busy neighbour only ever adds, so the least time of each counts.
#pragma once

#include "backend/cpu/cpu_backend.hpp"
#include "plan/machine.hpp"
#include "run/tune_timing.hpp"

namespace heptad {

/// Adds the square of kLongest to the samples of the best leaf of `type` on our threads and of the best one with its
/// own, in turns with a batch of smaller products that ties them to the other samples; about `most_s` seconds, or not
/// at all if one turn takes longer.
void measure_large_squares(cpu::CpuBackend& backend, const Operands& operands, Type type, double most_s,
                           Machine& machine);

/// Adds to machine.level_factors what plans with levels take against their prediction, relative to the classical
/// product, between 0.8 and 2: for n = 1024, 2048 and 4096, as far as `most_s` seconds allow.
void measure_level_factors(cpu::CpuBackend& backend, const Operands& operands, Type type, double most_s,
                           Machine& machine);

}  // namespace heptad
