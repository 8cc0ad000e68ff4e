// Waiting for threads that spin, on a made-up clock; and that the real one runs.
#include "base/idle_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace heptad {
namespace {

/// A process whose threads are busy until a point in time, and a little afterwards.
struct MadeUpProcess {
    double busy_until_s, busy_threads, idle_share = 0;
    double now_s = 0;
    IdleRules rules(double most_s) {
        return {most_s, [this] { return busy_threads * std::min(now_s, busy_until_s) + idle_share * now_s; },
                [this](double seconds) { now_s += seconds; }};
    }
};

TEST(idle_threads, are_waited_for_as_long_as_they_spin_and_hardly_longer) {
    for (const double busy_until_s : {0.0, 0.012, 0.064, 0.3}) {
        for (const double threads : {1.0, 15.0}) {
            MadeUpProcess process{busy_until_s, threads};
            EXPECT_TRUE(wait_until_idle(process.rules(0.5)));
            EXPECT_GE(process.now_s, busy_until_s);
            EXPECT_LT(process.now_s, busy_until_s + 0.02);
        }
    }
}

TEST(idle_threads, that_do_a_little_now_and_then_count_as_idle) {
    MadeUpProcess process{0, 0, 0.05};
    EXPECT_TRUE(wait_until_idle(process.rules(0.5)));
}

TEST(idle_threads, that_never_rest_are_not_waited_for_for_ever) {
    MadeUpProcess process{1e9, 1};
    EXPECT_FALSE(wait_until_idle(process.rules(0.5)));
    EXPECT_GE(process.now_s, 0.5);
    EXPECT_LT(process.now_s, 0.6);
    EXPECT_FALSE(wait_until_idle(process.rules(0)));
}

TEST(idle_threads, are_seen_on_the_clock_of_this_process) {
    const double before_s = process_cpu_s();
    double x = 1;
    while (process_cpu_s() <= before_s) {
        x = x * 1.0000001;
    }
    EXPECT_GT(process_cpu_s(), before_s);
    EXPECT_GT(x, 0);
    EXPECT_TRUE(wait_until_idle({1e3}));  // nothing else runs here
}

}  // namespace
}  // namespace heptad
