// The head of a result file: the machine, its libraries and what made the numbers.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench_product.hpp"

namespace heptad::cli {

/// {cpu, cores, device, libraries, commit, command, date}
nlohmann::ordered_json machine_facts(const std::string& command);
/// "Neoverse-V1, 2 cores; openblas 0.3.21 (neoversev1), blis 0.9.0 (generic)": a line above the table.
std::string machine_line();

/// Writes {machine, results} to `path` in one step.
void write_result_file(const std::string& path, const std::string& command, const std::vector<BenchRecord>& records);

}  // namespace heptad::cli
