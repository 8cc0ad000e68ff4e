// One HTML page of tables and plots of result files ({machine, results}) and timelines ({traceEvents}); needs nothing
// else to be looked at.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace heptad::cli {

struct ReportSource {
    std::string name;  // as shown
    nlohmann::json content;
};

/// Throws Error(input) for what is neither a result file nor a timeline.
std::string report_page(const std::vector<ReportSource>& sources);

}  // namespace heptad::cli
