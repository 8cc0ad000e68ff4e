// This machine for people: which leaf is used for what and how fast, as measured, and what `heptad info` says of CUDA.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plan/model/machine.hpp"

namespace heptad::cli {

/// Leaf of large products of each type, and the rates of all leaves at one size.
std::string leaves_text(const Machine& machine);
/// The same, passes over memory, and every plan that was measured: a screen or two.
std::string machine_summary(const Machine& machine);
nlohmann::ordered_json machine_summary_json(const Machine& machine);

/// Versions and one line per device, or why none can be used.
std::string cuda_text();
/// {built, available, problem, driver, runtime, cublas, cublas_path, devices}
nlohmann::ordered_json cuda_json();

}  // namespace heptad::cli
