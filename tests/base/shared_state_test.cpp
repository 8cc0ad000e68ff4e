// What all threads share is made once, changed by one at a time, whole after a fork and there after the end.
#include "base/shared_state.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "citizen/child.hpp"

namespace heptad {
namespace {

TEST(shared_state, once_is_made_once_by_whoever_comes_first) {
    static constinit Once<int> once;
    static std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] { wrong += once.get([] { return ++made, 42; }) != 42; });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(made, 1);
    EXPECT_EQ(wrong, 0);
}

TEST(shared_state, what_making_throws_comes_back_and_the_next_one_tries_again) {
    static constinit Once<int> once;
    EXPECT_THROW(once.get([]() -> int { throw std::runtime_error("no"); }), std::runtime_error);
    EXPECT_EQ(once.get([] { return 7; }), 7);
}

TEST(shared_state, guarded_belongs_to_one_thread_at_a_time) {
    static constinit Guarded<int> sum;
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20000; ++i) {
                const auto access = sum.lock();
                ++*access;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(*sum.lock(), 6 * 20000);
}

/// Forks while another thread is in the midst of what `hold` does, and does `work` in the child.
std::string fork_while(const std::function<void(std::atomic<bool>& inside, const std::atomic<bool>& leave)>& hold,
                       const std::function<int()>& work) {
    std::atomic<bool> inside = false, leave = false;
    std::thread holder([&] { hold(inside, leave); });
    while (!inside) {
        std::this_thread::yield();
    }
    const std::string end = citizen::in_child(work);
    leave = true;
    holder.join();
    return end;
}

void wait_for(const std::atomic<bool>& flag) {
    while (!flag) {
        std::this_thread::yield();
    }
}

TEST(shared_state, a_child_finds_free_and_anew_what_a_thread_of_its_parent_held) {
    HEPTAD_FORKS_WITH_THREADS();
    static constinit Guarded<std::vector<int>> list;
    list.lock()->push_back(1);
    const auto hold = [](std::atomic<bool>& inside, const std::atomic<bool>& leave) {
        const auto access = list.lock();
        access->push_back(2);
        inside = true;
        wait_for(leave);
    };
    EXPECT_EQ(fork_while(hold, [] { return list.lock()->empty() ? 0 : 1; }), "exit 0");
    EXPECT_EQ(list.lock()->size(), 2U) << "the parent keeps what it had";
    EXPECT_EQ(citizen::in_child([] { return list.lock()->size() == 2 ? 0 : 1; }), "exit 0")
        << "what nobody held is kept in the child";
}

TEST(shared_state, a_child_makes_itself_what_a_thread_of_its_parent_was_making) {
    HEPTAD_FORKS_WITH_THREADS();
    static constinit Once<int> once;
    const auto hold = [](std::atomic<bool>& inside, const std::atomic<bool>& leave) {
        once.get([&] {
            inside = true;
            wait_for(leave);
            return 1;
        });
    };
    EXPECT_EQ(fork_while(hold, [] { return once.get([] { return 5; }) == 5 ? 0 : 1; }), "exit 0");
    EXPECT_EQ(once.get([] { return 5; }), 1);
}

TEST(shared_state, generations_count_forks) {
    HEPTAD_FORKS_WITH_THREADS();
    EXPECT_EQ(process_generation(), 0U);
    EXPECT_EQ(citizen::in_child([] {
                  return citizen::in_child([] { return process_generation() == 2 ? 0 : 1; }) == "exit 0" ? 0 : 1;
              }),
              "exit 0");
    EXPECT_EQ(process_generation(), 0U);
}

struct Tag {};
std::atomic<int> alive = 0;
struct Counted {
    int value = 0;
    Counted() { ++alive; }
    ~Counted() { --alive; }
};

TEST(shared_state, a_thread_has_its_own_until_it_ends) {
    per_thread<Tag, Counted>().value = 1;
    std::thread([] {
        EXPECT_EQ((per_thread<Tag, Counted>().value), 0);
        EXPECT_EQ(alive, 2);
    }).join();
    EXPECT_EQ(alive, 1);
    EXPECT_EQ((per_thread<Tag, Counted>().value), 1);
}

const Counted* made_late = nullptr;  // nobody deletes it
struct AsksLate {
    int* code;
    ~AsksLate() {
        made_late = &per_thread<Tag, Counted>();
        *code = made_late->value == 0 ? 0 : 1;
    }
};

TEST(shared_state, who_asks_after_the_end_of_a_threads_own_gets_a_new_one) {
    int code = 2;
    std::thread([&] {
        thread_local const AsksLate first{&code};  // destroyed last
        per_thread<Tag, Counted>().value = 9;
        ASSERT_EQ(*first.code, 2);
    }).join();
    EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace heptad
