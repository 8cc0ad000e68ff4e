// The measured description of this machine for people: which leaf is used for what, and how fast.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plan/model/machine.hpp"

namespace heptad::cli {

/// Leaf of large products of each type, rates at the largest measured square, passes over memory.
std::string machine_summary(const Machine& machine);
nlohmann::ordered_json machine_summary_json(const Machine& machine);

}  // namespace heptad::cli
