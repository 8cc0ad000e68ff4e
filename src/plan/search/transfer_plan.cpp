#include "plan/search/transfer_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/level_layout.hpp"
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
    const bool wide = type == Type::f32 || type == Type::f64 || type == Type::tf32 || is_integer(type);
    if (!wide || type != result_type || problem.adds || options.accuracy == Accuracy::strict || options.levels >= 0 ||
        options.algorithm != "auto" || options.mode != "auto" || options.workspace_limit_bytes == 0) {
        return 0;
    }
    if (options.accuracy == Accuracy::fast || unit_roundoff(type) == 0) {
        return kMostTransferLevels;
    }
    LevelPlan level;
    level.algorithm = kHalving;
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

/// The plan of a product that a schedule is made of.
using PlanOfStep = std::function<ProductPlan(const ProblemSize& size, bool accumulate)>;

/// Of a product that is made by `levels` more levels, as error_bound() counts them.
double bound_by_levels(const ProblemSize& size, int levels, const LayerGrowth& growth, double roundoff,
                       const PlanOfStep& plan_of) {
    if (levels == 0) {
        return std::max(plan_of(size, false).error_bound, plan_of(size, true).error_bound);
    }
    const ProblemSize block = half_of(size);
    // Most products of the level are made as planned, and those at its ends by further levels.
    const double of_block = std::max(bound_by_levels(block, 0, growth, roundoff, plan_of),
                                     bound_by_levels(block, levels - 1, growth, roundoff, plan_of));
    return growth.growth * (of_block + growth.roundings * roundoff * static_cast<double>(block.k));
}

double bound_of(const TransferProblem& problem, const TransferSchedule& schedule, const PlanOfStep& plan_of) {
    const double roundoff = unit_roundoff(problem.type);
    if (roundoff == 0) {
        return 0;
    }
    if (!schedule.algorithm.empty()) {
        return bound_by_levels(problem.size, schedule.levels,
                               layer_growth(algorithm_layer(schedule.algorithm, 1, problem.type)), roundoff, plan_of);
    }
    std::map<std::int64_t, double> of_part;  // of k, by where it begins
    for (const TransferStep& step : schedule.steps) {
        const std::int64_t first = step.left.empty() ? 0 : step.left[0].block.col;
        double& bound = of_part[first];
        bound = std::max(bound, plan_of(step.size, problem.adds || first > 0).error_bound);
    }
    double bound = static_cast<double>(of_part.size() - 1) * static_cast<double>(problem.size.k) * roundoff;
    for (const auto& part : of_part) {
        bound += part.second;
    }
    return bound;
}

/// What the steps take on the device, sums of blocks among it.
std::int64_t workspace_of(const TransferProblem& problem, const TransferSchedule& schedule, const PlanOfStep& plan_of) {
    std::int64_t bytes = 0;
    for (const TransferStep& step : schedule.steps) {
        for (const bool accumulate : {false, true}) {
            bytes = std::max(bytes, plan_of(step.size, accumulate).workspace_bytes);
        }
    }
    for (const KeptResidues& kept : kept_residues(problem.size, schedule)) {
        bytes = checked_add(bytes, kept.bytes());
    }
    return bytes + sum_buffers(schedule, problem.operand_bytes, problem.result_bytes).bytes();
}

/// Moduli of the residues that most steps take, and that can be kept for others.
int moduli_to_keep(const ProductPlan& plan) {
    const bool may_keep = is_by_residues(plan) && !rounds_once(plan) && plan.levels.empty() && !is_complex(plan.type);
    return may_keep ? most_moduli(plan) : 0;
}

ProblemSize largest_step(const TransferSchedule& schedule) {
    const auto volume = [](const TransferStep& step) {
        return static_cast<double>(step.size.m) * static_cast<double>(step.size.k) * static_cast<double>(step.size.n);
    };
    return std::ranges::max_element(schedule.steps, [&](const auto& x, const auto& y) { return volume(x) < volume(y); })
        ->size;
}

