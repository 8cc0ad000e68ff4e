// Turns on a made-up clock: the order, who drops out and when it ends.
#include "run/contest_turns.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heptad {
namespace {

/// Entrants that take what they are told, turn by turn (the last number again and again), on a clock of their own.
class Stage {
public:
    void add(char name, std::vector<double> seconds, bool is_library = false) {
        takers_.push_back({[this, name, seconds, turn = std::size_t{0}]() mutable {
                               const double taken = seconds[std::min(turn++, seconds.size() - 1)];
                               now_s_ += taken;
                               order_ += name;
                               return taken;
                           },
                           is_library});
    }
    const std::vector<TurnTaker>& run(int most_turns, double most_s = 1e9) {
        TurnRules rules;
        rules.most_turns = most_turns;
        rules.most_s = most_s;
        rules.settle = [this] { now_s_ += 1; };
        rules.clock_s = [this] { return now_s_; };
        take_turns(takers_, rules);
        return takers_;
    }
    std::string order() const { return order_; }

private:
    std::vector<TurnTaker> takers_;
    double now_s_ = 0;
    std::string order_;
};

TEST(contest_turns, go_there_and_back) {
    Stage stage;
    stage.add('a', {1}, true);
    stage.add('b', {1});
    stage.add('c', {1});
    const auto& takers = stage.run(3);
    EXPECT_EQ(stage.order(), "abccbaabc");
    EXPECT_EQ(takers[1].seconds, std::vector<double>(3, 1));
}

TEST(contest_turns, who_is_far_behind_drops_out_but_not_for_one_bad_turn) {
    Stage stage;
    stage.add('v', {1}, true);
    stage.add('s', {3});         // far behind at once
    stage.add('u', {2.1, 0.9});  // bad luck at first
    stage.add('m', {1.2});       // clear after the second turn
    const auto& takers = stage.run(5);
    EXPECT_EQ(takers[0].seconds.size(), 5U);
    EXPECT_EQ(takers[1].seconds.size(), 1U);
    EXPECT_EQ(takers[2].seconds.size(), 5U);
    EXPECT_EQ(takers[3].seconds.size(), 2U);
}

TEST(contest_turns, the_fastest_library_stays_however_slow_and_the_others_do_not) {
    Stage stage;
    stage.add('v', {9}, true);
    stage.add('w', {8}, true);
    stage.add('f', {1});
    const auto& takers = stage.run(4);
    EXPECT_EQ(takers[0].seconds.size(), 1U);
    EXPECT_EQ(takers[1].seconds.size(), 4U);
    EXPECT_EQ(takers[2].seconds.size(), 4U);
}

TEST(contest_turns, end_before_the_time_is_over_but_not_before_the_first) {
    Stage stage;
    stage.add('a', {4}, true);
    stage.add('b', {4});
    EXPECT_EQ(stage.run(9, 35)[0].seconds.size(), 3U);  // ten seconds each, with a pause before each call
    Stage slow;
    slow.add('a', {1000}, true);
    EXPECT_EQ(slow.run(9, 1)[0].seconds.size(), 1U);
}

TEST(contest_turns, without_anybody_there_are_none) {
    Stage stage;
    EXPECT_TRUE(stage.run(3).empty());
}

}  // namespace
}  // namespace heptad
