// The table of `heptad bench gpu`.
#pragma once

#include <string>

#include "bench/suites/bench_product.hpp"

namespace heptad::cli {

std::string gpu_table_head();
std::string gpu_table_row(const BenchRecord& record);
/// "winograd+strassen, cublas-batched" of a plan as text; "classical, cublas" of one without levels.
std::string short_plan(const std::string& plan);

}  // namespace heptad::cli
