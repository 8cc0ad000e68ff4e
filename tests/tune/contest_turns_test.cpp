// Turns on a made-up clock: the order, who drops out and when it ends.
#include "tune/contest_turns.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heptad {
namespace {

/// Entrants that take what they are told, turn by turn (the last number again and again), on a clock of their own.
class Stage {
public:
    void add(char name, std::vector<double> seconds, bool is_library = false, bool is_balanced = false) {
        takers_.push_back({[this, name, seconds, turn = std::size_t{0}]() mutable {
                               const double taken = seconds[std::min(turn++, seconds.size() - 1)];
                               now_s_ += taken;
                               order_ += name;
                               return taken;
                           },
                           is_library, is_balanced});
    }
    const std::vector<TurnTaker>& run(int most_turns, double most_s = 1e9, bool in_doubt = false) {
        TurnRules rules;
        rules.in_doubt = [this, in_doubt] {
            ++questions_;
            return in_doubt;
        };
        rules.most_turns = most_turns;
        rules.most_s = most_s;
        rules.settle = [this] { now_s_ += 1; };
        rules.clock_s = [this] { return now_s_; };
        take_turns(takers_, rules);
        return takers_;
    }
    std::string order() const { return order_; }
    int questions() const { return questions_; }

private:
    std::vector<TurnTaker> takers_;
    double now_s_ = 0;
    std::string order_;
    int questions_ = 0;
};

TEST(contest_turns, doubt_is_asked_for_once_and_doubles_what_there_is) {
    Stage doubtful;
    doubtful.add('a', {1}, true);
    doubtful.add('b', {1});
    EXPECT_EQ(doubtful.run(3, 1e9, true)[0].seconds.size(), 6U);
    EXPECT_EQ(doubtful.questions(), 1);
    Stage certain;
    certain.add('a', {1}, true);
    certain.add('b', {1});
    EXPECT_EQ(certain.run(3)[0].seconds.size(), 3U);
    EXPECT_EQ(certain.questions(), 1);
    Stage short_of_time;
    short_of_time.add('a', {4}, true);
    short_of_time.add('b', {4});
    EXPECT_EQ(short_of_time.run(9, 35, true)[0].seconds.size(), 7U);  // ten seconds each, 70 in all
    EXPECT_EQ(short_of_time.questions(), 1);
}

TEST(contest_turns, go_there_and_back) {
    Stage stage;
    stage.add('a', {1}, true);
    stage.add('b', {1});
    stage.add('c', {1});
    const auto& takers = stage.run(3);
    EXPECT_EQ(stage.order(), "abccbaabc");
    EXPECT_EQ(takers[1].seconds, std::vector<double>(3, 1));
}

TEST(contest_turns, the_fastest_balanced_plan_stays_unless_it_is_far_behind_the_library) {
    Stage stage;
    stage.add('v', {1}, true);
    stage.add('f', {0.6});               // none for `balanced`
    stage.add('b', {0.8}, false, true);  // behind it, but ahead of the library
    stage.add('c', {0.9}, false, true);  // only the fastest of them stays
    const auto& takers = stage.run(5);
    EXPECT_EQ(takers[1].seconds.size(), 5U);
    EXPECT_EQ(takers[2].seconds.size(), 5U);
    EXPECT_EQ(takers[3].seconds.size(), 2U);
    Stage lost;
    lost.add('v', {1}, true);
    lost.add('f', {0.9});
    lost.add('b', {1.2}, false, true);
    EXPECT_EQ(lost.run(5)[2].seconds.size(), 2U);
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
