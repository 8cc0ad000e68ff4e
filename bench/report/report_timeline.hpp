// Pictures of `heptad report`: a timeline of the stages of a pipeline, and bars of ratios, as SVG.
#pragma once

#include <string>
#include <vector>

namespace heptad::cli {

struct TimelineBar {
    std::string stage, what;
    double from_s = 0, length_s = 0;
};

/// One row for each stage, in the order of their first bars. Bars too narrow to be seen are joined with their
/// neighbours.
std::string timeline_svg(const std::vector<TimelineBar>& bars);

struct RatioBar {
    std::string label;
    double ratio = 0;
};
/// Horizontal bars with a line at 1.
std::string ratios_svg(const std::vector<RatioBar>& bars);

/// For text inside of HTML and SVG.
std::string html_text(const std::string& text);

}  // namespace heptad::cli
