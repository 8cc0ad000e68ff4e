// What `bench grade` found: a headline, and a table of words and figures.
#pragma once

#include <string>

#include "bench/report/report_record.hpp"

namespace heptad::cli {

/// "Grade A: 7 of 12 products"; "" without grades.
std::string grades_headline(const Json& grades);
/// "" without grades.
std::string grades_html(const Json& grades);

}  // namespace heptad::cli
