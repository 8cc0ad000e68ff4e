// What is in the cache is not brought again, what is in use stays, and nobody waits for ever.
#include "move/operand_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "base/splitmix.hpp"

namespace heptad {
namespace {

/// Holds the number of the block that was brought last.
struct NumberedPlace final : OperandPlace {
    std::atomic<int> block{-1};
};

std::vector<std::unique_ptr<OperandPlace>> places(int count) {
    std::vector<std::unique_ptr<OperandPlace>> made;
    for (int i = 0; i < count; ++i) {
        made.push_back(std::make_unique<NumberedPlace>());
    }
    return made;
}

std::vector<OperandCache::Terms> blocks(int count) {
    std::vector<OperandCache::Terms> all;
    for (int i = 0; i < count; ++i) {
        all.push_back({{i, 1}});
    }
    return all;
}

int block_in(const OperandPlace& place) {
    return static_cast<const NumberedPlace&>(place).block;
}

/// A cache that counts what is brought.
struct Counted {
    explicit Counted(int count) : cache(places(count), failure) {}
    OperandPlace& take(const OperandCache::Terms& terms) {
        OperandPlace& place = cache.take(terms, [&](OperandPlace& to) {
            ++brought;
            static_cast<NumberedPlace&>(to).block = terms.front().block;
        });
        EXPECT_EQ(block_in(place), terms.front().block);
        return place;
    }
    StageFailure failure;
    OperandCache cache;
    std::atomic<int> brought{0};
};

TEST(OperandCache, what_is_there_is_not_brought_again) {
    const auto terms = blocks(2);
    Counted counted(2);
    OperandPlace& first = counted.take(terms[0]);
    OperandPlace& again = counted.take(terms[0]);
    EXPECT_EQ(&first, &again);
    counted.cache.give_back(first);
    counted.cache.give_back(again);
    EXPECT_EQ(&counted.take(OperandCache::Terms(terms[0])), &first);  // equal terms, another list of them
    EXPECT_EQ(counted.brought, 1);
    EXPECT_NE(&counted.take(terms[1]), &first);
    EXPECT_EQ(counted.brought, 2);
}

TEST(OperandCache, coefficients_tell_sums_apart) {
    const OperandCache::Terms plus{{0, 1}, {1, 1}}, minus{{0, 1}, {1, -1}};
    Counted counted(1);
    counted.cache.give_back(counted.take(plus));
    counted.cache.give_back(counted.take(minus));
    EXPECT_EQ(counted.brought, 2);
}

TEST(OperandCache, the_place_that_was_given_back_first_is_taken_and_one_in_use_never) {
    const auto terms = blocks(4);
    Counted counted(3);
    OperandPlace& held = counted.take(terms[0]);
    OperandPlace& later = counted.take(terms[1]);
    OperandPlace& sooner = counted.take(terms[2]);
    counted.cache.give_back(sooner);
    counted.cache.give_back(later);
    EXPECT_EQ(&counted.take(terms[3]), &sooner);
    EXPECT_EQ(&counted.take(terms[2]), &later);
    EXPECT_EQ(block_in(held), 0);
    EXPECT_EQ(counted.brought, 5);
}

TEST(OperandCache, who_comes_while_an_operand_arrives_waits_for_it) {
    const auto terms = blocks(1);
    StageFailure failure;
    OperandCache cache(places(2), failure);
    std::atomic<bool> on_its_way{false}, go{false}, arrived{false};
    std::thread bringing([&] {
        cache.take(terms[0], [&](OperandPlace&) {
            on_its_way = true;
            while (!go) {
                std::this_thread::yield();
            }
            arrived = true;
        });
    });
    while (!on_its_way) {
        std::this_thread::yield();
    }
    std::thread releasing([&] { go = true; });
    cache.take(terms[0], [](OperandPlace&) { ADD_FAILURE() << "was brought twice"; });
    EXPECT_TRUE(arrived);
    bringing.join();
    releasing.join();
}

TEST(OperandCache, who_finds_every_place_in_use_waits_for_one) {
    const auto terms = blocks(2);
    Counted counted(1);
    OperandPlace& held = counted.take(terms[0]);
    std::atomic<bool> given_back{false};
    std::thread waiting([&] {
        counted.take(terms[1]);
        EXPECT_TRUE(given_back);
    });
    given_back = true;
    counted.cache.give_back(held);
    waiting.join();
    EXPECT_EQ(counted.brought, 2);
}

TEST(OperandCache, a_failure_is_thrown_and_the_end_wakes_those_who_wait_for_it) {
    const auto terms = blocks(2);
    for (const OperandCache::Terms& wanted : terms) {  // that very one, and one for which there is no place
        StageFailure failure;
        OperandCache cache(places(1), failure);
        EXPECT_THROW(cache.take(terms[0], [](OperandPlace&) { throw std::runtime_error("lost"); }), std::runtime_error);
        std::thread ending([&] { failure.end(); });
        EXPECT_THROW(cache.take(wanted, [](OperandPlace&) { ADD_FAILURE() << "its place is in use"; }), StageStopped);
        ending.join();
    }
}

TEST(OperandCache, many_threads_always_find_what_they_asked_for) {
    const auto terms = blocks(7);
    Counted counted(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 500; ++i) {
                const auto block = static_cast<std::size_t>(splitmix_word(static_cast<std::uint64_t>(t), i) % 7);
                OperandPlace& place = counted.take(terms[block]);
                std::this_thread::yield();
                EXPECT_EQ(block_in(place), static_cast<int>(block)) << "was replaced while in use";
                counted.cache.give_back(place);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_LT(counted.brought, 2000);
    EXPECT_GE(counted.brought, 7);
}

}  // namespace
}  // namespace heptad
