#include "base/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heptad {
namespace {

thread_local bool inside_task = false;

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

/// Looks for about a hundred microseconds: going to sleep and being woken costs about half of that, and in a product
/// the next pass, or the last task of this one, comes sooner as a rule.
template <class Condition>
bool spin_until(const Condition& holds) {
    for (int spin = 0; spin < 4000; ++spin) {
        if (holds()) {
            return true;
        }
        relax();
    }
    return false;
}

/// One call of run(). The caller and any number of workers take indices from `next`.
struct Job {
    const std::function<void(std::int64_t)>* task = nullptr;
    std::int64_t count = 0;
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> unfinished{0};
    std::atomic<bool> failed{false};
    std::exception_ptr first_error;
    std::mutex mutex;
    std::condition_variable finished;

    void work() {
        inside_task = true;
        std::int64_t done = 0;
        for (std::int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
            if (!failed.load(std::memory_order_relaxed)) {
                try {
                    (*task)(i);
                } catch (...) {
                    const std::lock_guard lock(mutex);
                    if (!failed.exchange(true)) {
                        first_error = std::current_exception();
                    }
                }
            }
            ++done;
        }
        inside_task = false;
        if (done > 0 && unfinished.fetch_sub(done) == done) {
            const std::lock_guard lock(mutex);
            finished.notify_all();
        }
    }
};

}  // namespace

struct ThreadPool::State {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::shared_ptr<Job>> jobs;
    std::atomic<int> pending{0};  // jobs queued: what a spinning worker looks at
    bool stopping = false;
    std::vector<std::thread> workers;

    void worker() {
        for (;;) {
            spin_until([&] { return pending.load(std::memory_order_relaxed) != 0; });
            std::shared_ptr<Job> job;
            {
                std::unique_lock lock(mutex);
                wake.wait(lock, [&] { return stopping || !jobs.empty(); });
                if (stopping) {
                    return;
                }
                job = jobs.front();
                if (job->next.load(std::memory_order_relaxed) >= job->count) {
                    jobs.pop_front();
                    pending.fetch_sub(1, std::memory_order_relaxed);
                    continue;
                }
            }
            job->work();
        }
    }
};

ThreadPool::ThreadPool(int threads) : threads_(std::max(1, threads)), state_(std::make_unique<State>()) {}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->wake.notify_all();
    for (auto& worker : state_->workers) {
        worker.join();
    }
}

void ThreadPool::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
    if (threads_ == 1 || count <= 1 || inside_task) {
        for (std::int64_t i = 0; i < count; ++i) {
            task(i);
        }
        return;
    }
    auto job = std::make_shared<Job>();
    job->task = &task;
    job->count = count;
    job->unfinished = count;
    {
        const std::lock_guard lock(state_->mutex);
        while (static_cast<int>(state_->workers.size()) < threads_ - 1) {
            state_->workers.emplace_back([state = state_.get()] { state->worker(); });
        }
        state_->jobs.push_back(job);
        state_->pending.fetch_add(1, std::memory_order_relaxed);
    }
    state_->wake.notify_all();
    job->work();
    if (!spin_until([&] { return job->unfinished.load(std::memory_order_acquire) == 0; })) {
        std::unique_lock lock(job->mutex);
        job->finished.wait(lock, [&] { return job->unfinished.load() == 0; });
    }
    {
        const std::lock_guard lock(state_->mutex);
        const auto found = std::find(state_->jobs.begin(), state_->jobs.end(), job);
        if (found != state_->jobs.end()) {
            state_->jobs.erase(found);
            state_->pending.fetch_sub(1, std::memory_order_relaxed);
        }
    }
    if (job->first_error) {
        std::rethrow_exception(job->first_error);
    }
}

int available_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    // cgroup v2: "quota period" or "max period"
    std::ifstream limit("/sys/fs/cgroup/cpu.max");
    std::string quota;
    double period = 0;
    if (limit >> quota >> period && quota != "max" && period > 0) {
        cores = std::min(cores, static_cast<int>(std::stod(quota) / period + 0.999));
    }
    return std::max(1, cores);
}

ThreadPool& shared_pool(int threads) {
    static std::mutex mutex;
    static std::map<int, std::unique_ptr<ThreadPool>> pools;
    const std::lock_guard lock(mutex);
    auto& pool = pools[std::max(1, threads)];
    if (!pool) {
        pool = std::make_unique<ThreadPool>(threads);
    }
    return *pool;
}

}  // namespace heptad
