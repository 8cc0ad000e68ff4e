#include "plan/predict/contest_entrants.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "plan/predict/contest_choice.hpp"
#include "plan/search/planner.hpp"

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

std::vector<ContestPlan> take_places(std::vector<ContestCandidate> candidates, std::size_t places) {
    bool wants_balanced =
        std::any_of(candidates.begin(), candidates.end(), [](const ContestCandidate& x) { return x.is_balanced; });
    std::vector<ContestPlan> taken;
    for (ContestCandidate& candidate : candidates) {
        const bool is_last_place = taken.size() + 1 == places;
        if (taken.size() < places && (candidate.is_balanced || !(wants_balanced && is_last_place))) {
            wants_balanced = wants_balanced && !candidate.is_balanced;
            taken.push_back(std::move(candidate.plan));
        }
    }
    return taken;
}

std::vector<ContestPlan> contest_entrants(const Problem& problem, const Machine& machine, const EntrantLimits& limits) {
    constexpr double kFarBehind = 1.3;  // the classical product by that much: no prediction errs so far
    constexpr std::size_t kMostHalvings = 3;
    const std::int64_t smallest_leaf = PlannerLimits{}.smallest_leaf;
    using Candidate = ContestCandidate;
    std::vector<Candidate> libraries, others;
    const auto add = [&](ContestPlan plan) {
        std::vector<Candidate>& kind = is_whole_call(plan.leaf) ? libraries : others;
        const auto same = [&](const Candidate& other) { return other.plan == plan; };
        if (std::none_of(kind.begin(), kind.end(), same)) {
            const ProductPlan whole = plan_of(plan, problem, machine);
            kind.push_back({std::move(plan), whole.predicted_s, is_balanced(whole.levels, {})});
        }
    };
    for (const LeafProfile& profile : machine.leaves) {
        if (profile.type != problem.type) {
            continue;
        }
        if (is_whole_call(profile.leaf)) {
            add({{}, profile.leaf});
            continue;
        }
        std::vector<std::string> algorithms;
        std::int64_t block = std::min({problem.m, problem.k, problem.n});
        for (std::size_t halvings = 0; halvings <= kMostHalvings && block >= smallest_leaf; ++halvings, block /= 2) {
            add({algorithms, profile.leaf});
            algorithms.emplace_back(kHalving);
        }
        if (others.empty() || others.back().plan.leaf != profile.leaf) {
            add({{}, profile.leaf});  // too thin to be cut
        }
    }
    const auto add_choice = [&](const ProductPlan& plan) {
        if (std::optional<ContestPlan> choice = as_contest_plan(plan)) {
            add(std::move(*choice));
        }
    };
    if (const std::optional<ProductPlan> follows = plan_by_contest(problem, machine, {}, true)) {
        add_choice(*follows);
    }
    if (limits.has_model_choice) {
        Machine without_contests = machine;
        without_contests.contests.clear();
        add_choice(make_plan(problem, without_contests));
    }
    for (std::vector<Candidate>* kind : {&libraries, &others}) {
        std::stable_sort(kind->begin(), kind->end(),
                         [](const Candidate& x, const Candidate& y) { return x.predicted_s < y.predicted_s; });
    }
    const auto classical =
        std::find_if(others.begin(), others.end(), [](const Candidate& x) { return x.plan.algorithms.empty(); });
    if (classical != others.end()) {
        std::erase_if(others, [limit_s = kFarBehind * classical->predicted_s](const Candidate& x) {
            return x.predicted_s > limit_s;
        });
    }
    if (limits.has_neighbours && !others.empty()) {
        const ContestPlan first = others.front().plan;
        const auto is_neighbour = [&](const Candidate& x) {
            const std::size_t levels = x.plan.algorithms.size(), levels_of_first = first.algorithms.size();
            return x.plan.leaf == first.leaf && levels > 0 &&
                   (levels == levels_of_first + 1 || levels + 1 == levels_of_first);
        };
        std::stable_partition(others.begin() + 1, others.end(), is_neighbour);
    }
    std::vector<ContestPlan> entrants;
    for (std::size_t i = 0; i < std::min(limits.most_libraries, libraries.size()); ++i) {
        entrants.push_back(std::move(libraries[i].plan));
    }
    for (ContestPlan& plan : take_places(std::move(others), limits.most_others)) {
        entrants.push_back(std::move(plan));
    }
    return entrants;
}

}  // namespace heptad
