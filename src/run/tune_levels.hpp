// Does the cost model hold for levels? It is made of leaves and passes measured one by one; a whole plan of them,
// beside the classical product in turns, shows what it leaves out.
#pragma once

#include "backend/cpu/cpu_backend.hpp"
#include "plan/machine.hpp"
#include "run/tune_timing.hpp"

namespace heptad {

/// By what predictions of plans with levels are to be multiplied: two levels of winograd at n = 2048, relative to the
/// classical product, against the prediction. Between 0.8 and 1.5; 1 if that takes longer than `most_s`.
double measure_level_factor(cpu::CpuBackend& backend, const Machine& machine, const Operands& operands, Type type,
                            double most_s);

}  // namespace heptad