/// For steps no larger than `largest`.
ProductPlan step_plan_below(const ProductPlan& plan, const ProblemSize& largest, const ProblemSize& step,
                            bool accumulate) {
    ProductPlan one = plan;
    one.transfers.reset();
    set_size(one, step);
    one.accumulate = accumulate;
    const auto fewer = std::min(static_cast<std::size_t>(halvings(largest, step)), one.levels.size());
    one.levels.erase(one.levels.begin(), one.levels.begin() + static_cast<std::ptrdiff_t>(fewer));
    if (step.m > largest.m) {
        one.levels.clear();
        one.padded = false;
    }
    normalize_plan(one);
    if (is_by_residues(one)) {  // longer lines than the largest's take smaller tiles
        ProductPlan of_largest = one;
        set_size(of_largest, largest);
        of_largest.tile_m = plan.tile_m;
        of_largest.tile_n = plan.tile_n;
        normalize_plan(of_largest);
        if (const std::int64_t bytes = device_residue_layout(of_largest).bytes();
            device_residue_layout(one).bytes() > bytes) {
            fit_tiles(one, bytes);
        }
    }
    one.workspace_bytes = plan_workspace_bytes(one);
    one.error_bound = error_bound(one);
    one.predicted_s = 0;
    if (plan.least_evenness > 0 &&
        !is_by_residues(one)) {  // balanced: the level of the transfers has a limit of its own
        one.least_evenness = least_evenness_of(one.levels);
    }
    return one;
}

TransferProblem problem_of(const ProductPlan& plan) {
    TransferProblem problem{.size = {plan.m, plan.k, plan.n}, .type = plan.type};
    problem.operand_bytes = problem.result_bytes = static_cast<std::int64_t>(element_bytes(plan.type));
    problem.adds = plan.accumulate;
    return problem;
}

}  // namespace

TransferDecision undivided_plan(const ProblemSize& size, Type type, const Options& options) {
    return {plan_of_size(size, type), undivided_transfers(size), options};
}

TransferDecision make_transfer_plan(TransferProblem problem, Type result_type, std::int64_t room,
                                    const Options& options, const PlanOnDevice& plan_on_device) {
    TransferDecision made =
        undivided_plan(problem.size, problem.type, within_room(room, options, result_type, problem, plan_on_device));
    Options of_steps = made.options;
    of_steps.levels = problem.type != result_type ? 0 : of_steps.levels;
    const PlanOfStep best = [&](const ProblemSize& size, bool accumulate) {
        of_steps.accumulate = accumulate;
        ProductPlan plan = plan_on_device(size, problem.type, of_steps);
        if (problem.kept_moduli > 0 && is_by_residues(plan) && !plan.levels.empty()) {  // those that are kept have none
            Options without_levels = of_steps;
            without_levels.leaf = plan.leaf;
            without_levels.levels = 0;
            plan = plan_on_device(size, problem.type, without_levels);
        }
        return plan;
    };
    problem.kept_moduli = moduli_to_keep(best(half_of(problem.size), true));
    PlannedTransfers planned = plan_transfers(
        problem, [&](const ProblemSize& size, bool accumulate) { return best(size, accumulate).predicted_s; });
    made.schedule = std::move(planned.schedule);
    if (workspace_of(problem, made.schedule, best) > room) {
        made.schedule.kept_moduli = 0;
    }
    const TransferSchedule& schedule = made.schedule;
    ProductPlan& plan = made.plan;
    const ProblemSize largest = largest_step(schedule);
    plan = best(largest, problem.adds);
    const PlanOfStep told = [&](const ProblemSize& size, bool accumulate) {
        return step_plan_below(plan, largest, size, accumulate);
    };
    while (!plan.levels.empty() && workspace_of(problem, schedule, told) > room) {
        plan.levels.erase(plan.levels.begin());
        plan = told(largest, problem.adds);
    }
    const std::int64_t workspace_bytes =
        std::max(workspace_of(problem, schedule, told), workspace_of(problem, schedule, best));
    const double bound = std::max(bound_of(problem, schedule, told), bound_of(problem, schedule, best));
    plan.workspace_bytes = workspace_bytes;
    plan.error_bound = bound;
    set_size(plan, problem.size);
    plan.accumulate = problem.adds;
    plan.transfers = std::move(planned.cut);
    plan.predicted_s = planned.predicted_s;
    if (!schedule.algorithm.empty() && options.accuracy == Accuracy::balanced && is_float(plan.type)) {
        plan.least_evenness = least_evenness_of({{schedule.algorithm, LevelMode::serial, ""}});
    }
    return made;
}

