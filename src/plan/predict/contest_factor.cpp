#include "plan/predict/contest_factor.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "plan/predict/contest_choice.hpp"
#include "plan/predict/predict.hpp"

namespace heptad {

LevelCuts cuts_of(const ContestPlan& plan) {
    LevelCuts cuts = LevelCuts::halved_once;
    for (std::size_t depth = 0; depth < plan.algorithms.size(); ++depth) {
        cuts = cuts_with(depth, cuts, find_algorithm(plan.algorithms[depth]).algorithm);
    }
    return cuts;
}

std::optional<LevelFactor> level_factor_of(const Contest& contest, const Machine& machine, const std::string& device) {
    constexpr double kLeast = 0.8, kMost = 2;  // beyond, something else was measured
    Machine parts = machine;
    parts.level_factors.clear();
    const Problem problem = problem_of(contest, machine.threads, device);
    const double library_s = plan_of(contest.trials.front().plan, problem, parts).predicted_s;
    std::optional<double> factors[3];                   // by LevelCuts
    for (const ContestTrial& trial : contest.trials) {  // the first of a kind is its fastest
        std::optional<double>& factor = factors[static_cast<std::size_t>(cuts_of(trial.plan))];
        if (!trial.plan.algorithms.empty() && trial.turns >= kFewestTurns && !factor) {
            const double predicted = plan_of(trial.plan, problem, parts).predicted_s / library_s;
            factor = std::clamp(estimate(trial).time / predicted, kLeast, kMost);
        }
    }
    const auto& [once, more, others] = factors;
    if (!once && !more && !others) {
        return std::nullopt;
    }
    const double of_once = once ? *once : more ? *more : *others;
    const double of_more = more ? *more : of_once;
    return LevelFactor{contest.type, contest.n, of_once, of_more, others ? *others : std::max(of_once, of_more)};
}

}  // namespace heptad
