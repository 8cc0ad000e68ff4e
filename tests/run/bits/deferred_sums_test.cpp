// Sums that are put off are complete when something depends on them, however much of them was made before.
#include <gtest/gtest.h>

#include <vector>

#include "run/bits/deferred_sums.hpp"

namespace {

using namespace heptad::bits;

constexpr std::int64_t kWords = 2 * kLaterPiece;

using Words = std::vector<std::uint64_t>;

Words quarters(std::uint64_t first) {
    Words words(4 * static_cast<std::size_t>(kWords));
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = first << (i / static_cast<std::size_t>(kWords));
    }
    return words;
}

TEST(LaterLevel, a_product_waits_for_sums_that_touch_its_quarter_only) {
    LaterQueue queue;
    Words c = quarters(1);  // 1, 2, 4, 8
    LaterLevel level(queue, word_sum(), c.data(), kWords, true);
    const std::vector<Addition> from_1{{3, 1}}, from_2{{3, 2}};
    level.add_quarters(from_1);
    level.add_quarters(from_2);
    EXPECT_TRUE(level.begin_product(0));
    EXPECT_EQ(queue.first, 0);
    EXPECT_TRUE(level.begin_product(1));
    EXPECT_EQ(queue.first, 1);
    EXPECT_EQ(c[3 * kWords], 8U ^ 2U);
    EXPECT_TRUE(level.begin_product(3));
    EXPECT_EQ(queue.first, 2);
    EXPECT_EQ(c[3 * kWords], 8U ^ 2U ^ 4U);
    EXPECT_EQ(c[4 * kWords - 1], 8U ^ 2U ^ 4U);
}

TEST(LaterLevel, quarters_that_hold_nothing_are_neither_read_nor_added_to) {
    LaterQueue queue;
    Words c = quarters(1);
    LaterLevel level(queue, word_sum(), c.data(), kWords, false);
    const std::vector<Addition> both{{3, 0}, {3, 1}};
    level.add_quarters(both);
    EXPECT_EQ(queue.last, 0);
    EXPECT_FALSE(level.begin_product(0));
    level.end_product(0);
    level.add_quarters(both);
    level.finish();
    EXPECT_EQ(c[3 * kWords], 1U) << "assigned, and from quarter 0 alone";
    EXPECT_TRUE(level.begin_product(3));
    EXPECT_FALSE(level.begin_product(1));
}

TEST(LaterLevel, finishing_goes_on_where_the_leaf_stopped) {
    LaterQueue queue;
    Words c = quarters(1), to(static_cast<std::size_t>(kWords), 5);
    LaterLevel level(queue, word_sum(), c.data(), kWords, true);
    const std::uint64_t* from[] = {c.data(), c.data() + kWords};
    const int ticket = level.add(to.data(), from, kWords);
    queue.sums[0].done = kLaterPiece;  // as if the first piece had been made
    level.finish(ticket);
    EXPECT_EQ(to[0], 5U);
    EXPECT_EQ(to[static_cast<std::size_t>(kLaterPiece)], 3U);
    EXPECT_EQ(to.back(), 3U);
}

TEST(LaterOperand, two_sums_have_room_and_a_third_when_one_is_given_back) {
    LaterQueue queue;
    Words c = quarters(1), a = quarters(16), buffers(2 * static_cast<std::size_t>(kWords));
    LaterLevel level(queue, word_sum(), c.data(), kWords, false);
    LaterOperand operand(a.data(), kWords, buffers.data());
    const unsigned first = 0b0011, second = 0b0110, third = 0b1001;
    operand.ask(first, level);
    operand.ask(0b0001, level);  // a quarter itself takes no room
    EXPECT_TRUE(operand.has_room(second));
    operand.ask(second, level);
    EXPECT_FALSE(operand.has_room(third));
    EXPECT_TRUE(operand.has_room(0b1000));
    EXPECT_EQ(operand.take(0b0100, level), a.data() + 2 * kWords);
    EXPECT_EQ(*operand.take(first, level), 16U ^ 32U);
    operand.give_back(first);
    EXPECT_TRUE(operand.has_room(third));
    operand.ask(third, level);
    EXPECT_EQ(*operand.take(second, level), 32U ^ 64U);
    operand.give_back(second);
    EXPECT_EQ(*operand.take(third, level), 16U ^ 128U);
}

}  // namespace
