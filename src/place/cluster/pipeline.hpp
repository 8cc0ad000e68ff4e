// Stages of a rank that work at the same time, each in a thread, and hand buffers to one another through channels of
// few places. The first stage that fails ends all of them, and the main thread throws what it threw.
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

namespace heptad {

/// The first failure of any stage.
class StageFailure {
public:
    void record(std::exception_ptr failure);
    bool raised() const { return raised_; }
    /// Throws it, if there is one.
    void rethrow() const;

private:
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
};

}  // namespace heptad
