// The least time of a product from host memory, and the timeline of one.
#include "bench/suites/transfer_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace heptad::cli {
namespace {

TEST(transfer_bound, is_what_the_slowest_takes_or_what_the_order_costs) {
    EXPECT_NEAR(least_seconds({44, 22, 44}, 41), 44 + 22 * 0.4634 * 0.4634, 0.01);
    EXPECT_NEAR(least_seconds({87, 43.5, 87}, 91), 98.85, 0.01);
    EXPECT_EQ(least_seconds({10, 5, 12}, 400), 400) << "the product";
    EXPECT_EQ(least_seconds({100, 50, 120}, 10), 120) << "the link, both ways at once";
}

/// Grows in steps that cost nothing, as fine as wanted: corners of the last part of k after whole parts of it.
double seconds_by_corners(double there_s, double back_s, double product_s, double last_part, int steps) {
    double arrived = there_s * (1 - last_part), done = 0, back = 0;
    for (int i = 0; i < steps; ++i) {  // the whole parts of k, as they arrive
        done = std::max(done, arrived * (i + 1) / steps) + product_s * (1 - last_part) / steps;
    }
    for (int i = 0; i < steps; ++i) {
        const double side = (i + 1.0) / steps, before = static_cast<double>(i) / steps;
        arrived += there_s * last_part / steps;
        done = std::max(done, arrived) + product_s * last_part * (side * side - before * before);
        back = std::max(back, done) + back_s * (side * side - before * before);
    }
    return back;
}

TEST(transfer_bound, no_part_of_k_that_grows_by_corners_is_faster) {
    for (const double product_s : {25.0, 41.0, 60.0, 91.0}) {
        for (double last_part = 0.05; last_part <= 1; last_part += 0.05) {
            const double seconds = seconds_by_corners(44, 22, product_s, last_part, 2000);
            EXPECT_GE(seconds, least_seconds({44, 22, 44}, product_s) * 0.999) << product_s << ' ' << last_part;
        }
    }
    EXPECT_LE(seconds_by_corners(44, 22, 41, 0.5, 2000), 1.1 * least_seconds({44, 22, 44}, 41));
}

TEST(transfer_bound, timeline_counts_what_lies_between_products) {
    StageTrace trace(true);
    const Clock::time_point start = Clock::now();
    const auto at = [&](int milliseconds) { return start + std::chrono::milliseconds(milliseconds); };
    trace.add(Stage::upload, "", at(0), at(10), 0);
    trace.add(Stage::multiply, "", at(10), at(14), 0);
    trace.add(Stage::upload, "", at(10), at(20), 0);
    trace.add(Stage::multiply, "", at(20), at(29), 0);
    trace.add(Stage::download, "", at(29), at(31), 0);
    const DeviceTimeline line = timeline_of(trace);
    EXPECT_EQ(line.steps, 2);
    EXPECT_NEAR(line.busy_s, 0.013, 1e-9);
    EXPECT_NEAR(line.idle_s(), 0.006, 1e-9);
    EXPECT_NEAR(line.fetched_s - line.multiplied_s, 0.002, 1e-9);
    EXPECT_NEAR(line.multiplied_s - line.arrived_s, 0.009, 1e-9);
}

}  // namespace
}  // namespace heptad::cli
