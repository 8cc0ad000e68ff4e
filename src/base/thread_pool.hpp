// Dynamic tasks over all cores: workers and the caller take the next index until none is left.
// Cores of a virtual machine are not equally fast, so nothing is dealt out beforehand.
//
// Workers belong to a crew. shared_pool() gives out pools of one crew, whatever their numbers of threads: it grows to
// the largest number in use, and who has had nothing to do for some seconds ends. No worker exists before the first
// run() that wants one. Where the system does not give as many threads as wanted, fewer do the work, down to the caller
// alone. In the child of a fork a crew is made anew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "base/cores.hpp"

namespace heptad {

class ThreadPool {
public:
    /// With a crew of its own, for tasks that wait and so must not keep others from working. `threads` counts the
    /// caller: threads - 1 workers are started (on first use).
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return threads_; }

    /// Runs task(i) for 0 <= i < count on at most threads() threads and waits for all of them. The first exception is
    /// rethrown here after every started task has ended. May be called from many threads at once; a call from inside a
    /// task runs on the calling thread alone.
    ///
    /// Workers run on the processors of the calling thread where those are enough, otherwise on those of the process;
    /// which they are is looked up again every few milliseconds.
    void run(std::int64_t count, const std::function<void(std::int64_t)>& task);

private:
    class Crew;
    class CrewPlace;
    struct OfSharedCrew {};
    ThreadPool(int threads, OfSharedCrew);
    friend ThreadPool& shared_pool(int threads);

    static CrewPlace shared_crew_;
    int threads_;
    std::unique_ptr<CrewPlace> own_;  // nullptr: the shared crew
    CrewPlace& crew_;
};

/// A pool of that many threads of the shared crew; the same object for everybody who asks for as many.
ThreadPool& shared_pool(int threads);

/// A thread for a stage of a pipeline, or Error(resource) if the system has none to give. Signals of the process are
/// left to the host's own threads, except for those that a thread causes itself.
std::thread start_thread(std::function<void()> work);

/// How many of `threads` threads the system would give now: started and ended again. For libraries that end the process
/// where one of theirs cannot be started.
int startable_threads(int threads);

}  // namespace heptad
