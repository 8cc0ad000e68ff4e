#include "plan/search/transfer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

ProblemSize half_of(const ProblemSize& size) {
    constexpr std::int64_t kTwo = 2;
    return {ceil_div(size.m, kTwo), ceil_div(size.k, kTwo), ceil_div(size.n, kTwo)};
}

/// Levels of a schedule that lead from a product to one of its steps.
int halvings(ProblemSize whole, const ProblemSize& step) {
    int levels = 0;
    for (; whole.m > step.m && whole.n > step.n; whole = half_of(whole)) {
        ++levels;
    }
    return levels;
}

/// How many levels may the schedule add to those that the planner takes on the device?
int most_levels(const TransferProblem& problem, Type result_type, const Options& options,
                const PlanOnDevice& plan_on_device) {
    const Type type = problem.type;
    const bool wide = type == Type::f32 || type == Type::f64 || type == Type::tf32 || type == Type::i32;
    if (!wide || type != result_type || problem.adds || options.accuracy == Accuracy::strict || options.levels >= 0 ||
        options.algorithm != "auto" || options.mode != "auto" || options.workspace_limit_bytes == 0) {
        return 0;
    }
    if (options.accuracy == Accuracy::fast || unit_roundoff(type) == 0) {
        return kMostTransferLevels;
    }
    LevelPlan level;
    level.algorithm = kTransferAlgorithm;
    double growth = 1;
    ProblemSize block = problem.size;
    for (int levels = 0; levels < kMostTransferLevels; ++levels) {
        block = half_of(block);
        growth *= expected_growth({level});
        const ProductPlan product = plan_on_device(block, type, options);
        if (expected_growth(product.levels) * growth > PlannerLimits{}.balanced_growth) {
            return levels;
        }
    }
    return kMostTransferLevels;
}

/// Sums of blocks, which only levels of the schedule need, lie in the room for workspace too; where they do, `problem`
/// may take some.
Options within_room(std::int64_t room, const Options& options, Type result_type, TransferProblem& problem,
                    const PlanOnDevice& plan_on_device) {
    const std::int64_t beside_sums = room - sum_bytes_of_level(problem);
    Options limited = options;
    limited.overwrite_inputs = false;
    limited.workspace_limit_bytes = std::max<std::int64_t>(beside_sums, 0);
    problem.most_levels =
        beside_sums >= 0 && problem.most_levels > 0 ? most_levels(problem, result_type, limited, plan_on_device) : 0;
    if (problem.most_levels == 0) {
        limited.workspace_limit_bytes = room;
    }
    return limited;
}

/// Plans of the products that a schedule is made of.
class StepPlans {
public:
    StepPlans(const TransferProblem& problem, Type result_type, const Options& options,
              const PlanOnDevice& plan_on_device)
        : type_(problem.type), options_(options), plan_on_device_(plan_on_device) {
        if (problem.type != result_type) {
            options_.levels = 0;
        }
    }

    ProductPlan of(const ProblemSize& size, bool accumulate) const {
        Options accumulating = options_;
        accumulating.accumulate = accumulate;
        return plan_on_device_(size, type_, accumulating);
    }

private:
    Type type_;
    Options options_;
    const PlanOnDevice& plan_on_device_;
};

/// Of a product that is made by `levels` more levels, as error_bound() counts them.
double bound_by_levels(const ProblemSize& size, int levels, const LayerGrowth& growth, double roundoff,
                       const StepPlans& plans) {
    if (levels == 0) {
        return std::max(plans.of(size, false).error_bound, plans.of(size, true).error_bound);
    }
    const ProblemSize block = half_of(size);
    // Most products of the level are made as planned, and those at its ends by further levels.
    const double of_block = std::max(bound_by_levels(block, 0, growth, roundoff, plans),
                                     bound_by_levels(block, levels - 1, growth, roundoff, plans));
    return growth.growth * (of_block + growth.roundings * roundoff * static_cast<double>(block.k));
}

double bound_of(const TransferProblem& problem, const TransferSchedule& schedule, const StepPlans& plans) {
    const double roundoff = unit_roundoff(problem.type);
    if (roundoff == 0) {
        return 0;
    }
    if (!schedule.algorithm.empty()) {
        return bound_by_levels(problem.size, schedule.levels,
                               layer_growth(algorithm_layer(schedule.algorithm, 1, problem.type)), roundoff, plans);
    }
    std::map<std::int64_t, double> of_part;  // of k, by where it begins
    for (const TransferStep& step : schedule.steps) {
        const std::int64_t first = step.left.empty() ? 0 : step.left[0].block.col;
        double& bound = of_part[first];
        bound = std::max(bound, plans.of(step.size, problem.adds || first > 0).error_bound);
    }
    double bound = static_cast<double>(of_part.size() - 1) * static_cast<double>(problem.size.k) * roundoff;
    for (const auto& part : of_part) {
        bound += part.second;
    }
    return bound;
}

}  // namespace

HostOperandPlan make_host_operand_plan(TransferProblem problem, Type result_type, std::int64_t room,
                                       const Options& options, const PlanOnDevice& plan_on_device) {
    HostOperandPlan plan;
    plan.size = problem.size;
    plan.type = problem.type;
    plan.options = within_room(room, options, result_type, problem, plan_on_device);
    const StepPlans plans(problem, result_type, plan.options, plan_on_device);
    plan.schedule = plan_transfers(
        problem, [&](const ProblemSize& piece, bool accumulate) { return plans.of(piece, accumulate).predicted_s; });
    for (const TransferStep& step : plan.schedule.steps) {
        for (const bool accumulate : {false, true}) {
            const ProductPlan product = plans.of(step.size, accumulate);
            plan.workspace_bytes = std::max(plan.workspace_bytes, product.workspace_bytes);
            const auto levels = static_cast<int>(product.levels.size());
            plan.levels = std::max(plan.levels, levels + halvings(problem.size, step.size));
        }
    }
    plan.workspace_bytes += sum_buffers(plan.schedule, problem.operand_bytes, problem.result_bytes).bytes();
    plan.error_bound = bound_of(problem, plan.schedule, plans);
    return plan;
}

std::string to_string(const HostOperandPlan& plan) {
    const TransferSchedule& schedule = plan.schedule;
    return fmt::format(
        "from-host {}x{}x{} {} by={} levels-at-ends={} steps={} first={}x{}x{} last={}x{}x{} workspace-bytes={} "
        "predicted-s={:.3g} error-bound={:.3g}",
        plan.size.m, plan.size.k, plan.size.n, type_name(plan.type),
        schedule.algorithm.empty() ? "pieces" : schedule.algorithm, schedule.levels, schedule.steps.size(),
        schedule.steps.front().size.m, schedule.steps.front().size.k, schedule.steps.front().size.n,
        schedule.steps.back().size.m, schedule.steps.back().size.k, schedule.steps.back().size.n, plan.workspace_bytes,
        schedule.predicted_s, plan.error_bound);
}

}  // namespace heptad
