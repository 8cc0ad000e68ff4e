// Tasks are done exactly once, whoever asks and however many; what they throw comes back.
#include "base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace heptad
