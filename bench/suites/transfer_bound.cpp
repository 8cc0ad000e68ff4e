#include "bench/suites/transfer_bound.hpp"

#include <algorithm>

namespace heptad::cli {

double least_seconds(const TransferTimes& transfers, double product_s) {
    const double there = transfers.there_s, rest = std::max(0.0, 1 - there / (2 * product_s));
    return std::max({product_s, transfers.both_ways_s, there + transfers.back_s * rest * rest});
}

DeviceTimeline timeline_of(const StageTrace& trace) {
    DeviceTimeline line;
    for (const StageInterval& one : trace.intervals()) {
        if (one.stage == stage_name(Stage::upload)) {
            line.arrived_s = std::max(line.arrived_s, one.end_s);
        } else if (one.stage == stage_name(Stage::multiply)) {
            line.first_product_s = line.steps++ == 0 ? one.begin_s : std::min(line.first_product_s, one.begin_s);
            line.busy_s += one.end_s - one.begin_s;
            line.multiplied_s = std::max(line.multiplied_s, one.end_s);
        } else {
            line.fetched_s = std::max(line.fetched_s, one.end_s);
        }
    }
    return line;
}

}  // namespace heptad::cli
