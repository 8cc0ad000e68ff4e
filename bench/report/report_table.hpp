// All records of a result file as a table in units for people; a script sorts and filters it.
#pragma once

#include <string>
#include <vector>

#include "bench/report/report_record.hpp"

namespace heptad::cli {

std::string table_html(const std::vector<Record>& records);

}  // namespace heptad::cli
