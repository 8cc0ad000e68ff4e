// When a device brought, multiplied and fetched the steps of a product from host memory, by its own clock.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "move/stage_trace.hpp"

namespace heptad {

class StepTimers {
public:
    /// Null: nothing is timed.
    StepTimers(StageTrace* trace, std::size_t steps, const cuda::Stream& first) : trace_(trace) {
        if (trace != nullptr) {
            for (auto& timers : timers_) {
                while (timers.size() < steps) {
                    timers.push_back(std::make_unique<cuda::Timer>(first.device()));
                }
            }
            origin_ = std::make_unique<cuda::Timer>(first.device());
            start_ = Clock::now();
            origin_->start(first.handle());
        }
    }
    /// What `work` enqueues on the stream.
    template <class Work>
    void time(Stage stage, std::size_t step, const cuda::Stream& stream, Work&& work) {
        cuda::Timer* const timer = trace_ != nullptr ? timers_[place(stage)][step].get() : nullptr;
        if (timer != nullptr) {
            timer->start(stream.handle());
        }
        work();
        if (timer != nullptr) {
            timer->stop(stream.handle());
        }
    }
    /// After all steps. A stage that had nothing to do in a step takes no time there.
    void tell() const {
        for (std::size_t i = 0; trace_ != nullptr && i < timers_.size(); ++i) {
            for (const auto& timer : timers_[i]) {
                const auto begin = start_ + duration(timer->seconds_after(*origin_));
                trace_->add(kTimed[i], "", begin, begin + duration(timer->seconds()), 0);
            }
        }
    }

private:
    static constexpr std::array kTimed{Stage::upload, Stage::multiply, Stage::download};
    static std::size_t place(Stage stage) { return stage == kTimed[0] ? 0 : stage == kTimed[1] ? 1 : 2; }
    static Clock::duration duration(double seconds) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

    StageTrace* trace_;
    std::array<std::vector<std::unique_ptr<cuda::Timer>>, kTimed.size()> timers_;
    std::unique_ptr<cuda::Timer> origin_;
    Clock::time_point start_;
};

}  // namespace heptad
