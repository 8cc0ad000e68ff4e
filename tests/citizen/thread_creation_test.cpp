// A system that gives a process few threads or none (RLIMIT_NPROC, pids.max): products use what there is, or throw
// Error.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/thread_pool.hpp"
#include "citizen/counts.hpp"
#include "citizen/permuted_products.hpp"
#include "citizen/thread_limit.hpp"
#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::citizen {
namespace {

TEST(thread_creation, that_fails_at_any_count_never_ends_the_process) {
    for (int count = 0; count <= 16; ++count) {
        for (int i = 0; i < repetitions(3, kProductKinds); ++i) {
            const int kind = (3 * count + i) % kProductKinds;
            ASSERT_EQ(with_threads(count,
                                   [&] {
                                       if (kind % 2 == 1) {
                                           cpu::allow_vendor_corrections();
                                       }
                                       try {
                                           return make_product(kind)->is_right() ? 0 : 1;
                                       } catch (const Error& error) {
                                           return error.code() == ErrorCode::resource ? 0 : 2;
                                       }
                                   }),
                      "exit 0")
                << count << " threads, kind " << kind;
        }
    }
}

TEST(thread_creation, that_fails_after_the_first_product_leaves_the_next_ones_right) {
    EXPECT_EQ(with_threads(1 << 20,
                           [] {
                               bool right = make_product(1)->is_right();
                               allowed = 0;
                               for (int kind = 0; kind < kProductKinds; ++kind) {
                                   right = make_product(kind)->is_right() && right;
                                   bool other = false;
                                   const std::string end =
                                       in_child([&] { return make_product(kind)->is_right() ? 0 : 1; });
                                   other = end == "exit 0";
                                   right = right && other;
                               }
                               return right ? 0 : 1;
                           }),
              "exit 0");
}

TEST(thread_creation, pools_get_by_with_what_there_is) {
    for (int count = 0; count <= 8; ++count) {
        EXPECT_EQ(with_threads(count,
                               [&] {
                                   std::atomic<int> done = 0;
                                   shared_pool(6).run(100, [&](std::int64_t) { ++done; });
                                   const bool asked_for_more = refused > 0;
                                   return done == 100 && asked_for_more == (count < 5) ? 0 : 1;
                               }),
                  "exit 0")
            << count;
    }
}

TEST(thread_creation, works_again_when_the_system_has_threads_again) {
    EXPECT_EQ(with_threads(0,
                           [] {
                               shared_pool(3).run(10, [](std::int64_t) {});
                               allowed = 10;
                               std::this_thread::sleep_for(std::chrono::milliseconds(1200));
                               shared_pool(3).run(10, [](std::int64_t) {});
                               return threads_here() == 3 ? 0 : 1;
                           }),
              "exit 0");
}

TEST(thread_creation, workers_without_work_end) {
    if (!is_soak()) {
        GTEST_SKIP() << "takes a quarter of a minute; part of make soak";
    }
    EXPECT_EQ(in_child([] {
                  shared_pool(5).run(100, [](std::int64_t) { std::this_thread::yield(); });
                  const int before = threads_here();
                  std::this_thread::sleep_for(std::chrono::seconds(15));
                  return before == 5 && threads_here() == 1 ? 0 : 1;
              }),
              "exit 0");
}

}  // namespace
}  // namespace heptad::citizen
