#include "plan/predict/contest_expectation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/predict/contest_choice.hpp"
#include "plan/predict/contest_factor.hpp"

namespace heptad {
namespace {

/// How far a prediction that was right at half the size is off, relative to the library's: rates of libraries still
/// rise by some percent from one size to the next.
constexpr double kDoubtOfDoubling = 0.08;

bool is_square(const Contest& contest) {
    return contest.m == contest.k && contest.k == contest.n;
}

bool is_halved(const ContestPlan& plan) {
    return !plan.algorithms.empty() && cuts_of(plan) != LevelCuts::others;
}

/// The largest square of the type that is smaller, but not by more than half; nullptr: there was none.
const Contest* next_smaller(const Contest& contest, const Machine& machine) {
    const Contest* nearest = nullptr;
    for (const Contest& other : machine.contests) {
        const bool is_near = other.n < contest.n && 2 * other.n >= contest.n;
        if (other.type == contest.type && is_square(other) && is_near && (nearest == nullptr || other.n > nearest->n)) {
            nearest = &other;
        }
    }
    return nearest;
}

/// Of the plan that is known best; infinity: none had turns enough.
double least_doubt_of_halving(const Contest& contest) {
    double least = std::numeric_limits<double>::infinity();
    for (const ContestTrial& trial : contest.trials) {
        if (is_halved(trial.plan) && trial.turns >= kFewestTurns) {
            least = std::min(least, estimate(trial).doubt);
        }
    }
    return least;
}

}  // namespace

void expect_times(Contest& contest, const Machine& machine) {
    const Contest* smaller = is_square(contest) ? next_smaller(contest, machine) : nullptr;
    if (smaller == nullptr) {
        return;
    }
    const double doubt = std::hypot(kDoubtOfDoubling, least_doubt_of_halving(*smaller));
    if (!std::isfinite(doubt)) {
        return;
    }
    const Problem problem = problem_of(contest, machine.threads);
    const double library_s = plan_of(contest.trials.front().plan, problem, machine).predicted_s;
    for (ContestTrial& trial : contest.trials) {
        if (is_halved(trial.plan)) {
            trial.expected_time = plan_of(trial.plan, problem, machine).predicted_s / library_s;
            trial.expected_doubt = doubt;
        }
    }
}

}  // namespace heptad
