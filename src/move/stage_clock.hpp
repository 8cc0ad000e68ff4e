// How long each stage of a rank worked, and when: seconds for the report, intervals for a trace.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/timing.hpp"

namespace heptad {

struct StageInterval {
    std::string stage;              // "multiply MM"
    double begin_s = 0, end_s = 0;  // since the clock was made
};

/// Any thread may use it at any time.
class StageClock {
public:
    explicit StageClock(bool keep_intervals) : keep_intervals_(keep_intervals) {}

    /// Stages from now on belong to this step: "distribute", "multiply", "collect". Between steps only.
    void begin_step(const std::string& step);
    /// Does the work on the stage's account.
    template <class Work>
    void time(const std::string& stage, Work&& work) {
        const Clock::time_point begin = Clock::now();
        work();
        add(stage, begin, Clock::now());
    }

    /// By "step stage".
    std::map<std::string, double> seconds() const;
    std::vector<StageInterval> intervals() const;

private:
    using Clock = heptad::Clock;
    void add(const std::string& stage, Clock::time_point begin, Clock::time_point end);

    const bool keep_intervals_;
    const Clock::time_point start_ = Clock::now();
    mutable std::mutex mutex_;
    std::string step_;
    std::map<std::string, double> seconds_;
    std::vector<StageInterval> intervals_;
};

}  // namespace heptad
