// Tasks are done exactly once, whoever asks and however many; what they throw comes back.
#include "base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "citizen/child.hpp"

namespace heptad {
namespace {

TEST(thread_pool, every_task_is_done_once) {
    for (const int threads : {0, 1, 2, 5}) {
        ThreadPool pool(threads);
        for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
            pool.run(count, [&](std::int64_t i) { ++done[static_cast<std::size_t>(i)]; });
            for (const std::atomic<int>& times : done) {
                ASSERT_EQ(times, 1);
            }
        }
    }
}

TEST(thread_pool, tasks_may_ask_for_tasks) {
    ThreadPool pool(3);
    std::atomic<int> done = 0;
    pool.run(10, [&](std::int64_t) { pool.run(10, [&](std::int64_t) { ++done; }); });
    EXPECT_EQ(done, 100);
}

TEST(thread_pool, many_may_ask_at_once) {
    ThreadPool pool(3);
    std::atomic<int> done = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 6; ++caller) {
        callers.emplace_back([&] {
            for (int call = 0; call < 50; ++call) {
                pool.run(5, [&](std::int64_t) { ++done; });
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    EXPECT_EQ(done, 6 * 50 * 5);
}

TEST(thread_pool, what_a_task_throws_comes_back_and_the_pool_goes_on) {
    for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        std::atomic<int> done = 0;
        const auto fails = [&](std::int64_t i) {
            ++done;
            if (i == 3) {
                throw std::runtime_error("the fourth");
            }
        };
        EXPECT_THROW(pool.run(100, fails), std::runtime_error);
        EXPECT_LE(done, 100);
        done = 0;
        pool.run(100, [&](std::int64_t) { ++done; });
        EXPECT_EQ(done, 100);
    }
}

TEST(thread_pool, is_shared_by_all_who_ask_for_as_many_threads) {
    EXPECT_EQ(&shared_pool(2), &shared_pool(2));
    EXPECT_NE(&shared_pool(2), &shared_pool(3));
    EXPECT_EQ(shared_pool(2).threads(), 2);
    EXPECT_EQ(shared_pool(-5).threads(), 1);
    EXPECT_GE(available_cores(), 1);
}

/// Every one of so many tasks waits until all have begun, so that each has a thread of its own.
void meet(ThreadPool& pool, int threads, const std::function<void()>& there) {
    std::atomic<int> come = 0;
    pool.run(threads, [&](std::int64_t) {
        ++come;
        while (come < threads) {
            std::this_thread::yield();
        }
        there();
    });
}

TEST(thread_pool, many_sizes_share_their_workers) {
    HEPTAD_FORKS_WITH_THREADS();
    EXPECT_EQ(citizen::in_child([] {
                  for (int round = 0; round < 3; ++round) {
                      for (int threads = 1; threads <= 32; ++threads) {
                          meet(shared_pool(threads), threads, [] {});
                      }
                  }
                  return citizen::threads_here() <= 32 ? 0 : 1;
              }),
              "exit 0");
}

TEST(thread_pool, no_more_than_its_threads_take_part) {
    meet(shared_pool(8), 8, [] {});
    std::atomic<int> at_once = 0, most = 0;
    for (int call = 0; call < 200; ++call) {
        shared_pool(3).run(20, [&](std::int64_t) {
            int now = ++at_once, before = most;
            while (before < now && !most.compare_exchange_weak(before, now)) {
            }
            std::this_thread::yield();
            --at_once;
        });
    }
    EXPECT_LE(most, 3);
    EXPECT_GE(most, 1);
}

TEST(thread_pool, starts_no_thread_before_there_is_work_for_it) {
    HEPTAD_FORKS_WITH_THREADS();
    EXPECT_EQ(citizen::in_child([] {
                  ThreadPool& pool = shared_pool(4);
                  pool.run(1, [](std::int64_t) {});
                  shared_pool(1).run(100, [](std::int64_t) {});
                  return citizen::threads_here();
              }),
              "exit 1");
}

TEST(thread_pool, a_child_makes_its_workers_anew) {
    HEPTAD_FORKS_WITH_THREADS();
    ThreadPool own(3);
    meet(own, 3, [] {});
    meet(shared_pool(3), 3, [] {});
    EXPECT_EQ(citizen::in_child([&] {
                  if (citizen::threads_here() != 1) {
                      return 1;
                  }
                  meet(own, 3, [] {});
                  meet(shared_pool(3), 3, [] {});
                  return citizen::threads_here() == 5 ? 0 : 2;
              }),
              "exit 0");
    EXPECT_EQ(citizen::in_child([] { return 0; }), "exit 0") << "nothing waits for threads that are not there";
    EXPECT_EQ(citizen::in_child([] {
                  ThreadPool inner(3);
                  return 0;
              }),
              "exit 0");
}

TEST(thread_pool, a_child_is_not_hindered_by_what_runs_in_its_parent) {
    HEPTAD_FORKS_WITH_THREADS();
    std::atomic<bool> stop = false;
    std::thread busy([&] {
        while (!stop) {
            shared_pool(3).run(16, [](std::int64_t) {});
        }
    });
    for (int fork_number = 0; fork_number < 20; ++fork_number) {
        EXPECT_EQ(citizen::in_child([] {
                      std::atomic<int> done = 0;
                      shared_pool(3).run(50, [&](std::int64_t) { ++done; });
                      return done == 50 ? 0 : 1;
                  }),
                  "exit 0");
    }
    stop = true;
    busy.join();
}

TEST(thread_pool, says_how_many_threads_could_be_started) {
    EXPECT_EQ(startable_threads(0), 0);
    EXPECT_EQ(startable_threads(5), 5);
}

TEST(thread_pool, workers_leave_signals_to_the_host) {
    std::atomic<int> blocked = 0;
    const pid_t caller = gettid();
    meet(shared_pool(3), 3, [&] {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        if (gettid() != caller) {
            blocked += sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGSEGV) == 0;
        }
    });
    EXPECT_EQ(blocked, 2);
}

// ---------------------------------------------------------------- affinity, where there are two processors

std::vector<int> two_cpus() {
    const CpuSet all = cpus_of(getpid());
    std::vector<int> found;
    for (int cpu = 0; cpu < 1 << 16 && found.size() < 2; ++cpu) {
        if (all.contains(cpu)) {
            found.push_back(cpu);
        }
    }
    return found;
}

CpuSet only(int cpu) {
    CpuSet one;
    one.add(cpu);
    return one;
}

/// The masks of the threads that carry out `threads` tasks at a time; the caller's is not among them.
std::vector<CpuSet> worker_masks(int threads) {
    std::mutex mutex;
    std::vector<CpuSet> masks;
    const pid_t caller = gettid();
    meet(shared_pool(threads), threads, [&] {
        const std::lock_guard lock(mutex);
        if (gettid() != caller) {
            masks.push_back(cpus_of(0));
        }
    });
    return masks;
}

constexpr std::chrono::milliseconds kLookedUpAgain{60};

class Affinity : public ::testing::Test {
protected:
    void SetUp() override {
        if (two_cpus().size() < 2) {
            GTEST_SKIP() << "one processor";
        }
    }
};

TEST_F(Affinity, of_a_worker_is_never_narrowed_for_good) {
    const CpuSet all = cpus_of(0);
    for (int call = 0; call < 30; ++call) {
        for (const CpuSet& mask : worker_masks(2)) {
            EXPECT_EQ(mask, all) << call;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(call % 3));  // long enough to go to sleep
    }
}

TEST_F(Affinity, of_the_first_caller_does_not_bind_the_others) {
    HEPTAD_FORKS_WITH_THREADS();
    EXPECT_EQ(citizen::in_child([] {
                  const CpuSet all = cpus_of(0);
                  int code = 0;
                  std::thread([&] {
                      bind_thread(0, only(two_cpus()[0]));
                      worker_masks(2);
                      code = cpus_of(0) == only(two_cpus()[0]) ? 0 : 1;  // nor is he let loose
                  }).join();
                  return code == 0 && worker_masks(2).front() == all ? 0 : 1;
              }),
              "exit 0");
}

TEST_F(Affinity, set_later_holds_for_the_workers) {
    HEPTAD_FORKS_WITH_THREADS();
    EXPECT_EQ(citizen::in_child([] {
                  worker_masks(2);
                  const CpuSet one = only(two_cpus()[1]);
                  bind_thread(getpid(), one);  // what `taskset -p` does
                  std::this_thread::sleep_for(kLookedUpAgain);
                  return worker_masks(2).front() == one ? 0 : 1;
              }),
              "exit 0");
}

TEST_F(Affinity, of_a_child_is_what_its_parent_had) {
    HEPTAD_FORKS_WITH_THREADS();
    worker_masks(2);
    const CpuSet all = cpus_of(0);
    EXPECT_EQ(citizen::in_child([&] {
                  for (int call = 0; call < 5; ++call) {
                      if (!(worker_masks(2).front() == all)) {
                          return 1;
                      }
                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                  }
                  return cpus_of(0) == all ? 0 : 2;
              }),
              "exit 0");
}

}  // namespace
}  // namespace heptad
