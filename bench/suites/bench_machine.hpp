// The head of a result file: the machine, its libraries and what made the numbers.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace heptad::cli {

/// {cpu, cores, device, libraries, commit, command, date}; with an NVIDIA device its name, driver, CUDA and cuBLAS.
nlohmann::ordered_json machine_facts(const std::string& command, std::optional<int> cuda_device = {});
/// "Neoverse-V1, 2 cores; openblas 0.3.21 (neoversev1), blis 0.9.0 (generic)": a line above the table.
std::string machine_line();
/// "NVIDIA H200, 139.80 GiB; driver 13.0, CUDA 13.0, cuBLAS 13.1.0": the same of a device.
std::string device_line(int cuda_device);

}  // namespace heptad::cli
