// How far the stages of a pipeline are, and who waits for whom: one mutex, one condition, a few counters.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace heptad {

class StageGate {
public:
    std::int64_t loaded = 0, uploaded = 0, multiplied = 0;  ///< steps
    std::int64_t downloaded = 0, written = 0;               ///< strips

    /// Waits until the condition holds. False: the run is over, by a failure or because it was asked to stop.
    template <class Condition>
    bool wait(Condition condition) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return over_ || condition(); });
        return !over_;
    }
    template <class Change>
    void change(Change what) {
        {
            const std::lock_guard lock(mutex_);
            what();
        }
        changed_.notify_all();
    }
    /// The first failure is kept, and everybody is sent home.
    void fail_with(std::exception_ptr failure) {
        change([&] {
            failure_ = failure_ ? failure_ : std::move(failure);
            over_ = true;
        });
    }
    void end() {
        change([&] { over_ = true; });
    }
    void rethrow() {
        const std::lock_guard lock(mutex_);
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::exception_ptr failure_;
};

}  // namespace heptad
