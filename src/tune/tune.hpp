// Measures this machine for the planner (`heptad tune`).
#pragma once

#include <functional>
#include <string>

#include "plan/model/machine.hpp"
#include "tune/load_watch.hpp"

namespace heptad {

/// fraction of the work done (0 to 1) and what is being measured.
using TuneProgress = std::function<void(double fraction, const std::string& stage)>;

/// Measures every leaf on squares and thin shapes in f32, f64 and i32, the passes over memory and the cost of a call,
/// and whole plans beside the library. Takes about budget_s seconds, a third more at most: repetitions and, in need,
/// the largest shapes are left out. Beside other programs it takes up to twice that, and what `watch` does not trust is
/// left as it was before: as in the file, or built in. Throws Error(usage) for threads < 1 and whatever progress()
/// throws.
Machine measure_machine(int threads, double budget_s = 60, const TuneProgress& progress = {},
                        LoadWatch* watch = nullptr);

/// Measures the device (about two minutes) and keeps the result for this user. `note` is called with what comes next.
/// `only_bits`: the splits of bit products alone (a few seconds), beside what was known before. What `watch` does not
/// trust is left as it was before.
Machine tune_device(int device, bool only_bits, const std::function<void(const std::string&)>& note, LoadWatch& watch);

}  // namespace heptad
