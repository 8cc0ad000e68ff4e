// Rounds on a made-up clock: the order, who drops out, when it ends, and what they say. Gains that are there are seen,
// noise is not taken for a gain.
#include "tune/plan_rounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "plan/predict/measured_plans.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// Plans that take what they are told, round by round (the last number again and again), on a clock of their own.
class Stage {
public:
    void add(char name, std::vector<double> seconds, bool is_library = false, bool is_balanced = false) {
        runners_.push_back({[this, name, seconds, round = std::size_t{0}]() mutable {
                                const double taken = seconds[std::min(round++, seconds.size() - 1)];
                                now_s_ += taken;
                                order_ += name;
                                return taken;
                            },
                            is_library, is_balanced});
    }
    const std::vector<RoundRunner>& run(int most_rounds, double most_s = 1e9, bool is_undecided = false) {
        RoundRules rules;
        rules.is_undecided = [this, is_undecided] {
            ++questions_;
            return is_undecided;
        };
        rules.most_rounds = most_rounds;
        rules.most_s = most_s;
        rules.settle = [this] { now_s_ += 1; };
        rules.clock_s = [this] { return now_s_; };
        run_rounds(runners_, rules);
        return runners_;
    }
    std::string order() const { return order_; }
    int questions() const { return questions_; }

private:
    std::vector<RoundRunner> runners_;
    double now_s_ = 0;
    std::string order_;
    int questions_ = 0;
};

