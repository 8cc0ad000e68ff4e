// The threads that products share, short of memory while they are started, called and sent to sleep: a run does every
// task once, or says that memory ran out and leaves nothing that a later one would find.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <functional>
#include <new>

#include "base/thread_pool.hpp"
#include "citizen/failing_memory.hpp"

namespace heptad::citizen {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr std::int64_t kSample = 300;
#else
constexpr std::int64_t kSample = 1500;
#endif

/// Outlives its run, so that a task which is run too late is seen.
struct KeptRun {
    std::atomic<std::int64_t> done{0};
    std::int64_t done_in_time = 0;
    std::function<void(std::int64_t)> task = [this](std::int64_t) { ++done; };
};

TEST(PoolShortOfMemory, runs_every_task_once_or_says_so) {
    ::alarm(600);  // a pool that hangs ends by a signal
    constexpr std::int64_t kTasks = 16;
    std::deque<KeptRun> runs;
    std::int64_t failures = 0;
    for (std::int64_t i = 0; i < repetitions(kSample, 20 * kSample); ++i) {
        SCOPED_TRACE(i);
        KeptRun& run = runs.emplace_back();
        ThreadPool& pool = shared_pool(static_cast<int>(2 + i % 4));
        const bool naps = i % 3 != 0;
        if (naps) {
            ::usleep(400);  // until workers sleep
        }
        let_allocation_fail(1 + i % 14, i % 2 == 0 ? Shortage::for_good : Shortage::once);
        try {
            pool.run(kTasks, run.task);
            if (naps) {
                ::usleep(400);
            }
            serve_allocations();
            ASSERT_EQ(run.done, kTasks);
        } catch (const std::bad_alloc&) {
            serve_allocations();
            ++failures;
        }
        run.done_in_time = run.done;
    }
    ::alarm(0);
    EXPECT_GT(failures, 0);
    for (const KeptRun& run : runs) {
        ASSERT_EQ(run.done, run.done_in_time) << "tasks of a run that had failed were run later";
    }
}

}  // namespace
}  // namespace heptad::citizen
