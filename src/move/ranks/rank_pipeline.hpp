// Stages of a rank that work at the same time, each in a thread, and hand buffers to one another through channels of
// few places. The first stage that fails ends all of them, and the main thread throws what it threw. A stage deep in a
// product is cancelled; one that does not heed that for long is not waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad {

/// The first failure of any stage.
class StageFailure {
public:
    /// Told the failure by the main thread where a stage goes on for longer than `grace` after it, as one in the middle
    /// of a library's product does. Should not return: the threads cannot be left behind otherwise.
    using GiveUp = std::function<void(const std::exception_ptr& failure)>;

    explicit StageFailure(GiveUp give_up = {}, std::chrono::milliseconds grace = std::chrono::seconds(10))
        : give_up_(std::move(give_up)), grace_(grace) {}

    void record(std::exception_ptr failure);
    bool raised() const { return raised_; }
    /// Throws it, if there is one.
    void rethrow() const;
    /// Set with the first failure, for products that are under way.
    const CancelToken& cancel() const { return cancel_; }
    std::chrono::milliseconds grace() const { return grace_; }
    void give_up() const;

private:
    const GiveUp give_up_;
    const std::chrono::milliseconds grace_;
    const CancelToken cancel_;
    mutable std::mutex mutex_;
    std::exception_ptr first_;
    std::atomic<bool> raised_{false};
};

/// Ends a stage because another one failed.
struct StageStopped {};

template <class Item>
class Channel {
public:
    Channel(const StageFailure& failure, std::size_t places) : failure_(failure), places_(places) {}

    /// Waits for a place. Throws StageStopped once a stage failed.
    void push(Item item) {
        std::unique_lock lock(mutex_);
        wait(lock, [&] { return items_.size() < places_; });
        items_.push_back(std::move(item));
        changed_.notify_all();
    }
    /// Waits for an item; the number of items is known to both sides. Throws StageStopped once a stage failed.
    Item pop() {
        std::unique_lock lock(mutex_);
        wait(lock, [&] { return !items_.empty(); });
        Item item = std::move(items_.front());
        items_.pop_front();
        changed_.notify_all();
        return item;
    }

private:
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready&& ready) {
        // Failures are told by nobody's notification, so they are looked for.
        constexpr std::chrono::milliseconds kLook{20};
        while (!ready()) {
            if (failure_.raised()) {
                throw StageStopped();
            }
            changed_.wait_for(lock, kLook);
        }
    }

    const StageFailure& failure_;
    const std::size_t places_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
};

/// The threads of one step. Joined at the end of the scope; where that is left by an exception, the stages end first.
class Stages {
public:
    explicit Stages(StageFailure& failure) : failure_(failure) {}
    ~Stages();
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;

    void start(std::function<void()> stage);
    /// Runs a stage in this thread, then waits for the others and throws what any of them threw.
    void run_here_and_finish(const std::function<void()>& stage);

private:
    void join();
    StageFailure& failure_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable ended_;
    std::size_t running_ = 0;
};

}  // namespace heptad
