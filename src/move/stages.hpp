// The engine of everything that overlaps: stages that work at the same time, each in a thread, and hand work to one
// another through channels of few places, or wait until another one is far enough. The first stage that fails ends all
// of them, and the main thread throws what it threw. A stage deep in a product is cancelled; one that does not heed
// that for long is not waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad {

class StageMonitor;

/// Ends a stage because the run is over.
struct StageStopped {};

/// The end of a run: the first failure of any stage, or that nobody is needed any more.
class StageFailure {
public:
    /// Told the failure by the main thread where a stage goes on for longer than `grace` after it, as one in the middle
    /// of a library's product does. Should not return: the threads cannot be left behind otherwise.
    using GiveUp = std::function<void(const std::exception_ptr& failure)>;

    explicit StageFailure(GiveUp give_up = {}, std::chrono::milliseconds grace = std::chrono::seconds(10))
        : give_up_(std::move(give_up)), grace_(grace) {}

    /// Keeps the first failure, and sends home everybody who waits.
    void record(std::exception_ptr failure);
    /// Sends them home though nothing failed.
    void end() { record(nullptr); }
    bool raised() const { return raised_; }
    /// Throws StageStopped once the run is over.
    void go_on() const {
        if (raised_) {
            throw StageStopped();
        }
    }
    /// Throws the failure, if there is one.
    void rethrow() const;
    /// Set with the first failure, for products that are under way.
    const CancelToken& cancel() const { return cancel_; }
    std::chrono::milliseconds grace() const { return grace_; }
    void give_up() const;

private:
    friend class StageMonitor;
    const GiveUp give_up_;
    const std::chrono::milliseconds grace_;
    const CancelToken cancel_;
    mutable std::mutex mutex_;
    std::exception_ptr first_;
    std::vector<StageMonitor*> monitors_;
    std::atomic<bool> raised_{false};
};

/// What stages wait at: a mutex for what it guards, and a condition that the end of the run changes too.
class StageMonitor {
public:
    explicit StageMonitor(StageFailure& failure);
    ~StageMonitor();
    StageMonitor(const StageMonitor&) = delete;
    StageMonitor& operator=(const StageMonitor&) = delete;

    /// Throws StageStopped once the run is over.
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready&& ready) {
        changed.wait(lock, [&] { return failure_.raised() || ready(); });
        failure_.go_on();
    }
    template <class Change>
    void change(Change&& what) {
        {
            const std::lock_guard lock(mutex);
            what();
        }
        changed.notify_all();
    }

    std::mutex mutex;
    std::condition_variable changed;

private:
    StageFailure& failure_;
};

/// How many steps a stage has done. Counts never fall, so that who waits for several waits for one after the other.
class StepCount {
public:
    explicit StepCount(StageFailure& failure) : monitor_(failure) {}

    void add(std::int64_t steps = 1) {
        monitor_.change([&] { done_ += steps; });
    }
    /// Throws StageStopped once the run is over.
    void wait_for(std::int64_t steps) {
        std::unique_lock lock(monitor_.mutex);
        monitor_.wait(lock, [&] { return done_ >= steps; });
    }
    std::int64_t done() {
        const std::lock_guard lock(monitor_.mutex);
        return done_;
    }

private:
    StageMonitor monitor_;
    std::int64_t done_ = 0;
};

template <class Item>
class Channel {
public:
    explicit Channel(StageFailure& failure, std::size_t places = std::numeric_limits<std::size_t>::max())
        : monitor_(failure), places_(places) {}

    /// Waits for a place. Throws StageStopped once the run is over.
    void push(Item item) {
        {
            std::unique_lock lock(monitor_.mutex);
            monitor_.wait(lock, [&] { return items_.size() < places_; });
            items_.push_back(std::move(item));
        }
        monitor_.changed.notify_all();
    }
    /// Nothing more will be pushed.
    void close() {
        monitor_.change([&] { closed_ = true; });
    }
    /// Waits for an item; nothing after the last one of a closed channel. Throws StageStopped once the run is over.
    std::optional<Item> next() {
        std::optional<Item> item;
        {
            std::unique_lock lock(monitor_.mutex);
            monitor_.wait(lock, [&] { return closed_ || !items_.empty(); });
            if (!items_.empty()) {
                item = std::move(items_.front());
                items_.pop_front();
            }
        }
        monitor_.changed.notify_all();
        return item;
    }
    /// The same where both sides know the number of items, and nobody closes.
    Item pop() { return std::move(*next()); }

private:
    StageMonitor monitor_;
    const std::size_t places_;
    std::deque<Item> items_;
    bool closed_ = false;
};

/// The threads of one step. Joined at the end of the scope; where that is left by an exception, the stages end first.
class Stages {
public:
    explicit Stages(StageFailure& failure) : failure_(failure), ended_(failure) {}
    ~Stages();
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;

    /// Throws Error(resource) where the system has no thread for it.
    void start(std::function<void()> stage);
    /// False: it has none, and the stage's work is the caller's.
    bool try_start(std::function<void()> stage);
    std::size_t started() const { return threads_.size(); }
    /// Runs a stage in this thread, then waits for the others and throws what any of them threw.
    void run_here_and_finish(const std::function<void()>& stage);
    /// The same while this thread looks around now and then, for what nobody is notified of.
    void look_around_and_finish(const std::function<void()>& look);

private:
    void guarded(const std::function<void()>& work) noexcept;
    void join(const std::function<void()>& look);
    StageFailure& failure_;
    std::vector<std::thread> threads_;
    StageMonitor ended_;
    std::size_t running_ = 0;
};

}  // namespace heptad
