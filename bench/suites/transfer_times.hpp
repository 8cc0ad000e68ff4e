// The transfers of a product from host memory to host memory with nothing multiplied, by the way that such products
// take: A and B to the device, C back, and both at a time.
#pragma once

#include "base/matrix.hpp"
#include "bench/suites/bench_contest.hpp"
#include "move/stage_trace.hpp"

namespace heptad::cli {

struct TransferTimes {
    double there_s = 0, back_s = 0, both_ways_s = 0;
};

/// What C holds afterwards means nothing.
TransferTimes time_transfers(const Matrix& a, const Matrix& b, Matrix& c, int device, const ContestRules& rules);

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
