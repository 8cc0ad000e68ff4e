// What `heptad info` says of CUDA.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace heptad::cli {

/// Versions and one line per device, or why none can be used.
std::string cuda_text();
/// {built, available, problem, driver, runtime, cublas, cublas_path, devices}
nlohmann::ordered_json cuda_json();

}  // namespace heptad::cli
