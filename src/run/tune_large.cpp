#include "run/tune_large.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "algorithm/catalogue.hpp"
#include "plan/planner.hpp"
#include "run/runner.hpp"
#include "run/tune_batches.hpp"

namespace heptad {
namespace {

constexpr double kMostTurns = 5;
constexpr double kSampleSeconds = 0.02;
constexpr double kPauseSeconds = 0.075;  // nobody's threads are still spinning after that
constexpr double kShareOfSmaller = 0.3;  // of the time left, for a size that is not the last

/// One who takes part: what it does, how long that should take and what it took in each turn.
struct Entrant {
    std::function<void()> run;
    double guess_s = 0;
    std::vector<double> turns_s = {};
};

/// What x took relative to y: the median over their turns. On a shared machine the speed drifts by a third within a
/// second, and two who come one after the other drift together; the least of each may come from different times.
double relative_time(const Entrant& x, const Entrant& y) {
    std::vector<double> ratios;
    for (std::size_t turn = 0; turn < x.turns_s.size(); ++turn) {
        ratios.push_back(x.turns_s[turn] / y.turns_s[turn]);
    }
    return median(std::move(ratios));
}

/// Turns of all entrants until about `most_s` seconds are over. False: not even one fits.
bool hold_contest(std::vector<Entrant>& entrants, double most_s) {
    double turn_s = 0;
    for (const Entrant& entrant : entrants) {
        turn_s += kPauseSeconds + std::max(entrant.guess_s, kSampleSeconds);
    }
    const int turns = static_cast<int>(std::min(kMostTurns, most_s / turn_s));
    for (int turn = 0; turn < turns; ++turn) {
        for (Entrant& entrant : entrants) {
            std::this_thread::sleep_for(std::chrono::duration<double>(kPauseSeconds));
            entrant.turns_s.push_back(time_calls(entrant.guess_s, kSampleSeconds, entrant.run));
        }
    }
    return turns > 0;
}

LevelCuts cuts_of(const ProductPlan& plan) {
    LevelCuts cuts = LevelCuts::halved_once;
    for (std::size_t depth = 0; depth < plan.levels.size(); ++depth) {
        cuts = cuts_with(depth, cuts, find_algorithm(plan.levels[depth].algorithm).algorithm);
    }
    return cuts;
}

}  // namespace

void measure_large_squares(cpu::CpuBackend& backend, const Operands& operands, Type type, double most_s,
                           Machine& machine) {
    const LeafProfile* reference = fastest_profile(machine.leaves, type, LeafThreads::ours, kTypical);
    if (reference == nullptr || !std::isfinite(sample_at(reference->in_batches, kTypical))) {
        return;
    }
    const std::vector<Product> batch = batch_of(operands, kTypical, machine.threads);
    const Product product = operands.product({kLongest, kLongest, kLongest});
    std::vector<LeafProfile*> leaves;
    std::vector<Entrant> entrants;
    entrants.push_back({[&, leaf = cpu::CpuBackend::leaf_id(reference->leaf)] { backend.multiply(batch, leaf); },
                        sample_at(reference->in_batches, kTypical) * static_cast<double>(batch.size())});
    const double growth = std::pow(static_cast<double>(kLongest) / kLargest, 3);
    for (const LeafThreads threads : {LeafThreads::ours, LeafThreads::its_own}) {
        if (LeafProfile* profile = fastest_profile(machine.leaves, type, threads, kLargest)) {
            leaves.push_back(profile);
            entrants.push_back(
                {[&, leaf = cpu::CpuBackend::leaf_id(profile->leaf)] { backend.multiply_one(product, leaf); },
                 growth * sample_at(profile->samples, kLargest)});
        }
    }
    if (!hold_contest(entrants, most_s)) {
        return;
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        leaves[i]->samples.push_back(
            {kLongest, kLongest, kLongest,
             entrants[0].guess_s * relative_time(entrants[i + 1], entrants[0])});  // at the clock of the other samples
    }
}

void measure_level_factors(cpu::CpuBackend& backend, const Operands& operands, Type type, double most_s,
                           Machine& machine) {
    const LevelPlan level{"winograd", LevelMode::parallel, ""};
    const auto start = Clock::now();
    std::vector<LevelFactor> factors;
    for (const std::int64_t n : {std::int64_t{1024}, kLargest, kLongest}) {
        Problem problem{n, n, n, type, machine.threads, {}};
        problem.options.accuracy = Accuracy::fast;
        std::vector<ProductPlan> plans{plan_with_levels(problem, machine, {})};
        const auto enter = [&](const ProductPlan& plan) {
            plans.push_back(plan);
            return plans.size() - 1;
        };
        // The number of levels that large products have; where that is not clear, both. And the plan that its
        // prediction makes the first choice, where that is something else.
        const std::size_t once = n <= kLargest ? enter(plan_with_levels(problem, machine, {level})) : 0;
        const std::size_t more = n >= kLargest ? enter(plan_with_levels(problem, machine, {level, level})) : 0;
        const ProductPlan first_choice = make_plan(problem, machine);
        const std::size_t others = cuts_of(first_choice) == LevelCuts::others ? enter(first_choice) : 0;
        std::int64_t workspace_bytes = 0;
        for (const ProductPlan& plan : plans) {
            workspace_bytes = std::max(workspace_bytes, plan.workspace_bytes);
        }
        const Operands::Memory workspace = Operands::huge_pages(static_cast<std::size_t>(workspace_bytes));
        const Product product = operands.product({n, n, n});
        std::vector<Entrant> entrants;
        for (const ProductPlan& plan : plans) {
            entrants.push_back(
                {[&] { run_plan(plan, backend, 1, product.a, product.b, 0, product.c, workspace.get()); },
                 plan.predicted_s});
        }
        const double left_s = most_s - seconds_since(start);
        if (!hold_contest(entrants, n < kLongest ? left_s * kShareOfSmaller : left_s)) {
            break;
        }
        const auto factor_of = [&](std::size_t i) {
            return std::clamp(relative_time(entrants[i], entrants[0]) * plans[0].predicted_s / plans[i].predicted_s,
                              0.8, 2.0);
        };
        const double of_one = factor_of(once != 0 ? once : more);
        const double of_more = factor_of(more != 0 ? more : once);
        factors.push_back({type, n, of_one, of_more, others != 0 ? factor_of(others) : std::max(of_one, of_more)});
    }
    // Only now: predictions above are those of the parts alone.
    machine.level_factors.insert(machine.level_factors.end(), factors.begin(), factors.end());
}

}  // namespace heptad