std::array<KeptResidues, 2> kept_residues(const ProblemSize& size, const TransferSchedule& schedule) {
    std::array<KeptResidues, 2> kept;
    if (schedule.kept_moduli > 0) {
        std::int64_t depth = 0;
        for (const TransferStep& step : schedule.steps) {
            depth = std::max(depth, step.size.k);
        }
        kept[0] = {nullptr, size.m, depth, schedule.kept_moduli};
        kept[1] = {nullptr, size.n, depth, schedule.kept_moduli};
    }
    return kept;
}

TransferSchedule schedule_of(const ProductPlan& plan) {
    TransferSchedule schedule = transfers_of({plan.m, plan.k, plan.n}, plan.type, plan.transfers);
    const ProblemSize largest = largest_step(schedule);
    const PlanOfStep told = [&](const ProblemSize& size, bool accumulate) {
        return step_plan_below(plan, largest, size, accumulate);
    };
    schedule.kept_moduli =
        schedule.algorithm.empty() && schedule.steps.size() > 1 ? moduli_to_keep(told(largest, plan.accumulate)) : 0;
    if (schedule.kept_moduli > 0 && workspace_of(problem_of(plan), schedule, told) > plan.workspace_bytes) {
        schedule.kept_moduli = 0;
    }
    return schedule;
}

ProductPlan step_plan(const ProductPlan& plan, const ProblemSize& step, bool accumulate) {
    const TransferSchedule schedule = transfers_of({plan.m, plan.k, plan.n}, plan.type, plan.transfers);
    return step_plan_below(plan, largest_step(schedule), step, accumulate);
}

void check_transfer_plan(const ProductPlan& plan) {
    const auto refuse = [&](const std::string& what) {
        fail(ErrorCode::input, "the plan is inconsistent: {}; use one as `heptad plan` printed it, not '{}'", what,
             to_string(plan));
    };
    const TransferProblem problem = problem_of(plan);
    if (!plan.transfers || plan.disk || plan.rank || plan.host || plan.panels || plan.count || plan.overwrite_inputs ||
        !is_on_device(plan)) {
        refuse("transfers are beside the products of a device, and blocks serve again");
    }
    if (rounds_once(plan)) {
        refuse("what is rounded once, and i64, is made in one step");
    }
    check_transfer_cut(problem.size, problem.type, *plan.transfers);
    const bool sums = !plan.transfers->algorithm.empty() || plan.transfers->depths.size() > 1;
    if (sums && (plan.accumulate || problem.result_bytes < 4)) {
        refuse("what is added to C, and results of 16 bits, are made in one step");
    }
    if (!plan.transfers->algorithm.empty() && is_complex(plan.type)) {  // sums of blocks know no conjugates
        refuse("levels beside transfers are for real numbers");
    }
    const TransferSchedule schedule = transfers_of(problem.size, problem.type, plan.transfers);
    const ProblemSize largest = largest_step(schedule);
    const PlanOfStep told = [&](const ProblemSize& size, bool accumulate) {
        return step_plan_below(plan, largest, size, accumulate);
    };
    ProductPlan of_largest = told(largest, plan.accumulate);
    check_plan(of_largest);
    if (of_largest.levels != plan.levels || of_largest.core_m != plan.core_m || of_largest.core_k != plan.core_k ||
        of_largest.core_n != plan.core_n) {
        refuse("its largest steps would read '" + to_string(of_largest) + "'");
    }
    const std::int64_t needed = workspace_of(problem, schedule, told);
    const double bound = bound_of(problem, schedule, told);
    if (needed > plan.workspace_bytes || bound > plan.error_bound) {
        refuse(fmt::format("with its steps it takes {} bytes and promises an error bound of {}", needed, bound));
    }
}

}  // namespace heptad
