// How far a product is: counts the work of all threads, reports it from the calling thread, and stops everybody when
// the product is cancelled.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include <heptad/heptad.hpp>

namespace heptad {

struct RunHooks {
    const CancelToken* cancel = nullptr;  // may be null
    ProgressCallback progress = {};       // may be empty
    /// May be empty. Called before C is first written where its old values count, perhaps more than once: an error that
    /// comes earlier, or out of it, leaves C as it was.
    std::function<void()> before_change = {};
    /// How much of the digit that levels may lose is left to this product: less where several make up one result.
    double error_share = 1;

    void result_changes(bool old_values_count) const {
        if (old_values_count && before_change) {
            before_change();
        }
    }
};

inline void stop_if_cancelled(const RunHooks& hooks, const char* sentence) {
    if (hooks.cancel != nullptr && hooks.cancel->cancelled()) {
        throw Error(ErrorCode::cancelled, sentence);
    }
}

class WorkMeter {
public:
    /// `total` in the unit of advance(); the hooks must outlive the meter. `cancelled`: what it says then.
    WorkMeter(const RunHooks& hooks, double total, const char* cancelled = "the product was cancelled")
        : hooks_(hooks), total_(total), cancelled_(cancelled) {}

    /// Throws Error(cancelled).
    void stop_if_cancelled() const { heptad::stop_if_cancelled(hooks_, cancelled_); }
    void result_changes(bool old_values_count) const { hooks_.result_changes(old_values_count); }
    /// May be called from any thread; the callback only sees the thread that made the meter.
    void advance(double work) {
        const double done = done_.fetch_add(work) + work;
        if (hooks_.progress && std::this_thread::get_id() == caller_) {
            hooks_.progress({total_ > 0 ? std::min(1.0, done / total_) : 1.0, "multiply"});
        }
    }

private:
    const RunHooks& hooks_;
    double total_;
    const char* cancelled_;
    std::atomic<double> done_{0};
    std::thread::id caller_ = std::this_thread::get_id();
};

}  // namespace heptad
