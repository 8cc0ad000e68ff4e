// What a product from host memory to host memory could take at best, and where the time of one went.
#pragma once

#include "move/stage_trace.hpp"

namespace heptad::cli {

struct TransferTimes {
    double there_s = 0, back_s = 0, both_ways_s = 0;
};

/// No order of transfers and products is done sooner, however finely it is cut (docs/devices.md has the proof). Each
/// way of the link counts as if the other one were silent.
double least_seconds(const TransferTimes& transfers, double product_s);

/// How the device spent the steps of a product.
struct DeviceTimeline {
    int steps = 0;
    double first_product_s = 0, arrived_s = 0, busy_s = 0, multiplied_s = 0, fetched_s = 0;  // since it began
    double idle_s() const { return multiplied_s - first_product_s - busy_s; }                // between products
};
DeviceTimeline timeline_of(const StageTrace& trace);

}  // namespace heptad::cli
