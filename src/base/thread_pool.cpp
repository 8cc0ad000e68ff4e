#include "base/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

/// Looks for a while: going to sleep and being woken takes tens of microseconds, and in a product the next pass, or the
/// last task of this one, comes sooner as a rule.
template <class Condition>
bool spin_until(const Condition& holds) {
    constexpr std::chrono::microseconds kPatience{150};
    const auto start = std::chrono::steady_clock::now();
    do {
        for (int i = 0; i < 64; ++i) {
            if (holds()) {
                return true;
            }
            relax();
        }
    } while (std::chrono::steady_clock::now() - start < kPatience);
    return false;
}

/// The processors that the process as a whole may use. The calling thread may be bound to one of them, and a worker
/// that inherited that would share it for ever.
cpu_set_t process_cpus() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (sched_getaffinity(getpid(), sizeof cpus, &cpus) != 0) {
        CPU_ZERO(&cpus);
    }
    return cpus;
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
    struct Worker {
        std::thread thread;
        bool asleep = false;  // waits on `wake`; guarded by `mutex`
        int avoided_cpu = -1;
    };

    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::shared_ptr<Job>> jobs;
    std::atomic<int> pending{0};  // jobs queued: what a spinning worker looks at
    bool stopping = false;
    std::vector<std::unique_ptr<Worker>> workers;
    cpu_set_t cpus = process_cpus();

    /// The kernel likes to wake a thread on the processor of the one that wakes it, where it then waits for its turn
    /// while other processors idle: with two cores, half of the products would run on one. So sleepers are told to
    /// avoid it. Called with `mutex` held.
    void keep_sleepers_off(int cpu) {
        for (const auto& worker : workers) {
            if (worker->asleep && worker->avoided_cpu != cpu) {
                cpu_set_t others = cpus;
                if (cpu >= 0 && cpu < CPU_SETSIZE) {
                    CPU_CLR(static_cast<std::size_t>(cpu), &others);
                }
                if (CPU_COUNT(&others) > 0) {
                    pthread_setaffinity_np(worker->thread.native_handle(), sizeof others, &others);
                }
                worker->avoided_cpu = cpu;
            }
        }
    }

    void work(Worker& self) {
        for (;;) {
            spin_until([&] { return pending.load(std::memory_order_relaxed) != 0; });
            std::shared_ptr<Job> job;
            {
                std::unique_lock lock(mutex);
                self.asleep = true;
                wake.wait(lock, [&] { return stopping || !jobs.empty(); });
                self.asleep = false;
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
    for (const auto& worker : state_->workers) {
        worker->thread.join();
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
            auto& worker = *state_->workers.emplace_back(std::make_unique<State::Worker>());
            worker.thread = std::thread([state = state_.get(), &worker] { state->work(worker); });
        }
        state_->keep_sleepers_off(sched_getcpu());
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
