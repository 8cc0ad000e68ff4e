// Forks at random moments, while other threads of the parent are in the midst of products of every kind: the child
// exits at once, or multiplies itself and then exits. It never hangs, and its results are right.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "base/cores.hpp"
#include "citizen/child.hpp"
#include "citizen/counts.hpp"
#include "citizen/permuted_products.hpp"
#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::citizen {
namespace {

/// Threads that multiply without end.
class Busy {
public:
    explicit Busy(const std::vector<int>& kinds) {
        for (const int kind : kinds) {
            threads_.emplace_back([this, kind] {
                const auto product = make_product(kind);
                while (!stop_) {
                    wrong_ += product->is_right() ? 0 : 1;
                    ++done_;
                }
            });
        }
    }
    ~Busy() {
        stop_ = true;
        for (std::thread& thread : threads_) {
            thread.join();
        }
        EXPECT_EQ(wrong_, 0);
        EXPECT_GT(done_, 0);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    std::atomic<bool> stop_ = false;
    std::atomic<int> wrong_ = 0;
    std::atomic<std::int64_t> done_ = 0;
    std::vector<std::thread> threads_;
};

int multiply_all_kinds(unsigned first) {
    for (unsigned i = 0; i < 3; ++i) {
        if (!make_product(static_cast<int>((first + i) % kProductKinds))->is_right()) {
            return 1;
        }
    }
    return 0;
}

TEST(fork, at_any_moment_leaves_a_child_that_can_multiply_and_exit) {
    HEPTAD_FORKS_BESIDE_BUSY_THREADS();
    std::mt19937_64 random(seed());
    const std::int64_t forks = repetitions(kReduced ? 12 : 48, 1000), per_round = 12;
    for (std::int64_t made = 0; made < forks;) {
        const int first = static_cast<int>(random() % kProductKinds);
        const int second = first + 1 + static_cast<int>(random() % (kProductKinds - 1));
        const Busy busy({first, second % kProductKinds});
        for (std::int64_t i = 0; i < per_round && made < forks; ++i, ++made) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
            const auto choice = static_cast<unsigned>(random() % 64);
            ASSERT_EQ(in_child([&] { return choice % 2 == 0 ? 0 : multiply_all_kinds(choice); }), "exit 0")
                << "fork " << made << " of seed " << seed() << ", parent busy with kind " << first;
        }
    }
}

TEST(fork, in_the_midst_of_the_first_product_of_all_leaves_a_child_that_can_multiply) {
    HEPTAD_FORKS_BESIDE_BUSY_THREADS();
    std::mt19937_64 random(seed());
    for (std::int64_t i = 0; i < repetitions(kReduced ? 3 : 8, 100); ++i) {
        const auto delay = std::chrono::microseconds(random() % 60000);
        // A process in which nothing is loaded or planned yet.
        ASSERT_EQ(in_child([&] {
                      std::thread([] { make_product(1)->is_right(); }).detach();
                      std::this_thread::sleep_for(delay);
                      return in_child([] { return make_product(2)->is_right() ? 0 : 1; }) == "exit 0" ? 0 : 1;
                  }),
                  "exit 0")
            << i;
    }
}

TEST(fork, leaves_affinity_and_the_setting_of_a_librarys_threads_as_they_were) {
    HEPTAD_FORKS_BESIDE_BUSY_THREADS();
    ASSERT_TRUE(make_product(1)->is_right());
    const CpuSet all = cpus_of(0);
    const cpu::VendorLibrary* const openblas = cpu::vendor_library(cpu::Vendor::openblas);
    const bool has_threads = openblas != nullptr && openblas->set_threads != nullptr;
    const int setting = has_threads ? openblas->get_threads() : 0;
    const Busy busy({2});
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(in_child([&] {
                      const bool right = make_product(2)->is_right();
                      const bool is_kept =
                          !has_threads || cpu::may_use_vendor(*openblas) == false || openblas->get_threads() == setting;
                      return right && is_kept && cpus_of(0) == all ? 0 : 1;
                  }),
                  "exit 0");
    }
}

TEST(fork, between_products_of_every_kind_leaves_a_child_that_can_multiply) {
    HEPTAD_FORKS_WITH_THREADS();
    for (int kind = 0; kind < kProductKinds; ++kind) {
        ASSERT_TRUE(make_product(kind)->is_right()) << kind;
        EXPECT_EQ(in_child([&] { return multiply_all_kinds(static_cast<unsigned>(kind)); }), "exit 0") << kind;
    }
}

TEST(fork, of_a_child_of_a_fork_can_multiply_too) {
    HEPTAD_FORKS_WITH_THREADS();
    EXPECT_EQ(in_child([] {
                  if (!make_product(1)->is_right()) {
                      return 1;
                  }
                  return in_child([] { return make_product(1)->is_right() ? 0 : 1; }) == "exit 0" ? 0 : 2;
              }),
              "exit 0");
}

}  // namespace
}  // namespace heptad::citizen
