// Verdicts of contests on made-up times: gains that are there are seen, noise is not taken for a gain.
#include "plan/predict/contest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace heptad {
namespace {

const ContestPlan kLibrary{{}, "openblas-mt"};
const ContestPlan kOther{{}, "blis-mt"};
const ContestPlan kOwn{{}, "heptad"};
const ContestPlan kHalved{{"winograd"}, "heptad"};
const ContestPlan kQuartered{{"winograd", "winograd"}, "heptad"};

const ContestTrial& trial_of(const Contest& contest, const ContestPlan& plan) {
    return *std::find_if(contest.trials.begin(), contest.trials.end(),
                         [&](const ContestTrial& t) { return t.plan == plan; });
}

TEST(contest, times_are_compared_turn_by_turn) {
    // The machine gets three times slower meanwhile; the halved product stays a tenth faster.
    const Contest contest =
        judge(Type::f32, 512, 512, 512, {{kLibrary, {1, 2, 3}}, {kHalved, {0.9, 1.8, 2.7}}, {kOwn, {1.5, 3.1, 4.4}}});
    EXPECT_EQ(contest.first_trial_s, 2);
    ASSERT_EQ(contest.trials.size(), 3U);
    EXPECT_EQ(contest.trials[0].plan, kLibrary);
    EXPECT_EQ(contest.trials[0].relative_time, 1);
    EXPECT_EQ(contest.trials[1].plan, kHalved);  // from the fastest on
    EXPECT_NEAR(contest.trials[1].relative_time, 0.9, 1e-12);
    EXPECT_NEAR(contest.trials[1].doubt, 0, 1e-12);
    EXPECT_TRUE(beats_the_library(contest.trials[1]));
    EXPECT_FALSE(beats_the_library(contest.trials[2]));
    EXPECT_FALSE(beats_the_library(contest.trials[0]));
}

TEST(contest, more_turns_may_tell_only_of_somebody_who_is_ahead_and_still_takes_part) {
    const auto in_doubt = [](std::vector<double> of_halved) {
        return is_in_doubt(
            judge(Type::f32, 512, 512, 512, {{kLibrary, {1, 1, 1, 1}}, {kHalved, std::move(of_halved)}}));
    };
    EXPECT_TRUE(in_doubt({0.7, 0.8, 1.1, 1.2}));
    EXPECT_FALSE(in_doubt({0.9, 0.9, 0.9, 0.9}));      // it has won
    EXPECT_FALSE(in_doubt({0.98, 0.99, 0.98, 0.99}));  // nobody would notice
    EXPECT_FALSE(in_doubt({0.9, 1.0, 1.2, 1.3}));      // behind
    EXPECT_FALSE(in_doubt({0.8, 1.1}));                // has dropped out
}

TEST(contest, the_library_is_the_fastest_with_threads_of_its_own) {
    const Contest contest =
        judge(Type::f64, 4096, 64, 4096, {{kOwn, {7, 7, 7}}, {kLibrary, {10, 20, 10}}, {kOther, {9, 18, 9}}});
    EXPECT_EQ(contest.trials[0].plan, kOther);
    EXPECT_EQ(contest.first_trial_s, 9);
    EXPECT_NEAR(trial_of(contest, kLibrary).relative_time, 10.0 / 9, 1e-12);
    // One that dropped out is not it, however good its only turn was.
    EXPECT_EQ(judge(Type::f64, 64, 64, 64, {{kLibrary, {10, 10, 10}}, {kOther, {9}}}).trials[0].plan, kLibrary);
}

TEST(contest, without_such_a_library_the_fastest_classical_product_takes_its_place) {
    const ContestPlan blis{{}, "blis"};
    const Contest contest =
        judge(Type::f32, 256, 256, 256, {{kHalved, {1, 1, 1}}, {blis, {3, 3, 3}}, {kOwn, {2, 2, 2}}});
    EXPECT_EQ(contest.trials[0].plan, kOwn);
    EXPECT_EQ(trial_of(contest, kHalved).relative_time, 0.5);
}

TEST(contest, who_drops_out_is_judged_by_the_turns_he_had_and_never_wins_with_one_or_two) {
    const Contest contest = judge(Type::f32, 512, 512, 512,
                                  {{kLibrary, {2, 2, 2, 2}}, {kHalved, {1}}, {kQuartered, {1, 1}}, {kOwn, {1, 1, 1}}});
    EXPECT_EQ(trial_of(contest, kHalved).turns, 1);
    EXPECT_EQ(trial_of(contest, kHalved).relative_time, 0.5);
    EXPECT_FALSE(beats_the_library(trial_of(contest, kHalved)));
    EXPECT_FALSE(beats_the_library(trial_of(contest, kQuartered)));
    EXPECT_TRUE(beats_the_library(trial_of(contest, kOwn)));
}

TEST(contest, a_gain_within_its_own_doubt_or_that_nobody_notices_is_none) {
    EXPECT_TRUE(beats_the_library({kOwn, 3, 0.9, 0.09}));
    EXPECT_FALSE(beats_the_library({kOwn, 3, 0.9, 0.11}));
    EXPECT_FALSE(beats_the_library({kOwn, 7, 0.98, 0.001}));
    EXPECT_FALSE(beats_the_library({kOwn, 7, 1.2, 0}));
}

TEST(contest, what_was_expected_counts_as_far_as_it_can_be_trusted) {
    ContestTrial trial{kHalved, 5, 0.9, 0.1};
    EXPECT_EQ(estimate(trial).time, 0.9);
    EXPECT_EQ(estimate(trial).doubt, 0.1);
    trial.expected_time = 0.8;
    trial.expected_doubt = 0.1;
    EXPECT_NEAR(estimate(trial).time, 0.85, 1e-12);
    EXPECT_NEAR(estimate(trial).doubt, 0.1 / std::sqrt(2), 1e-12);
    trial.expected_doubt = 0.2;
    EXPECT_NEAR(estimate(trial).time, 0.88, 1e-12);
    trial.doubt = 0;
    EXPECT_EQ(estimate(trial).time, 0.9);
    EXPECT_EQ(estimate(trial).doubt, 0);
}

TEST(contest, an_expected_gain_outweighs_doubt_and_not_a_loss) {
    EXPECT_FALSE(beats_the_library({kHalved, 3, 0.93, 0.12}));
    EXPECT_TRUE(beats_the_library({kHalved, 3, 0.93, 0.12, 0.86, 0.1}));
    EXPECT_FALSE(beats_the_library({kHalved, 2, 0.93, 0.12, 0.86, 0.1}));
    EXPECT_FALSE(beats_the_library({kHalved, 5, 1.05, 0.01, 0.86, 0.1}));
    EXPECT_TRUE(beats_the_library({kHalved, 5, 0.9, 0.09}));
    EXPECT_FALSE(beats_the_library({kHalved, 5, 0.9, 0.09, 1.1, 0.1}));
}

TEST(contest, one_turn_beside_a_busy_neighbour_changes_nothing) {
    const Contest contest =
        judge(Type::f32, 512, 512, 512, {{kLibrary, {1, 1.01, 1, 0.99, 3}}, {kHalved, {0.8, 2.5, 0.81, 0.8, 0.8}}});
    EXPECT_NEAR(contest.trials[1].relative_time, 0.81, 0.01);
    EXPECT_TRUE(beats_the_library(contest.trials[1]));
}

/// How often a plan that takes `relative` times as long as the library wins, where single times vary by a tenth.
/// `expected`: what was expected of it, up to a tenth; 0: nothing.
int wins_of_1000(double relative, int turns, double expected = 0) {
    std::mt19937 random(7);
    std::normal_distribution<double> noise(1, 0.1);
    int wins = 0;
    for (int contest = 0; contest < 1000; ++contest) {
        ContestTurns library{kLibrary, {}}, other{kHalved, {}};
        for (int turn = 0; turn < turns; ++turn) {
            library.seconds.push_back(std::max(0.5, noise(random)));
            other.seconds.push_back(relative * std::max(0.5, noise(random)));
        }
        ContestTrial trial = judge(Type::f32, 1, 1, 1, {library, other}).trials[1];
        if (expected > 0) {
            trial.expected_time = expected;
            trial.expected_doubt = 0.1;
        }
        wins += beats_the_library(trial) ? 1 : 0;
    }
    return wins;
}

TEST(contest, noise_of_a_tenth_rarely_hides_a_gain_or_makes_a_loser_win) {
    EXPECT_GT(wins_of_1000(0.8, 7), 950);
    EXPECT_GT(wins_of_1000(0.8, 5), 900);
    EXPECT_LT(wins_of_1000(1.1, 5), 50);
    EXPECT_LT(wins_of_1000(1.2, 3), 50);
    EXPECT_LT(wins_of_1000(1.1, 7), wins_of_1000(1.1, 3) + 1);
}

TEST(contest, a_gain_of_a_tenth_that_was_expected_is_rarely_hidden_and_a_loser_still_loses) {
    EXPECT_LT(wins_of_1000(0.9, 3), 600);
    EXPECT_GT(wins_of_1000(0.9, 3, 0.9), 650);
    EXPECT_GT(wins_of_1000(0.9, 5, 0.9), 750);
    EXPECT_LT(wins_of_1000(1.1, 5, 0.9), 100);
    EXPECT_LT(wins_of_1000(1.2, 5, 0.9), 20);
}

TEST(contest, the_nearest_one_of_the_type_is_asked_and_none_that_is_far) {
    std::vector<Contest> contests;
    for (const std::int64_t n : {512, 1024, 4096}) {
        contests.push_back(judge(Type::f32, n, n, n, {{kLibrary, {1}}}));
    }
    contests.push_back(judge(Type::f32, 4096, 64, 4096, {{kLibrary, {1}}}));
    contests.push_back(judge(Type::f64, 768, 768, 768, {{kLibrary, {1}}}));
    const auto nearest = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
        return nearest_contest(contests, Type::f32, m, k, n);
    };
    EXPECT_EQ(nearest(512, 512, 512), contests.data());
    EXPECT_EQ(nearest(700, 600, 512), contests.data());
    EXPECT_EQ(nearest(768, 768, 768), contests.data() + 1);
    EXPECT_EQ(nearest(3000, 5000, 4000), contests.data() + 2);
    EXPECT_EQ(nearest(3000, 48, 5000), contests.data() + 3);
    EXPECT_EQ(nearest(2048, 2048, 2048), nullptr);
    EXPECT_EQ(nearest(4096, 1024, 4096), nullptr);
    EXPECT_EQ(nearest(8192, 8192, 8192), nullptr);
    EXPECT_EQ(nearest(0, 0, 0), nullptr);
    EXPECT_EQ(nearest_contest(contests, Type::i32, 512, 512, 512), nullptr);
}

}  // namespace
}  // namespace heptad
