// Who runs when in a contest, and what is told of the times.
#include "bench/suites/bench_contest.hpp"
#include "base/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace heptad::cli {
namespace {

TEST(Contest, median_is_the_middle) {
    EXPECT_EQ(median({3}), 3);
    EXPECT_EQ(median({9, 1, 5}), 5);
    EXPECT_EQ(median({4, 1, 2, 9}), 3);
}

TEST(Contest, everyone_runs_every_round_and_the_last_round_keeps_the_order) {
    std::string order;
    const auto contestant = [&](char name) {
        return Contestant{std::string(1, name), [&order, name](std::int64_t) { order += name; }};
    };
    ContestRules rules;
    rules.rounds = 3;
    rules.sample_s = 0;
    rules.pause_s = 0;
    int poisoned = 0;
    std::string finished;
    ContestHooks hooks;
    hooks.poison = [&] { ++poisoned; };
    hooks.progress = [](int, int) {};
    hooks.after_last_sample = [&](std::size_t i) { finished += std::to_string(i); };
    const std::vector<Timing> timings = run_contest({contestant('a'), contestant('b'), contestant('c')}, rules, hooks);
    EXPECT_EQ(order.substr(order.size() - 9), "cabbcaabc");
    EXPECT_EQ(finished, "012");
    EXPECT_EQ(poisoned, 12);
    for (const Timing& timing : timings) {
        EXPECT_EQ(timing.samples_s.size(), 3U);
    }
}

TEST(Contest, hopeless_rival_drops_out_and_the_fastest_rival_never_does) {
    using std::chrono::milliseconds;
    std::string order;
    const auto contestant = [&](char name, int duration_ms, bool may_drop_out) {
        return Contestant{std::string(1, name),
                          [&order, name, duration_ms](std::int64_t) {
                              order += name;
                              std::this_thread::sleep_for(milliseconds(duration_ms));
                          },
                          may_drop_out};
    };
    ContestRules rules;
    rules.rounds = 3;
    rules.sample_s = 0;
    rules.pause_s = 0;
    rules.long_call_s = 0.001;
    ContestHooks hooks;
    hooks.poison = [] {};
    hooks.progress = [](int, int) {};
    hooks.after_last_sample = [](std::size_t) {};
    const std::vector<Timing> timings =
        run_contest({contestant('s', 120, true), contestant('f', 30, true), contestant('h', 2, false)}, rules, hooks);
    EXPECT_EQ(timings[0].samples_s.size(), 1U);
    EXPECT_EQ(timings[1].samples_s.size(), 3U);
    EXPECT_EQ(timings[2].samples_s.size(), 3U);
    EXPECT_EQ(order.substr(order.size() - 2), "fh");
}

TEST(Contest, a_drop_out_is_not_the_fastest_however_lucky_its_samples_were) {
    const auto timing = [](double median_s, std::size_t samples) {
        Timing one;
        one.median_s = median_s;
        one.samples_s.assign(samples, median_s);
        return one;
    };
    const std::vector<Timing> timings{timing(3, 5), timing(1, 2), timing(2, 5), timing(0.5, 5)};
    EXPECT_EQ(fastest(timings, 3), 2U);
    EXPECT_EQ(fastest(timings, 1), 0U);
    EXPECT_EQ(fastest(timings, 4), 3U);
}

TEST(Contest, times_told_by_contestants_decide_how_often_a_call_is_repeated) {
    double drift = 0;
    const auto contestant = [&](double call_s) {
        Contestant told;
        told.run_timed = [&drift, call_s](std::int64_t calls) {
            drift += 0.01;
            return static_cast<double>(calls) * call_s * (1 + drift);
        };
        return told;
    };
    ContestRules rules;
    rules.rounds = 3;
    rules.sample_s = 0.005;
    rules.repeat_below_s = 0.001;
    rules.pause_s = 0;
    ContestHooks hooks;
    hooks.poison = [] {};
    hooks.progress = [](int, int) {};
    hooks.after_last_sample = [](std::size_t) {};
    const std::vector<Timing> timings = run_contest({contestant(1e-5), contestant(2e-3)}, rules, hooks);
    EXPECT_GT(timings[0].calls_per_sample, 400);
    EXPECT_LE(timings[0].calls_per_sample, 500);
    EXPECT_EQ(timings[1].calls_per_sample, 1);
    for (const Timing& timing : timings) {
        EXPECT_LT(timing.min_s, timing.median_s);
        EXPECT_LT(timing.median_s, timing.max_s);
    }
    EXPECT_NEAR(timings[0].median_s, 1e-5, 3e-6);
    EXPECT_NEAR(timings[1].median_s, 2e-3, 6e-4);
}

}  // namespace
}  // namespace heptad::cli
