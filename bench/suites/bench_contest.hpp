// Times several ways to do the same thing, side by side: one warm-up each, then rounds in which every contestant runs
// once, the first place going around (the last round is in the order given); the median of the rounds counts. Before
// every sample the output is poisoned, and a pause lets the threads of the one before fall asleep
// (base/idle_threads.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace heptad::cli {

struct Contestant {
    std::string name;
    std::function<void(std::int64_t calls)> run;  // does it that many times
    bool may_drop_out = false;                    // see ContestRules::hopeless
    /// Does it that many times and tells how long that took; empty: `run` and the clock.
    std::function<double(std::int64_t calls)> run_timed = {};
};

struct ContestRules {
    int rounds = 5;
    double sample_s = 0.02;  // a sample repeats the call until it is at least about that long
    double repeat_below_s = std::numeric_limits<double>::infinity();  // a longer call is a sample by itself
    double pause_s = 0.06;  // at least, and until nobody's threads are busy any more; 0: none
    /// Where a call is longer than `long_call_s`, one that may drop out and was slower than `hopeless` times the
    /// fastest of those that may is not run again: it cannot become the vendor's best time, and hours are saved.
    double long_call_s = 4;
    double hopeless = 1.25;
};

struct Timing {
    std::string name;
    double median_s = 0, min_s = 0, max_s = 0;  // of one call
    std::vector<double> samples_s;
    std::int64_t calls_per_sample = 1;
};

struct ContestHooks {
    std::function<void()> poison;                                   // before every sample
    std::function<void(std::size_t contestant)> after_last_sample;  // its output is still there; not for a drop-out
    std::function<void(int round, int rounds)> progress;            // and where a run may be stopped by throwing
};

std::vector<Timing> run_contest(const std::vector<Contestant>& contestants, const ContestRules& rules,
                                const ContestHooks& hooks);

/// Which of the first `count` has the least median, drop-outs aside: their few samples may have been lucky, and their
/// output was not looked at.
std::size_t fastest(const std::vector<Timing>& timings, std::size_t count);

}  // namespace heptad::cli
