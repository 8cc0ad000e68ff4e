// Curves over n: how many times as fast as the library above, how many times its error below, on one axis of n.
#pragma once

#include <string>
#include <vector>

#include "bench/report/report_record.hpp"

namespace heptad::cli {

/// A panel, and what stands above it beside its label: the file, where there are several.
struct Panel {
    const Series* series = nullptr;
    std::string file;
};

/// Panels of one label side by side on the same scales.
std::string panels_html(const std::vector<Panel>& panels);
/// What the marks mean.
std::string panels_legend(bool has_odd);

/// The rate over operations per byte, below what memory and library allow.
struct Roof {
    std::string type;
    double bytes_per_s = 0;              // of memory
    std::vector<const Record*> records;  // of that type
};
/// Empty where no library was measured.
std::string roofline_html(const Roof& roof);

}  // namespace heptad::cli
