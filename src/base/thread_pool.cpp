#include "base/thread_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "base/shared_state.hpp"

namespace heptad {
namespace {

constexpr std::chrono::seconds kIdleEnds{10};         // a worker that was not needed for so long ends
constexpr std::int64_t kCpusLast_ms = 10;             // before the affinity is looked up again
constexpr std::int64_t kNextTryOfCreation_ms = 1000;  // after a thread could not be started

thread_local constinit bool inside_task = false;

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

/// Starts a thread that belongs to nobody; false if the system has none to give.
bool start_detached(std::function<void()> work) {
    try {
        start_thread(std::move(work)).detach();
        return true;
    } catch (const Error&) {
        return false;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

/// Where the workers of a caller who wants so many threads may run. A caller may be bound to fewer processors: then he
/// has said by the number that they are not what he means.
std::shared_ptr<const CpuSet> cpus_for(int threads) {
    struct Seen {
        std::int64_t read_at_ms = -kCpusLast_ms;
        int threads = 0;
        std::shared_ptr<const CpuSet> cpus;
    };
    Seen& seen = per_thread<Seen, Seen>();
    const std::int64_t now_ms = coarse_clock_ms();
    if (now_ms - seen.read_at_ms >= kCpusLast_ms || seen.threads != threads) {
        CpuSet cpus = cpus_of(0);
        if (cpus.count() < threads) {
            CpuSet of_process = cpus_of(getpid());
            if (of_process.count() > cpus.count()) {
                cpus = std::move(of_process);
            }
        }
        if (!seen.cpus || !(*seen.cpus == cpus)) {
            seen.cpus = std::make_shared<const CpuSet>(std::move(cpus));
        }
        seen.read_at_ms = now_ms;
        seen.threads = threads;
    }
    return seen.cpus;
}

/// Binds a thread to these but one, where there is memory to say it.
bool keep_off(pid_t thread, const CpuSet& cpus, int cpu) noexcept {
    try {
        return bind_thread(thread, cpus.without(cpu));
    } catch (const std::bad_alloc&) {
        return false;
    }
}

/// One call of run(). The caller and at most `seats` workers take indices from `next`.
struct Job {
    const std::function<void(std::int64_t)>* task = nullptr;
    std::int64_t count = 0;
    std::shared_ptr<const CpuSet> cpus;
    int seats = 0;  // guarded by the crew's mutex
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> unfinished{0};
    std::atomic<bool> failed{false};
    std::exception_ptr first_error;
    std::mutex mutex;
    std::condition_variable finished;

    bool has_tasks() const { return next.load(std::memory_order_relaxed) < count; }

    /// Returns how many tasks were done here; finish() has to be told.
    std::int64_t work() {
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
        return done;
    }
    void finish(std::int64_t done) {
        if (done > 0 && unfinished.fetch_sub(done) == done) {
            const std::lock_guard lock(mutex);
            finished.notify_all();
        }
    }
    void wait() {
        if (!spin_until([&] { return unfinished.load(std::memory_order_acquire) == 0; })) {
            std::unique_lock lock(mutex);
            finished.wait(lock, [&] { return unfinished.load() == 0; });
        }
    }
};

}  // namespace

class ThreadPool::Crew {
public:
    static Crew* make() {
        const auto crew = std::make_shared<Crew>();
        crew->itself_ = crew;
        return crew.get();
    }

    bool is_of_this_process() const { return generation_ == process_generation(); }

    void run(int threads, std::int64_t count, const std::function<void(std::int64_t)>& task) {
        const auto job = std::make_shared<Job>();
        job->task = &task;
        job->count = count;
        job->unfinished = count;
        job->seats = static_cast<int>(std::min<std::int64_t>(threads - 1, count - 1));
        job->cpus = cpus_for(threads);
        {
            const std::lock_guard lock(mutex_);
            grow_to(job->seats);
            if (workers_ > 0) {
                jobs_.push_back(job);
                open_.fetch_add(1, std::memory_order_relaxed);
                int wanted = -looking_.load(std::memory_order_relaxed);
                for (const auto& waiting : jobs_) {
                    wanted += waiting->seats;
                }
                call(wanted, *job->cpus);
            }
        }
        job->finish(job->work());
        job->wait();
        {
            const std::lock_guard lock(mutex_);
            close(std::ranges::find(jobs_, job));
        }
        if (job->first_error) {
            std::rethrow_exception(job->first_error);
        }
    }

    /// Sends the workers home, waits for them and ends the crew. Nobody may run anything any more.
    void dismiss() {
        const std::shared_ptr<Crew> until_the_end = std::move(itself_);
        std::unique_lock lock(mutex_);
        stopping_ = true;
        for (Worker* sleeper : asleep_) {
            sleeper->called.notify_one();
        }
        all_gone_.wait(lock, [&] { return workers_ == 0; });
    }

private:
    struct Worker {
        pid_t thread = 0;
        std::condition_variable called;
        bool is_called = false;
        std::shared_ptr<const CpuSet> cpus;  // those of its last job
        int avoided_cpu = -1;                // bound to `cpus` without this one while it sleeps; -1: to all
    };

    /// Called with `mutex_` held. A new worker counts as looking from the start, and has its place among the sleepers:
    /// it could tell nobody that there is no memory for it.
    void grow_to(int wanted) {
        asleep_.reserve(static_cast<std::size_t>(std::max(wanted, workers_)));
        while (workers_ < wanted && coarse_clock_ms() >= next_creation_ms_) {
            looking_.fetch_add(1, std::memory_order_relaxed);
            if (!start_detached([crew = itself_] { crew->work(); })) {
                looking_.fetch_sub(1, std::memory_order_relaxed);
                next_creation_ms_ = coarse_clock_ms() + kNextTryOfCreation_ms;
                return;
            }
            ++workers_;
        }
    }

    /// Wakes sleepers, the one that went to sleep last first. Called with `mutex_` held.
    ///
    /// The kernel likes to wake a thread on the processor of the one that wakes it, where it then waits for its turn
    /// while other processors idle: with two cores, half of the products would run on one. So sleepers avoid the
    /// processor of the last caller (step_aside), and are told where this one is elsewhere.
    void call(int wanted, const CpuSet& cpus) noexcept {
        const int here = sched_getcpu();
        last_cpu_.store(here, std::memory_order_relaxed);
        for (; wanted > 0 && !asleep_.empty(); --wanted) {
            Worker& sleeper = *asleep_.back();
            asleep_.pop_back();
            if (sleeper.avoided_cpu != here || !sleeper.cpus || !(*sleeper.cpus == cpus)) {
                sleeper.avoided_cpu = keep_off(sleeper.thread, cpus, here) ? here : -2;
            }
            sleeper.is_called = true;
            sleeper.called.notify_one();
        }
    }

    /// By a worker that is about to sleep.
    void step_aside(Worker& self) const {
        const int cpu = last_cpu_.load(std::memory_order_relaxed);
        if (self.cpus && self.avoided_cpu != cpu && keep_off(0, *self.cpus, cpu)) {
            self.avoided_cpu = cpu;
        }
    }

    /// By a worker that is about to work: it may go wherever its caller says.
    static void settle(Worker& self, const std::shared_ptr<const CpuSet>& cpus) {
        const bool same = self.cpus == cpus || (self.cpus && *self.cpus == *cpus);
        if (self.avoided_cpu != -1 || !same) {
            bind_thread(0, *cpus);
            self.avoided_cpu = -1;
        }
        self.cpus = cpus;
    }

    /// Called with `mutex_` held.
    void close(std::deque<std::shared_ptr<Job>>::iterator job) {
        if (job != jobs_.end()) {
            jobs_.erase(job);
            open_.fetch_sub(1, std::memory_order_relaxed);
        }
    }

    /// A seat at the first job that has one, or nullptr. Called with `mutex_` held.
    std::shared_ptr<Job> take_seat() {
        while (!jobs_.empty()) {
            const std::shared_ptr<Job> job = jobs_.front();
            const bool has_work = job->has_tasks();
            if (!has_work || --job->seats == 0) {
                close(jobs_.begin());
            }
            if (has_work) {
                return job;
            }
        }
        return nullptr;
    }

    void work() {
        Worker self;
        self.thread = gettid();
        for (;;) {
            if (!spin_until([&] { return open_.load(std::memory_order_relaxed) != 0; })) {
                step_aside(self);
            }
            std::shared_ptr<Job> job;
            {
                std::unique_lock lock(mutex_);
                looking_.fetch_sub(1, std::memory_order_relaxed);
                while (!(job = take_seat())) {
                    if (stopping_ || !sleep(self, lock)) {
                        if (--workers_ == 0) {
                            all_gone_.notify_all();
                        }
                        return;
                    }
                }
            }
            settle(self, job->cpus);
            const std::int64_t done = job->work();
            looking_.fetch_add(1, std::memory_order_relaxed);  // before the caller can go on, who then need not call
            job->finish(done);
        }
    }

    /// False: nobody called for so long that this worker should end.
    bool sleep(Worker& self, std::unique_lock<std::mutex>& lock) {
        self.is_called = false;
        asleep_.push_back(&self);
        if (self.called.wait_for(lock, kIdleEnds, [&] { return self.is_called || stopping_; })) {
            if (!self.is_called) {
                std::erase(asleep_, &self);
            }
            return true;
        }
        std::erase(asleep_, &self);
        return false;
    }

    const std::uint32_t generation_ = process_generation();
    std::shared_ptr<Crew> itself_;  // until dismiss(); every worker has one more
    std::mutex mutex_;
    std::deque<std::shared_ptr<Job>> jobs_;  // those with seats left
    std::atomic<int> open_{0};               // how many they are: what a spinning worker looks at
    std::atomic<int> looking_{0};            // workers that will look at the queue before they sleep
    std::atomic<int> last_cpu_{-1};          // of the last caller
    std::vector<Worker*> asleep_;
    int workers_ = 0;
    std::int64_t next_creation_ms_ = 0;
    bool stopping_ = false;
    std::condition_variable all_gone_;
};

/// A crew that is replaced in the child of a fork. The parent's is left as it is there: its locks may be taken, and its
/// threads do not exist.
class ThreadPool::CrewPlace {
public:
    Crew& get() {
        Crew* there = crew_.load(std::memory_order_acquire);
        if (there != nullptr && there->is_of_this_process()) {
            return *there;
        }
        Crew* const fresh = Crew::make();
        if (crew_.compare_exchange_strong(there, fresh, std::memory_order_acq_rel)) {
            return *fresh;
        }
        fresh->dismiss();
        return *there;
    }
    void dismiss() {
        Crew* const there = crew_.load(std::memory_order_acquire);
        if (there != nullptr && there->is_of_this_process()) {
            there->dismiss();
        }
    }

private:
    std::atomic<Crew*> crew_{nullptr};
};

constinit ThreadPool::CrewPlace ThreadPool::shared_crew_;

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(1, threads)), own_(std::make_unique<CrewPlace>()), crew_(*own_) {}

ThreadPool::ThreadPool(int threads, OfSharedCrew) : threads_(threads), crew_(shared_crew_) {}

ThreadPool::~ThreadPool() {
    if (own_) {
        own_->dismiss();
    }
}

void ThreadPool::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
    if (threads_ == 1 || count <= 1 || inside_task) {
        for (std::int64_t i = 0; i < count; ++i) {
            task(i);
        }
        return;
    }
    crew_.get().run(threads_, count, task);
}

ThreadPool& shared_pool(int threads) {
    static constinit Guarded<std::map<int, ThreadPool*>> pools;
    const auto access = pools.lock();
    ThreadPool*& pool = (*access)[std::max(1, threads)];
    if (pool == nullptr) {
        pool = new ThreadPool(std::max(1, threads), ThreadPool::OfSharedCrew{});  // for ever: others keep references
    }
    return *pool;
}

}  // namespace heptad
