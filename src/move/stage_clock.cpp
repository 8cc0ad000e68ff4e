#include "move/stage_clock.hpp"

namespace heptad {

void StageClock::begin_step(const std::string& step) {
    const std::lock_guard lock(mutex_);
    step_ = step;
}

void StageClock::add(const std::string& stage, Clock::time_point begin, Clock::time_point end) {
    const std::lock_guard lock(mutex_);
    const std::string name = step_ + " " + stage;
    seconds_[name] += std::chrono::duration<double>(end - begin).count();
    if (keep_intervals_) {
        intervals_.push_back({name, std::chrono::duration<double>(begin - start_).count(),
                              std::chrono::duration<double>(end - start_).count()});
    }
}

std::map<std::string, double> StageClock::seconds() const {
    const std::lock_guard lock(mutex_);
    return seconds_;
}

std::vector<StageInterval> StageClock::intervals() const {
    const std::lock_guard lock(mutex_);
    return intervals_;
}

}  // namespace heptad
