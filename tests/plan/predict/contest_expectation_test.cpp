// What smaller contests make expect of larger ones, on made-up machines.
#include "plan/predict/contest_expectation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/predict/contest_choice.hpp"

namespace heptad {
namespace {

using Names = std::vector<std::string>;

/// A library and our kernel, of the same speed, and passes that cost something.
Machine machine_of_two_leaves() {
    Machine machine;
    machine.threads = 2;
    machine.combine_bytes_per_s = machine.scan_bytes_per_s = 2e11;
    for (const char* leaf : {"openblas-mt", "heptad"}) {
        LeafProfile profile{leaf, Type::f32, 2, {}};
        for (std::int64_t n = 128; n <= 4096; n *= 2) {
            const auto size = static_cast<double>(n);
            profile.samples.push_back({n, n, n, 1e-11 * size * size * size});
        }
        machine.leaves.push_back(profile);
    }
    return machine;
}

ContestTrial trial(const Names& algorithms, double doubt = 0.03, int turns = 5) {
    return {{algorithms, "heptad"}, turns, 0.9, doubt};
}

Contest square(std::int64_t n, const std::vector<ContestTrial>& others) {
    Contest contest{Type::f32, n, n, n, 1, {{{{}, "openblas-mt"}, 5, 1, 0}}};
    contest.trials.insert(contest.trials.end(), others.begin(), others.end());
    return contest;
}

bool expects_nothing(const ContestTrial& trial) {
    return std::isinf(trial.expected_doubt);
}

TEST(contest_expectation, is_the_prediction_as_smaller_contests_corrected_it) {
    Machine machine = machine_of_two_leaves();
    machine.contests = {square(1024, {trial({"winograd"})})};
    Contest larger = square(2048, {trial({"winograd"}), trial({"winograd", "winograd"})});
    expect_times(larger, machine);
    const Problem problem = problem_of(larger, 2);
    const double library_s = plan_of(larger.trials[0].plan, problem, machine).predicted_s;
    for (const std::size_t i : {1U, 2U}) {
        EXPECT_NEAR(larger.trials[i].expected_time,
                    plan_of(larger.trials[i].plan, problem, machine).predicted_s / library_s, 1e-12);
        EXPECT_LT(larger.trials[i].expected_time, 1);
    }
    machine.level_factors = {{Type::f32, 1024, 1.25, 1.5, 1.5}};
    Contest corrected = square(2048, {trial({"winograd"}), trial({"winograd", "winograd"})});
    expect_times(corrected, machine);
    EXPECT_NEAR(corrected.trials[1].expected_time, 1.25 * larger.trials[1].expected_time, 1e-9);
    EXPECT_NEAR(corrected.trials[2].expected_time, 1.5 * larger.trials[2].expected_time, 1e-9);
}

TEST(contest_expectation, is_in_more_doubt_than_the_contest_it_comes_from) {
    Machine machine = machine_of_two_leaves();
    double before = 0;
    for (const double doubt : {0.0, 0.05, 0.3}) {
        machine.contests = {square(1024, {trial({"winograd"}, doubt), trial({"winograd", "winograd"}, 0.5)})};
        Contest larger = square(2048, {trial({"winograd"})});
        expect_times(larger, machine);
        EXPECT_GT(larger.trials[1].expected_doubt, std::max(before, doubt));
        before = larger.trials[1].expected_doubt;
        EXPECT_LT(before, doubt + 0.1);
    }
}

TEST(contest_expectation, is_only_for_plans_that_halve) {
    Machine machine = machine_of_two_leaves();
    machine.contests = {square(1024, {trial({"winograd"})})};
    Contest larger =
        square(2048, {trial({}), trial({"3x3x3-23"}), trial({"winograd", "3x2x3-15"}), trial({"winograd"})});
    expect_times(larger, machine);
    EXPECT_TRUE(expects_nothing(larger.trials[0]));
    EXPECT_TRUE(expects_nothing(larger.trials[1]));
    EXPECT_TRUE(expects_nothing(larger.trials[2]));
    EXPECT_TRUE(expects_nothing(larger.trials[3]));
    EXPECT_FALSE(expects_nothing(larger.trials[4]));
}

TEST(contest_expectation, needs_a_contest_like_it_not_far_below) {
    const Machine bare = machine_of_two_leaves();
    const auto expects = [&](const Contest& smaller, Contest contest) {
        Machine machine = bare;
        machine.contests = {smaller};
        expect_times(contest, machine);
        return !expects_nothing(contest.trials.back());
    };
    const Contest asked = square(2048, {trial({"winograd"})});
    EXPECT_TRUE(expects(square(1024, {trial({"winograd"})}), asked));
    EXPECT_FALSE(expects(square(512, {trial({"winograd"})}), asked));
    EXPECT_FALSE(expects(asked, asked));
    EXPECT_FALSE(expects(square(4096, {trial({"winograd"})}), asked));
    EXPECT_FALSE(expects(square(1024, {trial({"winograd"}, 0.01, 2)}), asked));
    EXPECT_FALSE(expects(square(1024, {trial({"3x3x3-23"})}), asked));
    EXPECT_FALSE(expects(square(1024, {trial({})}), asked));
    Contest other_type = square(1024, {trial({"winograd"})});
    other_type.type = Type::f64;
    EXPECT_FALSE(expects(other_type, asked));
    Contest thin = square(1024, {trial({"winograd"})});
    thin.k = 512;
    EXPECT_FALSE(expects(thin, asked));
    thin = asked;
    thin.k = 512;
    EXPECT_FALSE(expects(square(1024, {trial({"winograd"})}), thin));
    Contest none = asked;
    expect_times(none, bare);
    EXPECT_TRUE(expects_nothing(none.trials.back()));
}

}  // namespace
}  // namespace heptad
