#include "plan/predict/contest_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"

namespace heptad {
namespace {

std::vector<LevelPlan> breadth_first(const std::vector<std::string>& algorithms) {
    std::vector<LevelPlan> levels;
    for (const std::string& algorithm : algorithms) {
        levels.push_back({algorithm, LevelMode::parallel, ""});
    }
    return levels;
}

/// The planner is free to choose, and for the machine that was measured. On a device `strict` means the library itself,
/// and sums of bf16 are kept in another way than in contests where the accuracy is not `fast`.
bool is_left_to_the_planner(const Problem& problem) {
    const Options& options = problem.options;
    const std::string backend = backend_of(options.device);
    const bool like_contests =
        options.accuracy == Accuracy::fast || (options.accuracy == Accuracy::balanced && problem.type != Type::bf16);
    return (backend == "cpu" || (backend == "cuda" && like_contests)) && options.algorithm == "auto" &&
           options.levels <= 0 && options.mode == "auto" && options.leaf == "auto";
}

bool keeps_accuracy(const ContestPlan& plan, const Problem& problem, const PlannerLimits& limits) {
    return problem.options.accuracy == Accuracy::fast ||
           expected_growth(breadth_first(plan.algorithms)) <= limits.balanced_growth;
}

/// What a contest says about levels that the accuracy allows.
enum class Verdict { won, lost, none };
Verdict verdict_on_levels(const Contest& contest, const Problem& problem, const PlannerLimits& limits) {
    Verdict verdict = Verdict::none;
    for (const ContestTrial& trial : contest.trials) {
        if (trial.plan.algorithms.empty() || !keeps_accuracy(trial.plan, problem, limits)) {
            continue;
        }
        if (beats_the_library(trial, contest.noticeable)) {
            return Verdict::won;
        }
        // Dropping out behind another plan, which may be none that the accuracy allows, is not losing to the library.
        if (trial.turns >= kFewestTurns || trial.relative_time > 1) {
            verdict = Verdict::lost;
        }
    }
    return verdict;
}

/// The fastest plan that beats the library and may be taken; fewer levels where they are as good, as far as anybody can
/// tell. Or the library. Nullptr: levels are allowed, and there is no verdict on any.
const ContestTrial* winner(const Contest& contest, const Problem& problem, const PlannerLimits& limits,
                           bool levels_allowed) {
    constexpr double kAsGood = 0.01, kMostDoubt = 0.03;
    if (levels_allowed && verdict_on_levels(contest, problem, limits) == Verdict::none) {
        return nullptr;
    }
    std::vector<const ContestTrial*> winners;
    for (const ContestTrial& trial : contest.trials) {
        const bool allowed =
            trial.plan.algorithms.empty() || (levels_allowed && keeps_accuracy(trial.plan, problem, limits));
        if (allowed && beats_the_library(trial, contest.noticeable)) {
            winners.push_back(&trial);
        }
    }
    if (winners.empty()) {
        return &contest.trials.front();
    }
    const auto faster = [](const ContestTrial* x, const ContestTrial* y) {
        return estimate(*x).time < estimate(*y).time;
    };
    std::stable_sort(winners.begin(), winners.end(), faster);
    const auto [fastest, doubt] = estimate(*winners.front());
    const double as_good = fastest + std::clamp(doubt, kAsGood * fastest, kMostDoubt);
    const ContestTrial* best = winners.front();
    for (const ContestTrial* trial : winners) {
        if (trial->plan.algorithms.size() < best->plan.algorithms.size() && estimate(*trial).time <= as_good) {
            best = trial;
        }
    }
    return best;
}

/// What was decided at a contest and how far the cost model is off there.
struct Decision {
    ContestPlan plan;
    double measured_over_predicted = 1;
};

/// Beyond two halvings down to a size that was tried, a verdict is too far away.
constexpr int kMostOuter = 2;

/// `outer`: halvings that would be put on top.
std::optional<Decision> decide(const Problem& problem, const Machine& machine, const PlannerLimits& limits,
                               bool levels_allowed, int outer) {
    if (const Contest* contest = nearest_contest(machine.contests, problem.type, problem.m, problem.k, problem.n)) {
        const ContestTrial* best = winner(*contest, problem, limits, levels_allowed);
        if (best == nullptr) {
            return std::nullopt;
        }
        const Problem held = problem_of(*contest, problem.threads, problem.options.device);
        return Decision{best->plan,
                        contest->first_trial_s * estimate(*best).time / plan_of(best->plan, held, machine).predicted_s};
    }
    const bool too_small = std::min({problem.m, problem.k, problem.n}) < 2 * limits.smallest_leaf;
    if (!levels_allowed || too_small || outer >= kMostOuter) {
        return std::nullopt;
    }
    Problem half = problem;
    half.m /= 2;
    half.k /= 2;
    half.n /= 2;
    std::optional<Decision> decision = decide(half, machine, limits, levels_allowed, outer + 1);
    // Where the library wins at half the size, it is the model's turn.
    if (!decision || decision->plan.algorithms.empty() ||
        static_cast<int>(decision->plan.algorithms.size()) >= limits.most_levels) {
        return std::nullopt;
    }
    decision->plan.algorithms.insert(decision->plan.algorithms.begin(), kHalving);
    return decision;
}

}  // namespace

Problem problem_of(const Contest& contest, int threads, const std::string& device) {
    Problem problem{contest.m, contest.k, contest.n, contest.type, threads, {}};
    problem.options.accuracy = Accuracy::fast;
    problem.options.device = device;
    return problem;
}

ProductPlan plan_of(const ContestPlan& plan, const Problem& problem, const Machine& machine) {
    Problem with_leaf = problem;
    with_leaf.options.leaf = plan.leaf;
    return plan_with_levels(with_leaf, machine, breadth_first(plan.algorithms));
}

bool balanced_follows_levels_of_contests(Type type) {
    return type != Type::tf32 && type != Type::f16 && type != Type::bf16;
}

bool is_balanced(const std::vector<LevelPlan>& levels, const PlannerLimits& limits) {
    return !levels.empty() && expected_growth(levels) <= limits.balanced_growth;
}

bool contests_forbid_levels(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    if (!is_left_to_the_planner(problem)) {
        return false;
    }
    const auto side = static_cast<std::int64_t>(
        std::cbrt(static_cast<double>(problem.m) * static_cast<double>(problem.k) * static_cast<double>(problem.n)));
    const Contest* contest = nearest_contest(machine.contests, problem.type, side, side, side);
    return contest != nullptr && verdict_on_levels(*contest, problem, limits) == Verdict::lost;
}

std::optional<ProductPlan> plan_by_contest(const Problem& problem, const Machine& machine, const PlannerLimits& limits,
                                           bool levels_allowed) {
    if (machine.contests.empty() || !is_left_to_the_planner(problem)) {
        return std::nullopt;
    }
    const std::optional<Decision> decision = decide(problem, machine, limits, levels_allowed, 0);
    if (!decision || !keeps_accuracy(decision->plan, problem, limits)) {
        return std::nullopt;
    }
    ProductPlan plan = plan_of(decision->plan, problem, machine);
    // Levels fall away where a type's sums cannot be scaled because C is added to: that is not the plan that won.
    const bool is_whole = plan.levels.size() == decision->plan.algorithms.size();
    if (!is_whole || plan.workspace_bytes > problem.options.workspace_limit_bytes) {
        return std::nullopt;
    }
    plan.predicted_s *= decision->measured_over_predicted;
    return plan;
}

}  // namespace heptad
