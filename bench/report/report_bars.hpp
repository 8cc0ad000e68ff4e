// Bars with a label before and a figure behind them: HTML rather than SVG, so that the text keeps its size on a phone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/report/report_record.hpp"

namespace heptad::cli {

struct Bar {
    std::string label, value = {};
    std::vector<std::pair<double, double>> parts = {};  // of the row, from 0 to 1
    const char* kind = "own";                           // or "other", "same": see kind_of
};

struct BarCard {
    std::string title, note = {};
    std::vector<Bar> bars = {};
    double rule = -1;  // where a line goes through all rows, if at least 0
};
std::string bar_card_html(const BarCard& card);

struct RatioRow {
    std::string label, value;
    double ratio = 1;
};
/// Bars to the left and to the right of 1, on a logarithmic scale.
BarCard ratio_card(const std::string& title, const std::vector<RatioRow>& rows, bool more_is_better);

/// What the stages of a run from file to file did, beside its whole time. Empty where the record is of no such run.
std::string stages_html(const Record& record);
/// When they did it: {traceEvents}. Throws Error(input) where there is no event to draw.
std::string timeline_html(const std::string& name, const Json& events);

}  // namespace heptad::cli
