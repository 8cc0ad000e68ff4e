#include "plan/search/device_entrants.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "algorithm/catalogue.hpp"
#include "plan/predict/contest_choice.hpp"
#include "plan/predict/contest_entrants.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// One to four halvings; two at a time where they can be, because their sums stay in registers in between.
std::vector<std::vector<std::string>> tried_levels() {
    const std::string once = "winograd", twice = "winograd*winograd";
    return {{once}, {twice}, {once, twice}, {twice, twice}};
}

bool blocks_are_large_enough(const Problem& problem, const std::vector<std::string>& algorithms) {
    std::int64_t m = problem.m, k = problem.k, n = problem.n;
    for (const std::string& name : algorithms) {
        const Algorithm& algorithm = find_algorithm(name).algorithm;
        m /= algorithm.m;
        k /= algorithm.k;
        n /= algorithm.n;
    }
    return std::min({m, k, n}) >= device_limits().smallest_leaf;
}

}  // namespace

std::vector<ContestPlan> device_entrants(const Problem& problem, const Machine& machine, const Machine& usual,
                                         std::size_t most_with_levels) {
    constexpr double kFarBehind = 1.15;  // the classical product by that much: no prediction errs so far
    std::vector<ContestPlan> entrants{{{}, "cublas"}};
    std::vector<ContestCandidate> with_levels;
    const auto is_for_balanced = [&](const ProductPlan& plan) {
        return balanced_follows_levels_of_contests(problem.type) && is_balanced(plan.levels, device_limits());
    };
    const double limit_s = kFarBehind * plan_of(entrants.front(), problem, machine).predicted_s;
    for (const LeafProfile& profile : machine.leaves) {
        if (profile.type != problem.type) {
            continue;
        }
        if (profile.leaf == "cublaslt") {
            entrants.push_back({{}, profile.leaf});
        }
        for (const std::vector<std::string>& algorithms : tried_levels()) {
            ContestPlan plan{algorithms, profile.leaf};
            const ProductPlan whole = plan_of(plan, problem, machine);
            if (blocks_are_large_enough(problem, algorithms) && whole.predicted_s <= limit_s) {
                with_levels.push_back({std::move(plan), whole.predicted_s, is_for_balanced(whole)});
            }
        }
    }
    std::stable_sort(with_levels.begin(), with_levels.end(), [](const ContestCandidate& x, const ContestCandidate& y) {
        return x.predicted_s < y.predicted_s;
    });
    const ProductPlan known = make_plan(problem, usual, device_limits());
    ContestPlan known_plan{{}, known.leaf};
    const bool is_breadth_first = std::all_of(known.levels.begin(), known.levels.end(),
                                              [](const LevelPlan& level) { return level.mode == LevelMode::parallel; });
    for (const LevelPlan& level : known.levels) {
        known_plan.algorithms.push_back(level.algorithm);
    }
    if (!known.levels.empty() && is_breadth_first) {
        std::erase_if(with_levels, [&](const ContestCandidate& x) { return x.plan == known_plan; });
        with_levels.insert(with_levels.begin(), {known_plan, known.predicted_s, is_for_balanced(known)});
    }
    for (ContestPlan& plan : take_places(std::move(with_levels), most_with_levels)) {
        entrants.push_back(std::move(plan));
    }
    return entrants;
}

}  // namespace heptad
