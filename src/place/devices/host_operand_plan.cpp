#include "place/devices/host_operand_plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/size.hpp"
#include "base/types.hpp"
#include "place/devices/device_list.hpp"
#include "place/devices/device_product.hpp"
#include "plan/error_bound.hpp"
#include "plan/planner.hpp"

namespace heptad {
namespace {

constexpr double kWorthCutting = 1e11;  // multiplications; below, it is over before a second copy has begun
/// What the link or the cores that fill its buffers move; one figure for both, so that bits do not depend on it.
constexpr double kTransferBytesPerS = 40e9;

double multiplications(const ProblemSize& size) {
    return static_cast<double>(size.m) * static_cast<double>(size.k) * static_cast<double>(size.n);
}

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
                const ProductContext& context) {
    const Type type = problem.type;
    const bool wide = type == Type::f32 || type == Type::f64 || type == Type::tf32 || type == Type::i32;
    if (!wide || type != result_type || problem.adds || options.accuracy == Accuracy::strict || options.levels >= 0 ||
        options.algorithm != "auto" || options.mode != "auto" || options.workspace_limit_bytes == 0 ||
        context.workspace_bytes >= 0) {
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
        const ProductPlan product = plan_device_product(block.m, block.k, block.n, type, options, context);
        if (expected_growth(product.levels) * growth > PlannerLimits{}.balanced_growth) {
            return levels;
        }
    }
    return kMostTransferLevels;
}

TransferProblem transfer_problem(const ProblemSize& size, Type type, Type result_type, bool adds) {
    TransferProblem problem;
    problem.size = size;
    problem.type = type;
    problem.operand_bytes = static_cast<std::int64_t>(element_bytes(type));
    problem.result_bytes = static_cast<std::int64_t>(element_bytes(result_type));
    problem.adds = adds;
    problem.may_cut_k = problem.result_bytes >= 4;  // results of 16 bits would be rounded in between
    problem.upload_bytes_per_s = problem.download_bytes_per_s = kTransferBytesPerS;
    return problem;
}

/// Limits the workspace to what the matrices leave on the device, in whole GiB: a little more or less that is free must
/// not make other plans. Sums of blocks, which only levels of the schedule need, lie in that room too; where they do,
/// `problem` may take some.
Options within_device(const Options& options, Type result_type, TransferProblem& problem,
                      const ProductContext& context) {
    const auto& [m, k, n] = problem.size;
    const std::int64_t matrices = (m * k + k * n) * problem.operand_bytes + m * n * problem.result_bytes;
    const std::int64_t free = device_facts(parse_device_list(options.device)).memory_bytes - matrices;
    constexpr std::int64_t kGiB = std::int64_t{1} << 30;
    const std::int64_t room = std::min(std::max<std::int64_t>(free, 0) / kGiB * kGiB, options.workspace_limit_bytes);
    const std::int64_t beside_sums = room - sum_bytes_of_level(problem);
    Options limited = options;
    limited.overwrite_inputs = false;
    limited.workspace_limit_bytes = std::max<std::int64_t>(beside_sums, 0);
    problem.most_levels = beside_sums >= 0 ? most_levels(problem, result_type, limited, context) : 0;
    if (problem.most_levels == 0) {
        limited.workspace_limit_bytes = room;
    }
    return limited;
}

/// Plans of the products that a schedule is made of.
class StepPlans {
public:
    StepPlans(const TransferProblem& problem, Type result_type, const Options& options, const ProductContext& context)
        : type_(problem.type),
          options_(problem.type == result_type ? options : without_levels(options)),
          context_(context) {}

    ProductPlan of(const ProblemSize& size, bool accumulate) const {
        Options accumulating = options_;
        accumulating.accumulate = accumulate;
        return plan_device_product(size.m, size.k, size.n, type_, accumulating, context_);
    }

private:
    Type type_;
    Options options_;
    const ProductContext& context_;
};

/// Of a product that is made by `levels` more levels, as error_bound() counts them.
double bound_by_levels(const ProblemSize& size, int levels, const LayerGrowth& growth, double roundoff,
                       const StepPlans& plans) {
    const double as_planned = std::max(plans.of(size, false).error_bound, plans.of(size, true).error_bound);
    if (levels == 0) {
        return as_planned;
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
        const std::int64_t first = step.left.empty() ? 0 : step.left[0].window.col;
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

HostOperandPlan plan_host_operands(const ProblemSize& size, Type type, Type result_type, bool adds,
                                   const Options& options, const ProductContext& context) {
    HostOperandPlan plan;
    plan.size = size;
    plan.type = type;
    plan.options = options;
    if (multiplications(size) < kWorthCutting) {
        plan.schedule = undivided_transfers(size);
        return plan;
    }
    TransferProblem problem = transfer_problem(size, type, result_type, adds);
    plan.options = within_device(options, result_type, problem, context);
    const StepPlans plans(problem, result_type, plan.options, context);
    plan.schedule = plan_transfers(
        problem, [&](const ProblemSize& piece, bool accumulate) { return plans.of(piece, accumulate).predicted_s; });
    for (const TransferStep& step : plan.schedule.steps) {
        for (const bool accumulate : {false, true}) {
            const ProductPlan product = plans.of(step.size, accumulate);
            plan.workspace_bytes = std::max(plan.workspace_bytes, product.workspace_bytes);
            const auto levels = static_cast<int>(product.levels.size());
            plan.levels = std::max(plan.levels, levels + halvings(size, step.size));
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
