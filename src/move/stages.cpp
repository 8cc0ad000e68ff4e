#include "move/stages.hpp"

#include <algorithm>

#include "base/thread_pool.hpp"

namespace heptad {

void StageFailure::record(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!first_) {
        first_ = std::move(failure);
    }
    if (raised_.exchange(true)) {
        return;
    }
    cancel_.cancel();
    for (StageMonitor* monitor : monitors_) {
        monitor->change([] {});  // nobody is between looking at raised() and falling asleep
    }
}

void StageFailure::rethrow() const {
    const std::lock_guard lock(mutex_);
    if (first_) {
        std::rethrow_exception(first_);
    }
}

void StageFailure::give_up() const {
    std::exception_ptr failure;
    {
        const std::lock_guard lock(mutex_);
        failure = first_;
    }
    if (give_up_ && failure) {
        give_up_(failure);
    }
}

StageMonitor::StageMonitor(StageFailure& failure) : failure_(failure) {
    const std::lock_guard lock(failure_.mutex_);
    failure_.monitors_.push_back(this);
}

StageMonitor::~StageMonitor() {
    const std::lock_guard lock(failure_.mutex_);
    std::erase(failure_.monitors_, this);
}

Stages::~Stages() {
    if (!threads_.empty()) {  // left by an exception
        failure_.record(std::make_exception_ptr(StageStopped()));
        join({});
    }
}

void Stages::guarded(const std::function<void()>& work) noexcept {
    try {
        work();
    } catch (const StageStopped&) {
        // Another stage has failed and is the one to tell.
    } catch (...) {
        failure_.record(std::current_exception());
    }
}

void Stages::start(std::function<void()> stage) {
    threads_.reserve(threads_.size() + 1);  // before there is a thread that would have to be joined
    ended_.change([&] { ++running_; });
    const auto leave = [this] { ended_.change([&] { --running_; }); };
    try {
        threads_.push_back(start_thread([this, leave, work = std::move(stage)] {
            guarded(work);
            leave();
        }));
    } catch (...) {  // no thread: nobody is to wait for it
        leave();
        throw;
    }
}

bool Stages::try_start(std::function<void()> stage) {
    try {
        start(std::move(stage));
        return true;
    } catch (const Error&) {
        return false;
    }
}

void Stages::run_here_and_finish(const std::function<void()>& stage) {
    guarded(stage);
    join({});
    failure_.rethrow();
}

void Stages::look_around_and_finish(const std::function<void()>& look) {
    join(look);
    failure_.rethrow();
}

void Stages::join(const std::function<void()>& look) {
    {
        constexpr std::chrono::milliseconds kLook{20};
        std::unique_lock lock(ended_.mutex);
        const auto all_ended = [&] { return running_ == 0; };
        const auto over = [&] { return all_ended() || failure_.raised(); };
        while (look && !ended_.changed.wait_for(lock, kLook, over)) {
            lock.unlock();
            guarded(look);
            lock.lock();
        }
        ended_.changed.wait(lock, over);
        if (!ended_.changed.wait_for(lock, failure_.grace(), all_ended)) {
            lock.unlock();
            failure_.give_up();
        }
    }
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

}  // namespace heptad
