// How far a product of bit matrices is: counts the work of all threads, reports it from the calling thread, and stops
// everybody when the product is cancelled.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include <heptad/heptad.hpp>

namespace heptad::bits {

struct BitHooks {
    const CancelToken* cancel = nullptr;  // may be null
    ProgressCallback progress = {};       // may be empty
};

class WorkMeter {
public:
    /// `total` in the unit of advance(); the hooks must outlive the meter.
    WorkMeter(const BitHooks& hooks, double total) : hooks_(hooks), total_(total) {}

    /// Throws Error(cancelled).
    void stop_if_cancelled() const {
        if (hooks_.cancel != nullptr && hooks_.cancel->cancelled()) {
            throw Error(ErrorCode::cancelled, "the product was cancelled");
        }
    }
    /// May be called from any thread; the callback only sees the thread that made the meter.
    void advance(double work) {
        const double done = done_.fetch_add(work) + work;
        if (hooks_.progress && std::this_thread::get_id() == caller_) {
            hooks_.progress({total_ > 0 ? std::min(1.0, done / total_) : 1.0, "multiply"});
        }
    }

private:
    const BitHooks& hooks_;
    double total_;
    std::atomic<double> done_{0};
    std::thread::id caller_ = std::this_thread::get_id();
};

}  // namespace heptad::bits
