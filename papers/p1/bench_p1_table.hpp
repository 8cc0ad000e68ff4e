// The table of `heptad bench p1`.
#pragma once

#include <string>

#include "bench/suites/bench_product.hpp"

namespace heptad::cli {

std::string p1_table_head();
std::string p1_table_row(const BenchRecord& record);

}  // namespace heptad::cli
