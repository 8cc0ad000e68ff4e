// Dynamic tasks over all cores: workers and the caller take the next index until none is left.
// Cores of a virtual machine are not equally fast, so nothing is dealt out beforehand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace heptad {

class ThreadPool {
public:
    /// `threads` counts the caller: threads - 1 workers are started (on first use).
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return threads_; }

    /// Runs task(i) for 0 <= i < count on at most threads() threads and waits for all of them. The first exception is
    /// rethrown here after every started task has ended. May be called from many threads at once; a call from inside a
    /// task runs on the calling thread alone.
    void run(std::int64_t count, const std::function<void(std::int64_t)>& task);

private:
    struct State;
    int threads_;
    std::unique_ptr<State> state_;
};

/// Cores this process may run on (affinity and cgroup limits respected), at least 1.
int available_cores();

/// The pool shared by everybody who asks for that many threads.
ThreadPool& shared_pool(int threads);

}  // namespace heptad
