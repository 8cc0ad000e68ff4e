// A plot of ratios over n, as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heptad::cli {

struct PlotLine {
    std::string label;
    std::vector<std::pair<double, double>> points;  // n, at least 1, and the ratio; by n
};

/// One line each, over a logarithmic axis of n, with a rule where both are equally fast.
std::string ratio_lines_svg(const std::vector<PlotLine>& lines);

}  // namespace heptad::cli
