// What contests decide is what the planner plans, whatever the cost model says; limits and accuracy still hold.
#include "plan/predict/contest_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/predict/contest_entrants.hpp"
#include "plan/predict/contest_factor.hpp"
#include "plan/predict/error_bound.hpp"

namespace heptad {
namespace {

using Names = std::vector<std::string>;

/// Two libraries and our kernel, of the same speed; how fast passes are makes levels look good
/// or hopeless.
Machine machine_with(double bytes_per_s) {
    Machine machine;
    machine.threads = 2;
    machine.measured = true;
    machine.combine_bytes_per_s = machine.scan_bytes_per_s = bytes_per_s;
    for (const char* leaf : {"openblas", "openblas-mt", "blis-mt", "heptad"}) {
        LeafProfile profile{leaf, Type::f64, 2, {}};
        for (std::int64_t n = 16; n <= 4096; n *= 2) {
            const auto size = static_cast<double>(n);
            profile.samples.push_back({n, n, n, 2e-11 * size * size * size});
        }
        machine.leaves.push_back(profile);
    }
    return machine;
}
constexpr double kFast = 1e13, kSlow = 1e5;

ContestTrial trial(const Names& algorithms, const std::string& leaf, double relative, double doubt = 0.01,
                   int turns = 5) {
    return {{algorithms, leaf}, turns, relative, doubt};
}

Contest contest(std::int64_t n, const std::vector<ContestTrial>& others, double library_s = 1) {
    Contest result{Type::f64, n, n, n, library_s, {trial({}, "blis-mt", 1, 0)}};
    result.trials.insert(result.trials.end(), others.begin(), others.end());
    return result;
}

Problem square(std::int64_t n, Accuracy accuracy = Accuracy::fast) {
    Problem problem{n, n, n, Type::f64, 2, {}};
    problem.options.accuracy = accuracy;
    return problem;
}

Names levels_of(const ProductPlan& plan) {
    Names names;
    for (const LevelPlan& level : plan.levels) {
        EXPECT_EQ(level.mode, LevelMode::parallel);
        names.push_back(level.algorithm);
    }
    return names;
}

TEST(contest_choice, a_plan_that_won_is_taken_where_the_model_would_not) {
    Machine machine = machine_with(kSlow);
    ASSERT_TRUE(make_plan(square(1024), machine).levels.empty());
    machine.contests = {contest(1024, {trial({"winograd"}, "openblas", 0.8)}, 0.02)};
    for (const std::int64_t n : {1024, 900, 1100}) {
        const ProductPlan plan = make_plan(square(n), machine);
        EXPECT_EQ(levels_of(plan), Names{"winograd"});
        EXPECT_EQ(plan.leaf, "openblas");
        EXPECT_NO_THROW(check_plan(plan));
    }
    EXPECT_NEAR(make_plan(square(1024), machine).predicted_s, 0.8 * 0.02, 1e-9);
}

TEST(contest_choice, the_library_is_taken_where_nobody_beat_it_and_the_model_would_not) {
    Machine machine = machine_with(kFast);
    ASSERT_FALSE(make_plan(square(1024), machine).levels.empty());
    for (const ContestTrial& other :
         {trial({"winograd"}, "heptad", 1.2), trial({"winograd"}, "heptad", 0.9, 0.2), trial({}, "heptad", 0.98)}) {
        machine.contests = {contest(1024, {trial({"winograd"}, "openblas", 1.3, 0, 2), other}, 0.02)};
        const ProductPlan plan = make_plan(square(1024), machine);
        EXPECT_TRUE(plan.levels.empty());
        EXPECT_EQ(plan.leaf, "blis-mt");
        EXPECT_NEAR(plan.predicted_s, 0.02, 1e-9);
    }
}

TEST(contest_choice, far_from_any_contest_the_model_decides) {
    Machine machine = machine_with(kFast);
    machine.contests = {contest(1024, {trial({"winograd"}, "heptad", 1.1)})};
    EXPECT_TRUE(make_plan(square(1024), machine).levels.empty());
    EXPECT_FALSE(make_plan(square(4096), machine).levels.empty());  // the library won at a quarter of the size
    machine.contests.front().type = Type::f32;
    EXPECT_FALSE(make_plan(square(1024), machine).levels.empty());
}

TEST(contest_choice, the_model_takes_no_levels_where_the_square_of_that_volume_was_won_without) {
    Machine machine = machine_with(kFast);
    Problem flat{2048, 512, 1024, Type::f64, 2, {}};
    flat.options.accuracy = Accuracy::fast;
    ASSERT_FALSE(make_plan(flat, machine).levels.empty());
    machine.contests = {contest(1024, {trial({"winograd"}, "heptad", 1.1)})};
    ASSERT_EQ(nearest_contest(machine.contests, Type::f64, 2048, 512, 1024), nullptr);
    EXPECT_TRUE(make_plan(flat, machine).levels.empty());
    flat.options.levels = 1;  // asked for
    EXPECT_EQ(make_plan(flat, machine).levels.size(), 1U);
    flat.options.levels = -1;
    machine.contests = {contest(1024, {trial({"winograd"}, "heptad", 0.8)})};
    EXPECT_FALSE(make_plan(flat, machine).levels.empty());
}

TEST(contest_choice, larger_problems_put_halvings_on_top_of_the_winner) {
    Machine machine = machine_with(kSlow);
    machine.contests = {contest(1024, {trial({"3x3x3-23"}, "openblas", 0.8)})};
    EXPECT_EQ(levels_of(make_plan(square(1024), machine)), (Names{"3x3x3-23"}));
    EXPECT_EQ(levels_of(make_plan(square(2048), machine)), (Names{"winograd", "3x3x3-23"}));
    EXPECT_EQ(levels_of(make_plan(square(5000), machine)), (Names{"winograd", "winograd", "3x3x3-23"}));
    EXPECT_TRUE(make_plan(square(8192), machine).levels.empty());  // too far away: the model's, whose passes are slow
}

TEST(contest_choice, of_two_as_good_the_one_with_fewer_levels_is_taken) {
    Machine machine = machine_with(kFast);
    const ContestTrial once = trial({"winograd"}, "heptad", 0.805);
    machine.contests = {contest(1024, {trial({"winograd", "winograd"}, "heptad", 0.8), once})};
    EXPECT_EQ(levels_of(make_plan(square(1024), machine)), Names{"winograd"});
    machine.contests = {contest(1024, {trial({"winograd", "winograd"}, "heptad", 0.7), once})};
    EXPECT_EQ(levels_of(make_plan(square(1024), machine)), (Names{"winograd", "winograd"}));
}

TEST(contest_choice, more_levels_must_be_faster_by_more_than_their_doubt) {
    Machine machine = machine_with(kFast);
    const ContestTrial once = trial({"winograd"}, "heptad", 0.82);
    machine.contests = {contest(1024, {trial({"winograd", "winograd"}, "heptad", 0.8, 0.03), once})};
    EXPECT_EQ(levels_of(make_plan(square(1024), machine)), Names{"winograd"});
    machine.contests = {contest(1024, {trial({"winograd", "winograd"}, "heptad", 0.8, 0.005), once})};
    EXPECT_EQ(levels_of(make_plan(square(1024), machine)), (Names{"winograd", "winograd"}));
    machine.contests = {contest(1024, {trial({"winograd", "winograd"}, "heptad", 0.75, 0.2), once})};
    EXPECT_EQ(levels_of(make_plan(square(1024), machine)), (Names{"winograd", "winograd"}));  // not by that much
}

TEST(contest_choice, what_was_expected_decides_where_turns_do_not) {
    Machine machine = machine_with(kSlow);
    ContestTrial noisy = trial({"winograd"}, "heptad", 0.93, 0.12, 3);
    machine.contests = {contest(1024, {noisy}, 0.02)};
    EXPECT_TRUE(make_plan(square(1024), machine).levels.empty());
    noisy.expected_time = 0.86;
    noisy.expected_doubt = 0.1;
    machine.contests = {contest(1024, {noisy}, 0.02)};
    EXPECT_EQ(levels_of(make_plan(square(1024), machine)), Names{"winograd"});
    EXPECT_NEAR(make_plan(square(1024), machine).predicted_s, 0.02 * estimate(noisy).time, 1e-9);
}

TEST(contest_choice, accuracy_is_kept) {
    Machine machine = machine_with(kFast);
    const Names many{"winograd", "winograd", "winograd", "winograd"};
    machine.contests = {
        contest(4096, {trial(many, "heptad", 0.6), trial({"winograd"}, "heptad", 0.8), trial({}, "openblas", 0.9)})};
    EXPECT_EQ(levels_of(make_plan(square(4096), machine)), many);
    const ProductPlan balanced = make_plan(square(4096, Accuracy::balanced), machine);
    EXPECT_EQ(levels_of(balanced), Names{"winograd"});
    EXPECT_LE(expected_growth(balanced.levels), PlannerLimits{}.balanced_growth);
    for (const ProductPlan& plan : {make_plan(square(4096, Accuracy::strict), machine), [&] {
                                        Problem none = square(4096);
                                        none.options.levels = 0;
                                        return make_plan(none, machine);
                                    }()}) {
        EXPECT_TRUE(plan.levels.empty());
        EXPECT_EQ(plan.leaf, "openblas");
    }
}

const Names kOnlyForFast{"winograd", "winograd", "winograd", "winograd"};

TEST(contest_choice, the_model_decides_where_no_plan_within_the_accuracy_took_part) {
    // The contests of 2048 and 4096 as a tuning left them: a balanced plan won the first, and all who ran in the second
    // were too inaccurate. Nothing lost there that `balanced` could have taken.
    Machine machine = machine_with(kFast);
    ASSERT_FALSE(is_balanced(plan_of({kOnlyForFast, "heptad"}, square(4096), machine).levels, {}));
    const Contest smaller = contest(2048, {trial({"winograd", "winograd"}, "heptad", 0.77)});
    for (const double fast_time : {0.66, 1.2}) {
        machine.contests = {smaller, contest(4096, {trial(kOnlyForFast, "heptad", fast_time)})};
        Machine without = machine;
        without.contests.clear();
        const ProductPlan balanced = make_plan(square(4096, Accuracy::balanced), machine);
        EXPECT_TRUE(is_balanced(balanced.levels, {})) << fast_time;
        EXPECT_EQ(levels_of(balanced), levels_of(make_plan(square(4096, Accuracy::balanced), without)));
    }
    machine.contests.back().trials.push_back(trial({"winograd"}, "heptad", 1.02));  // one took part, and lost
    EXPECT_TRUE(make_plan(square(4096, Accuracy::balanced), machine).levels.empty());
}

TEST(contest_choice, a_plan_that_dropped_out_behind_an_inaccurate_one_has_not_lost) {
    Machine machine = machine_with(kFast);
    const ContestTrial fast = trial(kOnlyForFast, "heptad", 0.6);
    machine.contests = {contest(4096, {fast, trial({"winograd"}, "heptad", 0.8, 0, 2)})};
    EXPECT_FALSE(make_plan(square(4096, Accuracy::balanced), machine).levels.empty());
    machine.contests = {contest(4096, {fast, trial({"winograd"}, "heptad", 1.2, 0, 2)})};  // behind the library too
    EXPECT_TRUE(make_plan(square(4096, Accuracy::balanced), machine).levels.empty());
}

TEST(contest_choice, without_a_verdict_on_levels_the_classical_winner_is_taken_where_the_model_takes_none) {
    Machine machine = machine_with(kSlow);
    machine.contests = {contest(4096, {trial(kOnlyForFast, "heptad", 0.6), trial({}, "openblas", 0.9)}, 2)};
    const ProductPlan plan = make_plan(square(4096, Accuracy::balanced), machine);
    EXPECT_TRUE(plan.levels.empty());
    EXPECT_EQ(plan.leaf, "openblas");
    EXPECT_NEAR(plan.predicted_s, 0.9 * 2, 1e-9);
}

TEST(contest_choice, a_square_without_a_plan_within_the_accuracy_forbids_nothing_of_its_volume) {
    Machine machine = machine_with(kFast);
    Problem flat{8192, 2048, 4096, Type::f64, 2, {}};  // balanced
    machine.contests = {contest(4096, {trial(kOnlyForFast, "heptad", 1.2)})};
    EXPECT_FALSE(contests_forbid_levels(flat, machine, {}));
    EXPECT_FALSE(make_plan(flat, machine).levels.empty());
    flat.options.accuracy = Accuracy::fast;
    EXPECT_TRUE(contests_forbid_levels(flat, machine, {}));
    // Won by an inaccurate plan, lost by the one that `balanced` allows.
    machine.contests = {contest(4096, {trial(kOnlyForFast, "heptad", 0.6), trial({"winograd"}, "heptad", 1.1)})};
    EXPECT_FALSE(contests_forbid_levels(flat, machine, {}));
    flat.options.accuracy = Accuracy::balanced;
    EXPECT_TRUE(contests_forbid_levels(flat, machine, {}));
}

TEST(contest_choice, what_the_caller_asks_for_is_not_overruled) {
    Machine machine = machine_with(kFast);
    machine.contests = {contest(1024, {trial({"winograd"}, "heptad", 0.5)})};
    Problem problem = square(1024);
    problem.options.leaf = "openblas";
    EXPECT_EQ(make_plan(problem, machine).leaf, "openblas");
    problem = square(1024);
    problem.options.levels = 2;
    EXPECT_EQ(make_plan(problem, machine).levels.size(), 2U);
    problem = square(1024);
    problem.options.algorithm = "strassen";
    for (const std::string& name : levels_of(make_plan(problem, machine))) {
        EXPECT_EQ(name, "strassen");
    }
    problem = square(1024);
    for (const std::int64_t limit : {0, 1 << 20, 4 << 20}) {
        problem.options.workspace_limit_bytes = limit;
        EXPECT_LE(make_plan(problem, machine).workspace_bytes, limit);
    }
    problem = square(1024);
    problem.options.device = "reference";
    EXPECT_EQ(make_plan(problem, machine).leaf, "reference");
}

TEST(contest_entrants, every_library_takes_part_and_of_the_others_the_most_hopeful) {
    const Machine machine = machine_with(kFast);
    const std::vector<ContestPlan> entrants = contest_entrants(square(1024), machine, {3, 3});
    ASSERT_EQ(entrants.size(), 5U);
    EXPECT_EQ(entrants[0], (ContestPlan{{}, "openblas-mt"}));
    EXPECT_EQ(entrants[1], (ContestPlan{{}, "blis-mt"}));
    for (std::size_t i = 2; i < entrants.size(); ++i) {
        EXPECT_FALSE(entrants[i].algorithms.empty());  // passes are nearly free there
        EXPECT_FALSE(is_whole_call(entrants[i].leaf));
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(entrants[i], entrants[j]);
        }
    }
    EXPECT_EQ(contest_entrants(square(1024), machine, {1, 3}).size(), 4U);
    EXPECT_EQ(contest_entrants(square(1024), machine, {1, 0}), std::vector<ContestPlan>{entrants[0]});
    const std::vector<ContestPlan> without_levels = contest_entrants(square(1024), machine_with(kSlow), {3, 3});
    ASSERT_EQ(without_levels.size(), 4U);
    EXPECT_EQ(without_levels[2], (ContestPlan{{}, "openblas"}));
    EXPECT_EQ(without_levels[3], (ContestPlan{{}, "heptad"}));
}

TEST(contest_entrants, one_of_them_is_for_the_usual_accuracy) {
    const std::vector<ContestPlan> entrants = contest_entrants(square(4096), machine_with(kFast), {3, 2});
    ASSERT_EQ(entrants.size(), 4U);
    const auto growth = [&](const ContestPlan& plan) {
        return expected_growth(plan_of(plan, square(4096), machine_with(kFast)).levels);
    };
    EXPECT_GT(growth(entrants[2]), PlannerLimits{}.balanced_growth);
    EXPECT_LE(growth(entrants[3]), PlannerLimits{}.balanced_growth);
    EXPECT_FALSE(entrants[3].algorithms.empty());
}

TEST(contest_entrants, one_level_less_and_one_more_take_part_right_behind_the_first) {
    for (const double bytes_per_s : {kFast, kSlow}) {
        const Machine machine = machine_with(bytes_per_s);
        const std::vector<ContestPlan> all = contest_entrants(square(4096), machine, {1, 20, false});
        const std::vector<ContestPlan> entrants = contest_entrants(square(4096), machine, {1, 20, false, true});
        ASSERT_EQ(entrants.size(), all.size());
        ASSERT_GE(entrants.size(), 2U);
        EXPECT_EQ(entrants[1], all[1]);
        std::vector<ContestPlan> neighbours;
        for (const ContestPlan& plan : all) {
            const auto difference =
                static_cast<int>(plan.algorithms.size()) - static_cast<int>(all[1].algorithms.size());
            if (plan.leaf == all[1].leaf && !plan.algorithms.empty() && std::abs(difference) == 1) {
                neighbours.push_back(plan);
            }
        }
        EXPECT_EQ(std::vector<ContestPlan>(entrants.begin() + 2,
                                           entrants.begin() + 2 + static_cast<std::ptrdiff_t>(neighbours.size())),
                  neighbours);
        EXPECT_TRUE(bytes_per_s == kSlow || !neighbours.empty());
        EXPECT_TRUE(std::is_permutation(entrants.begin(), entrants.end(), all.begin()));
    }
}

TEST(contest_entrants, thin_problems_are_not_cut) {
    Problem thin = square(4096);
    thin.k = 64;
    const std::vector<ContestPlan> entrants = contest_entrants(thin, machine_with(kFast), {3, 4});
    EXPECT_EQ(entrants.size(), 4U);
    for (const ContestPlan& plan : entrants) {
        EXPECT_TRUE(plan.algorithms.empty());
    }
    EXPECT_TRUE(contest_entrants(square(64), Machine{}, {3, 4}).empty());
}

TEST(contest_entrants, the_winner_of_half_the_size_takes_part) {
    Machine machine = machine_with(kFast);
    machine.contests = {contest(1024, {trial({"3x3x3-23"}, "openblas", 0.8)})};
    const std::vector<ContestPlan> entrants = contest_entrants(square(2048), machine, {3, 20});
    const ContestPlan expected{{"winograd", "3x3x3-23"}, "openblas"};
    EXPECT_NE(std::find(entrants.begin(), entrants.end(), expected), entrants.end());
}

TEST(contest_entrants, without_the_choice_of_the_model_they_halve_or_follow_from_contests) {
    Machine machine = machine_with(kFast);
    const auto others = [&](bool has_model_choice) {
        std::vector<ContestPlan> entrants = contest_entrants(square(4096), machine, {3, 20, has_model_choice});
        std::erase_if(entrants, [](const ContestPlan& plan) {
            return std::all_of(plan.algorithms.begin(), plan.algorithms.end(),
                               [](const std::string& name) { return name == kHalving; });
        });
        return entrants;
    };
    EXPECT_EQ(others(true).size(), 1U);
    EXPECT_TRUE(others(false).empty());
    machine.contests = {contest(2048, {trial({"3x3x3-23"}, "openblas", 0.8)})};
    EXPECT_EQ(others(false), (std::vector<ContestPlan>{{{"winograd", "3x3x3-23"}, "openblas"}}));
}

TEST(contest_factor, predictions_are_corrected_by_what_levels_took) {
    Machine machine = machine_with(kFast);
    const Contest held =
        contest(1024, {trial({"winograd"}, "heptad", 1.1), trial({"winograd", "winograd"}, "heptad", 1.2)});
    const double library_s = plan_of(held.trials[0].plan, square(1024), machine).predicted_s;
    const double once_s = plan_of(held.trials[1].plan, square(1024), machine).predicted_s;
    machine.level_factors = {{Type::f64, 512, 1.7, 1.7, 1.7}};  // of other contests: not counted twice
    const std::optional<LevelFactor> factor = level_factor_of(held, machine);
    ASSERT_TRUE(factor);
    EXPECT_EQ(factor->n, 1024);
    EXPECT_NEAR(factor->halved_once, 1.1 * library_s / once_s, 1e-9);
    EXPECT_GT(factor->halved_more, factor->halved_once);
    EXPECT_EQ(factor->others, factor->halved_more);  // not tried: no better than the worst
    machine.level_factors = {*factor};
    EXPECT_NEAR(plan_of(held.trials[1].plan, square(1024), machine).predicted_s, 1.1 * library_s, 1e-9 * library_s);
}

TEST(contest_factor, a_single_turn_corrects_nothing) {
    const Machine machine = machine_with(kFast);
    EXPECT_FALSE(level_factor_of(contest(1024, {trial({"winograd"}, "heptad", 5, 0, 1)}), machine));
    EXPECT_FALSE(level_factor_of(contest(1024, {trial({}, "heptad", 0.8)}), machine));
}

}  // namespace
}  // namespace heptad
