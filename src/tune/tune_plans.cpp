#include "tune/tune_plans.hpp"

#include <algorithm>
#include <optional>

#include "base/idle_threads.hpp"
#include "run/dense/runner.hpp"
#include "tune/plan_errors.hpp"

namespace heptad {
namespace {

constexpr double kPlanSampleSeconds = 0.015;
constexpr double kPauseSeconds = 0.04;  // about: until nobody's threads are still spinning

struct Entry {
    TunedShape shape;
    CandidateLimits limits;
    int most_rounds;
    double share;            // of the time that is left
    double most_s;           // but no more than that
    double least_share = 0;  // of all the time, whatever the others took
    bool goes_on_undecided = false;
};

/// Small ones first: what they say helps to choose the candidates for the large ones, where every round takes seconds.
std::vector<Entry> entries() {
    constexpr double kShort = 1.3, kAny = 60;
    constexpr int kFew = 5, kMany = 7;
    std::vector<Entry> all;
    // Dense where libraries go from one thread to several and from one kernel to the next: what is best at 96 says
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

void correct_samples(const std::vector<ProductPlan>& plans, const RoundResults& results, Machine& machine) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const ProductPlan& plan = plans[i];
        for (LeafProfile& profile : machine.leaves) {
            if (plan.levels.empty() && results.times[i].rounds >= kFewestRounds && profile.leaf == plan.leaf &&
                profile.type == plan.type) {
                std::erase_if(profile.samples,
                              [&](const LeafSample& s) { return s.m == plan.m && s.k == plan.k && s.n == plan.n; });
                profile.samples.push_back({plan.m, plan.k, plan.n, results.library_s * results.times[i].median});
            }
        }
    }
}

}  // namespace

bool measure_plans_on(const TuneGround& ground, Type type, const TunedShape& shape, const CandidateLimits& limits,
                      const RoundsTime& time, Machine& machine) {
    Problem problem{shape.m, shape.k, shape.n, type, machine.threads, {}};
    problem.options.accuracy = Accuracy::fast;
    std::vector<ProductPlan> plans;
    double round_s = 0;
    std::int64_t workspace_bytes = 1;
    for (const PlanShape& candidate : plan_candidates(problem, machine, limits)) {
        plans.push_back(plan_with_shape(problem, machine, candidate));
        round_s += kPauseSeconds + std::max(kPlanSampleSeconds, plans.back().predicted_s);
        workspace_bytes = std::max(workspace_bytes, plans.back().workspace_bytes);
    }
    const auto is_classical = [](const ProductPlan& plan) { return plan.levels.empty(); };
    const auto is_library = [&](const ProductPlan& plan) { return is_classical(plan) && is_whole_call(plan.leaf); };
    const bool has_library = std::ranges::any_of(plans, is_library);
    if (plans.size() < 2 || std::ranges::none_of(plans, is_classical) || round_s * kFewestRounds > time.most_s) {
        return false;
    }
    const Operands::Memory workspace = Operands::huge_pages(static_cast<std::size_t>(workspace_bytes));
    const Product product = ground.operands.product(shape);
    const auto run = [&](const ProductPlan& plan) {
        if (plan.levels.empty()) {
            ground.backend.multiply_one(product, cpu::CpuBackend::leaf_id(plan.leaf));
        } else {
            run_plan(plan, ground.backend, 1, product.a, product.b, 0, product.c, workspace.get());
        }
    };
    std::vector<RoundRunner> runners;
    for (const ProductPlan& plan : plans) {
        const auto call = [&run, &plan] { run(plan); };
        double guess_s = plan.predicted_s;
        if (guess_s < kPlanSampleSeconds) {
            call();  // first touch: threads of libraries, memory for packing
            guess_s = std::clamp(time_calls(1, 0, call), guess_s, 4 * guess_s);  // samples must not last for ever
        }
        runners.push_back({[call, guess_s, &watch = ground.watch] {
                               return watch.timed([&] { return time_calls(guess_s, kPlanSampleSeconds, call); });
                           },
                           has_library ? is_library(plan) : is_classical(plan), is_balanced(plan, machine, {})});
    }
    RoundRules rules;
    rules.most_rounds = time.most_rounds;
    rules.most_s = time.most_s;
    rules.settle = [] { wait_until_idle(); };
    rules.clock_s = [start = Clock::now()] { return seconds_since(start); };
    if (time.goes_on_undecided) {
        rules.is_undecided = [&] { return is_undecided(compare_with_library(runners), PlannerLimits{}.min_gain); };
    }
    const bool uses_all_threads = std::min({shape.m, shape.k, shape.n}) >= kTypical;
    const bool trusted = ground.watch.measure(uses_all_threads, [&] { run_rounds(runners, rules); });
    if (!trusted) {
        keep_rows_of(ground.before, type, shape.m, shape.k, shape.n, machine);
        return true;
    }
    const RoundResults results = compare_with_library(runners);
    if (results.times[results.library].rounds < kFewestRounds) {
        return false;
    }
    correct_samples(plans, results, machine);
    std::optional<PlanErrors> errors;  // where there are levels
    const auto error_of = [&](const ProductPlan& plan) {
        if (!errors) {
            errors.emplace(product.a, product.b, copy_host_window, shared_pool(machine.threads));
        }
        run(plan);
        return errors->of(product.c);
    };
    record_plans(plans, results, error_of, machine);
    return true;
}

void measure_plans(const TuneGround& ground, Type type, double most_s, Machine& machine,
                   const std::function<void(const std::string& stage)>& progress) {
    const double start_s = ground.watch.spent_s();
    for (const Entry& entry : entries()) {
        const TunedShape& shape = entry.shape;
        progress(fmt::format("{} {}x{}x{} with levels and without", type_name(type), shape.m, shape.k, shape.n));
        bool measured = false;
        for (CandidateLimits limits = entry.limits; limits.most_others > 0 && !measured; --limits.most_others) {
            const double left_s = most_s - (ground.watch.spent_s() - start_s);
            const double here_s = std::max(std::min(entry.most_s, left_s * entry.share), most_s * entry.least_share);
            measured = measure_plans_on(ground, type, shape, limits,
                                        {entry.most_rounds, here_s, entry.goes_on_undecided}, machine);
        }
    }
}

}  // namespace heptad
