#include "plan/contest_entrants.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "plan/contest_choice.hpp"
#include "plan/planner.hpp"

namespace heptad {
namespace {

/// None: it is a library's product, which takes part anyway, or has levels that contests do not know.
std::optional<ContestPlan> as_contest_plan(const ProductPlan& plan) {
    ContestPlan result{{}, plan.leaf};
    for (const LevelPlan& level : plan.levels) {
        if (level.mode != LevelMode::parallel) {
            return std::nullopt;
        }
        result.algorithms.push_back(level.algorithm);
    }
    return plan.levels.empty() ? std::nullopt : std::optional(std::move(result));
}

}  // namespace

std::vector<ContestPlan> contest_entrants(const Problem& problem, const Machine& machine, std::size_t most_others) {
    constexpr double kFarBehind = 1.3;  // no prediction errs so much
    constexpr std::size_t kMostHalvings = 3;
    const std::int64_t smallest_leaf = PlannerLimits{}.smallest_leaf;
    struct Candidate {
        ContestPlan plan;
        double predicted_s;
    };
    std::vector<ContestPlan> entrants;
    std::vector<Candidate> others;
    const auto add = [&](ContestPlan plan) {
        const auto same = [&](const Candidate& other) { return other.plan == plan; };
        if (std::none_of(others.begin(), others.end(), same)) {
            const double predicted_s = plan_of(plan, problem, machine).predicted_s;
            others.push_back({std::move(plan), predicted_s});
        }
    };
    for (const LeafProfile& profile : machine.leaves) {
        if (profile.type != problem.type) {
            continue;
        }
        if (is_whole_call(profile.leaf)) {
            entrants.push_back({{}, profile.leaf});
            continue;
        }
        std::vector<std::string> algorithms;
        std::int64_t block = std::min({problem.m, problem.k, problem.n});
        for (std::size_t halvings = 0; halvings <= kMostHalvings && block >= smallest_leaf; ++halvings, block /= 2) {
            add({algorithms, profile.leaf});
            algorithms.push_back(kHalving);
        }
        if (others.empty() || others.back().plan.leaf != profile.leaf) {
            add({{}, profile.leaf});  // too thin to be cut
        }
    }
    // What the smaller contests lead to, and what the cost model prefers without them.
    Machine without_contests = machine;
    without_contests.contests.clear();
    for (const Machine* known : {&machine, static_cast<const Machine*>(&without_contests)}) {
        if (std::optional<ContestPlan> choice = as_contest_plan(make_plan(problem, *known))) {
            add(std::move(*choice));
        }
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const Candidate& x, const Candidate& y) { return x.predicted_s < y.predicted_s; });
    for (std::size_t i = 0; i < std::min(most_others, others.size()); ++i) {
        if (others[i].predicted_s <= kFarBehind * others.front().predicted_s) {
            entrants.push_back(std::move(others[i].plan));
        }
    }
    return entrants;
}

}  // namespace heptad