TEST(plan_rounds, they_are_doubled_once_where_they_decide_nothing) {
    Stage undecided;
    undecided.add('a', {1}, true);
    undecided.add('b', {1});
    EXPECT_EQ(undecided.run(3, 1e9, true)[0].seconds.size(), 6U);
    EXPECT_EQ(undecided.questions(), 1);
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

TEST(plan_rounds, go_there_and_back) {
    Stage stage;
    stage.add('a', {1}, true);
    stage.add('b', {1});
    stage.add('c', {1});
    const auto& runners = stage.run(3);
    EXPECT_EQ(stage.order(), "abccbaabc");
    EXPECT_EQ(runners[1].seconds, std::vector<double>(3, 1));
}

TEST(plan_rounds, the_fastest_balanced_plan_stays_unless_it_is_far_behind_the_library) {
    Stage stage;
    stage.add('v', {1}, true);
    stage.add('f', {0.6});               // none for `balanced`
    stage.add('b', {0.8}, false, true);  // behind it, but ahead of the library
    stage.add('c', {0.9}, false, true);  // only the fastest of them stays
    const auto& runners = stage.run(5);
    EXPECT_EQ(runners[1].seconds.size(), 5U);
    EXPECT_EQ(runners[2].seconds.size(), 5U);
    EXPECT_EQ(runners[3].seconds.size(), 2U);
    Stage lost;
    lost.add('v', {1}, true);
    lost.add('f', {0.9});
    lost.add('b', {1.2}, false, true);
    EXPECT_EQ(lost.run(5)[2].seconds.size(), 2U);
}

TEST(plan_rounds, who_is_far_behind_drops_out_but_not_for_one_bad_round) {
    Stage stage;
    stage.add('v', {1}, true);
    stage.add('s', {3});         // far behind at once
    stage.add('u', {2.1, 0.9});  // bad luck at first
    stage.add('m', {1.2});       // clear after the second round
    const auto& runners = stage.run(5);
    EXPECT_EQ(runners[0].seconds.size(), 5U);
    EXPECT_EQ(runners[1].seconds.size(), 1U);
    EXPECT_EQ(runners[2].seconds.size(), 5U);
    EXPECT_EQ(runners[3].seconds.size(), 2U);
}

TEST(plan_rounds, the_fastest_library_stays_however_slow_and_the_others_do_not) {
    Stage stage;
    stage.add('v', {9}, true);
    stage.add('w', {8}, true);
    stage.add('f', {1});
    const auto& runners = stage.run(4);
    EXPECT_EQ(runners[0].seconds.size(), 1U);
    EXPECT_EQ(runners[1].seconds.size(), 4U);
    EXPECT_EQ(runners[2].seconds.size(), 4U);
}

TEST(plan_rounds, end_before_the_time_is_over_but_not_before_the_first) {
    Stage stage;
    stage.add('a', {4}, true);
    stage.add('b', {4});
    EXPECT_EQ(stage.run(9, 35)[0].seconds.size(), 3U);  // ten seconds each, with a pause before each call
    Stage slow;
    slow.add('a', {1000}, true);
    EXPECT_EQ(slow.run(9, 1)[0].seconds.size(), 1U);
}

TEST(plan_rounds, without_anybody_there_are_none) {
    Stage stage;
    EXPECT_TRUE(stage.run(3).empty());
}

RoundRunner ran(std::vector<double> seconds, bool is_library = false) {
    return {{}, is_library, false, std::move(seconds)};
}

TEST(plan_rounds, times_are_compared_round_by_round) {
    // The machine gets three times slower meanwhile; the second one stays a tenth faster.
    const RoundResults results =
        compare_with_library({ran({1, 2, 3}, true), ran({0.9, 1.8, 2.7}), ran({1.5, 3.1, 4.4})});
    EXPECT_EQ(results.library, 0U);
    EXPECT_EQ(results.library_s, 2);
    EXPECT_EQ(results.times[0].median, 1);
    EXPECT_EQ(results.times[0].std_error, 0);
    EXPECT_NEAR(results.times[1].median, 0.9, 1e-12);
    EXPECT_NEAR(results.times[1].std_error, 0, 1e-12);
    EXPECT_NEAR(results.times[2].median, 1.5, 0.1);
    EXPECT_GT(results.times[2].std_error, 0);
}

TEST(plan_rounds, more_may_tell_only_of_somebody_who_is_ahead_and_still_runs) {
    const auto undecided = [](std::vector<double> seconds) {
        return is_undecided(compare_with_library({ran({1, 1, 1, 1}, true), ran(std::move(seconds))}), 1.03);
    };
    EXPECT_TRUE(undecided({0.7, 0.8, 1.1, 1.2}));
    EXPECT_FALSE(undecided({0.9, 0.9, 0.9, 0.9}));      // it has won
    EXPECT_FALSE(undecided({0.98, 0.99, 0.98, 0.99}));  // less than the minimum gain
    EXPECT_FALSE(undecided({0.9, 1.0, 1.2, 1.3}));      // behind
    EXPECT_FALSE(undecided({0.8, 1.1}));                // has dropped out
}

TEST(plan_rounds, the_fastest_library_is_compared_with_and_none_that_dropped_out) {
    const RoundResults results = compare_with_library({ran({7, 7, 7}), ran({10, 20, 10}, true), ran({9, 18, 9}, true)});
    EXPECT_EQ(results.library, 2U);
    EXPECT_EQ(results.library_s, 9);
    EXPECT_NEAR(results.times[1].median, 10.0 / 9, 1e-12);
    EXPECT_EQ(compare_with_library({ran({10, 10, 10}, true), ran({9}, true)}).library, 0U);
}

TEST(plan_rounds, who_drops_out_is_judged_by_the_rounds_he_had) {
    const RoundResults results = compare_with_library({ran({2, 2, 2, 2}, true), ran({1}), ran({1, 1})});
    EXPECT_EQ(results.times[1].rounds, 1);
    EXPECT_EQ(results.times[1].median, 0.5);
    EXPECT_EQ(results.times[2].rounds, 2);
}

TEST(plan_rounds, one_round_beside_a_busy_neighbour_changes_nothing) {
    const RelativeTime time =
        compare_with_library({ran({1, 1.01, 1, 0.99, 3}, true), ran({0.8, 2.5, 0.81, 0.8, 0.8})}).times[1];
    EXPECT_NEAR(time.median, 0.81, 0.01);
    EXPECT_LT(time.median + time.std_error, 1);
}

TEST(plan_rounds, are_recorded_with_the_library_first_and_then_from_the_fastest_on) {
    Machine machine;
    machine.leaves = {{"openblas-mt", Type::f32, 1, {{512, 512, 512, 1e-3}}},
                      {"heptad", Type::f32, 1, {{512, 512, 512, 2e-3}}}};
    const Problem problem{512, 512, 512, Type::f32, 1, {}};
    std::vector<ProductPlan> plans;
    for (const PlanShape& shape : {PlanShape{{"winograd"}, "heptad"}, {{}, "openblas-mt"}, {{}, "heptad"}}) {
        plans.push_back(plan_with_shape(problem, machine, shape));
    }
    std::vector<std::string> measured_errors;
    const auto error_of = [&](const ProductPlan& plan) {
        measured_errors.push_back(plan.leaf);
        return plan.levels.empty() ? 2e-7 : 6e-7;
    };
    record_plans(plans, compare_with_library({ran({3, 3, 3}), ran({1, 1, 1}, true), ran({2, 2, 2})}), error_of,
                 machine);
    ASSERT_EQ(machine.measured_plans.size(), 3U);
    EXPECT_EQ(machine.measured_plans[0], (MeasuredPlan{Type::f32, 512, 512, 512, {{}, "openblas-mt"}, 1, 0, 3, 1}));
    EXPECT_EQ(machine.measured_plans[1].plan, (PlanShape{{}, "heptad"}));
    EXPECT_NEAR(machine.measured_plans[1].modelled_time, 2, 1e-9);
    EXPECT_EQ(machine.measured_plans[2].plan, (PlanShape{{"winograd"}, "heptad"}));
    EXPECT_EQ(machine.measured_plans[2].relative_time, 3);
    EXPECT_NEAR(machine.measured_plans[2].error_growth, 3, 1e-9);
    EXPECT_EQ(measured_errors, (std::vector<std::string>{"openblas-mt", "heptad"}))
        << "the library, and who has levels";
    Machine again;
    keep_rows_of(machine, Type::f32, 512, 512, 512, again);
    keep_rows_of(machine, Type::f64, 512, 512, 512, again);
    EXPECT_EQ(again.measured_plans, machine.measured_plans);
}

/// How often a plan that takes `relative` times as long as the library is taken, where single times vary by a tenth and
/// the cost model has it take `modelled` times as long.
int wins_of_1000(double relative, int rounds, double modelled = 1) {
    std::mt19937 random(7);
    std::normal_distribution<double> noise(1, 0.1);
    const PlanShape shape{{"winograd"}, "heptad"};
    Machine machine;
    machine.leaves = {{"openblas-mt", Type::f32, 1, {{512, 512, 512, 1}}},
                      {"heptad", Type::f32, 1, {{512, 512, 512, 1}}}};
    const ProductPlan plan = plan_with_shape({512, 512, 512, Type::f32, 1, {}}, machine, shape);
    int wins = 0;
    for (int i = 0; i < 1000; ++i) {
        RoundRunner library = ran({}, true), other = ran({});
        for (int round = 0; round < rounds; ++round) {
            library.seconds.push_back(std::max(0.5, noise(random)));
            other.seconds.push_back(relative * std::max(0.5, noise(random)));
        }
        const RelativeTime time = compare_with_library({library, other}).times[1];
        machine.measured_plans = {
            {Type::f32, 512, 512, 512, shape, time.median, time.std_error, time.rounds, modelled}};
        wins += modelled * measured_ratio(plan, machine) * PlannerLimits{}.min_gain < 1 ? 1 : 0;
    }
    return wins;
}

TEST(plan_rounds, noise_of_a_tenth_rarely_hides_a_gain_or_makes_a_loser_win) {
    EXPECT_GT(wins_of_1000(0.8, 7), 950);
    EXPECT_GT(wins_of_1000(0.8, 5), 900);
    EXPECT_LT(wins_of_1000(1.1, 5), 50);
    EXPECT_LT(wins_of_1000(1.2, 3), 50);
    EXPECT_LT(wins_of_1000(1.1, 7), wins_of_1000(1.1, 3) + 1);
}

TEST(plan_rounds, a_gain_of_a_tenth_that_the_model_sees_is_rarely_hidden_and_a_loser_still_loses) {
    EXPECT_GT(wins_of_1000(0.9, 3, 0.9), 650);
    EXPECT_GT(wins_of_1000(0.9, 5, 0.9), 750);
    EXPECT_LT(wins_of_1000(1.1, 5, 0.9), 120);
    EXPECT_LT(wins_of_1000(1.2, 5, 0.9), 20);
}

}  // namespace
}  // namespace heptad
