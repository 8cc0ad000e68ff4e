// Measures an NVIDIA device for the planner (`heptad tune --device cuda`).
#pragma once

#include <functional>
#include <string>

#include "plan/model/machine.hpp"
#include "tune/load_watch.hpp"

namespace heptad {

/// Measures the device (about two minutes) and keeps the result for this user. `note` is called with what comes next.
/// `only_bits`: the splits of bit products alone (a few seconds), beside what was known before. What `watch` does not
/// trust is left as it was before.
Machine tune_device(int device, bool only_bits, const std::function<void(const std::string&)>& note, LoadWatch& watch);

}  // namespace heptad
