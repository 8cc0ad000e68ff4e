// The part of the measurement that compares products of different sizes with each other: what a leaf costs among many,
// as below levels, and what the largest square costs. A plan with levels is chosen by the ratio of the two, so they are
// measured in turns: the clock of a virtual machine drifts by a third within seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"
#include "plan/machine.hpp"
#include "run/tune_timing.hpp"

namespace heptad {

/// The squares of the measurement end here; thin shapes reach further, to kLongest.
constexpr std::int64_t kLargest = 2048;
/// One more square for the two leaves that matter most: where libraries still get faster beyond kLargest, plans with
/// levels would otherwise seem to win against a classical product that is better than it looks.
constexpr std::int64_t kLongest = 4096;
/// Longer than the threads of any library keep spinning.
constexpr std::chrono::milliseconds kSettle{150};

/// Fills in_batches of the leaves of `type` on our own threads, except those far behind, in about `most_s` seconds.
void measure_batches(cpu::CpuBackend& backend, const Operands& operands, Type type, int threads, double most_s,
                     std::vector<LeafProfile>& profiles);

/// The square of kLongest by the best leaf on our threads and the best one with its own, in turns with a batch of
/// smaller products; about `most_s` seconds, or not at all.
void confirm_large_squares(cpu::CpuBackend& backend, const Operands& operands, Type type, int threads, double most_s,
                           std::vector<LeafProfile>& profiles);

}  // namespace heptad
