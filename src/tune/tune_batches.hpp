// What a leaf costs among many, as below levels, measured in rounds with the leaf alone: the clock of a virtual machine
// drifts by a third within seconds.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/cpu_backend.hpp"
#include "plan/model/machine.hpp"
#include "tune/tune_timing.hpp"

namespace heptad {

/// The squares of the measurement end here; thin shapes reach further, to kLongest.
constexpr std::int64_t kLargest = 2048;
/// The largest square that whole plans are measured on: libraries still get faster beyond kLargest.
constexpr std::int64_t kLongest = 4096;

/// The size that others are compared with.
constexpr std::int64_t kTypical = 1024;

/// Seconds of the square of that size; infinity if it was not measured.
double sample_at(const std::vector<LeafSample>& samples, std::int64_t size);

/// The leaf on our own threads that is the fastest of a type on that square; nullptr if none was measured there.
const LeafProfile* fastest_on_our_threads(const std::vector<LeafProfile>& profiles, Type type, std::int64_t size);

/// Fills in_batches of the leaves of `type` on our own threads, except those far behind, in about `most_s` seconds.
void measure_batches(cpu::CpuBackend& backend, const Operands& operands, Type type, int threads, double most_s,
                     std::vector<LeafProfile>& profiles);

}  // namespace heptad
