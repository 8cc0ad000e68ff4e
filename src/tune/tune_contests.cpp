#include "tune/tune_contests.hpp"

#include <algorithm>

#include "base/idle_threads.hpp"
#include "plan/predict/contest_choice.hpp"
#include "plan/predict/contest_expectation.hpp"
#include "plan/predict/contest_factor.hpp"
#include "run/dense/runner.hpp"
#include "tune/contest_turns.hpp"
#include "tune/tune_batches.hpp"

namespace heptad {
namespace {

constexpr double kSampleSeconds = 0.015;
constexpr double kPauseSeconds = 0.04;  // about: until nobody's threads are still spinning

struct Entry {
    Shape shape;
    EntrantLimits limits;
    int most_turns;
    double share;            // of the time that is left
    double most_s;           // but no more than that
    double least_share = 0;  // of all the time, whatever the others took
    bool settles_doubt = false;
};

/// Small ones first: what they say helps to choose who takes part in the large ones, where every turn takes seconds.
std::vector<Entry> entries() {
    constexpr double kShort = 1.3, kAny = 60;
    constexpr int kFew = 5, kMany = 7;
    std::vector<Entry> all;
    // Dense where libraries go from one thread to several and from one kernel to the next: a verdict for 96 says
    // nothing about 64.
    for (const std::int64_t n : {32, 48, 64, 80, 96, 128, 160, 192, 256, 512}) {
        all.push_back({{n, n, n}, {3, 3}, kMany, 0.1, kShort});
    }
    for (const auto& [large, thin] : {std::pair{kLongest, std::int64_t{64}}, {1024, 64}, {kLongest, 1}}) {
        all.push_back({{large, thin, large}, {3, 2}, kFew, 0.1, kShort});
        all.push_back({{thin, large, large}, {3, 2}, kFew, 0.1, kShort});
        all.push_back({{large, large, thin}, {3, 2}, kFew, 0.1, kShort});
    }
    all.push_back({{1024, 1024, 1024}, {3, 4}, kMany, 0.1, 2 * kShort});
    // Where levels begin to pay, noise must not keep them out.
    all.push_back({{kLargest, kLargest, kLargest}, {2, 3}, kMany, 0.25, kAny, 0, true});
    // The one that all larger products follow: with a single plan beside the library it decided for too few levels.
    all.push_back({{kLongest, kLongest, kLongest}, {1, 4, false, true}, kMany, 1, kAny, 0.45, true});
    return all;
}

bool is_square(const Contest& contest) {
    return contest.m == contest.k && contest.k == contest.n;
}

/// Classical products took part side by side, which the samples of their leaves did not.
void correct_samples(const Contest& contest, Machine& machine) {
    for (const ContestTrial& trial : contest.trials) {
        const bool says_enough = trial.plan.algorithms.empty() && trial.turns >= kFewestTurns;
        for (LeafProfile& profile : machine.leaves) {
            if (!says_enough || profile.leaf != trial.plan.leaf || profile.type != contest.type) {
                continue;
            }
            std::erase_if(profile.samples, [&](const LeafSample& s) {
                return s.m == contest.m && s.k == contest.k && s.n == contest.n;
            });
            profile.samples.push_back({contest.m, contest.k, contest.n, contest.first_trial_s * trial.relative_time});
        }
    }
}

}  // namespace

std::optional<Contest> hold_contest(cpu::CpuBackend& backend, const Operands& operands, Type type, const Shape& shape,
                                    const EntrantLimits& limits, const ContestTime& time, const Machine& machine) {
    Problem problem{shape.m, shape.k, shape.n, type, machine.threads, {}};
    problem.options.accuracy = Accuracy::fast;
    std::vector<ContestTurns> turns;
    std::vector<ProductPlan> plans;
    double turn_s = 0;
    std::int64_t workspace_bytes = 1;
    for (const ContestPlan& entrant : contest_entrants(problem, machine, limits)) {
        turns.push_back({entrant, {}});
        plans.push_back(plan_of(entrant, problem, machine));
        turn_s += kPauseSeconds + std::max(kSampleSeconds, plans.back().predicted_s);
        workspace_bytes = std::max(workspace_bytes, plans.back().workspace_bytes);
    }
    const auto is_classical = [](const ProductPlan& plan) { return plan.levels.empty(); };
    const auto is_library = [&](const ProductPlan& plan) { return is_classical(plan) && is_whole_call(plan.leaf); };
    const bool has_classical = std::any_of(plans.begin(), plans.end(), is_classical);
    const bool has_library = std::any_of(plans.begin(), plans.end(), is_library);
    if (plans.size() < 2 || !has_classical || turn_s * kFewestTurns > time.most_s) {
        return std::nullopt;
    }
    const Operands::Memory workspace = Operands::huge_pages(static_cast<std::size_t>(workspace_bytes));
    const Product product = operands.product(shape);
    std::vector<TurnTaker> takers;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const ProductPlan& plan = plans[i];
        const auto call = [&backend, &plan, &product, &workspace, leaf = cpu::CpuBackend::leaf_id(plan.leaf)] {
            if (plan.levels.empty()) {
                backend.multiply_one(product, leaf);
            } else {
                run_plan(plan, backend, 1, product.a, product.b, 0, product.c, workspace.get());
            }
        };
        double guess_s = plan.predicted_s;
        if (guess_s < kSampleSeconds) {
            call();  // first touch: threads of libraries, memory for packing
            guess_s = std::clamp(time_calls(1, 0, call), guess_s, 4 * guess_s);  // samples must not last for ever
        }
        takers.push_back({[call, guess_s] { return time_calls(guess_s, kSampleSeconds, call); },
                          has_library ? is_library(plan) : is_classical(plan), is_balanced(plan.levels, {})});
    }
    TurnRules rules;
    rules.most_turns = time.most_turns;
    rules.most_s = time.most_s;
    rules.settle = [] { wait_until_idle(); };
    rules.clock_s = [start = Clock::now()] { return seconds_since(start); };
    const auto verdict = [&] {
        for (std::size_t i = 0; i < turns.size(); ++i) {
            turns[i].seconds = takers[i].seconds;
        }
        Contest contest = judge(type, shape.m, shape.k, shape.n, turns);
        expect_times(contest, machine);
        return contest;
    };
    if (time.settles_doubt) {
        rules.in_doubt = [&] { return is_in_doubt(verdict()); };
    }
    take_turns(takers, rules);
    Contest contest = verdict();
    return contest.trials.front().turns >= kFewestTurns ? std::optional(std::move(contest)) : std::nullopt;
}

void measure_contests(cpu::CpuBackend& backend, const Operands& operands, Type type, double most_s, Machine& machine,
                      const std::function<void(const std::string& stage)>& progress) {
    const auto start = Clock::now();
    for (const Entry& entry : entries()) {
        const Shape& shape = entry.shape;
        progress(fmt::format("{} {}x{}x{} with levels and without", type_name(type), shape.m, shape.k, shape.n));
        std::optional<Contest> contest;
        for (EntrantLimits limits = entry.limits; limits.most_others > 0 && !contest; --limits.most_others) {
            const double left_s = most_s - seconds_since(start);
            const double here_s = std::max(std::min(entry.most_s, left_s * entry.share), most_s * entry.least_share);
            contest = hold_contest(backend, operands, type, shape, limits,
                                   {entry.most_turns, here_s, entry.settles_doubt}, machine);
        }
        if (!contest) {
            continue;
        }
        correct_samples(*contest, machine);
        if (is_square(*contest)) {
            if (const std::optional<LevelFactor> factor = level_factor_of(*contest, machine)) {
                machine.level_factors.push_back(*factor);
            }
        }
        machine.contests.push_back(*contest);
    }
}

}  // namespace heptad
