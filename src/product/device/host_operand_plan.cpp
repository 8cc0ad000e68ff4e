#include "product/device/host_operand_plan.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"

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

/// What the matrices leave on the device, in whole GiB: a little more or less that is free must not make other plans.
std::int64_t room_for_workspace(const TransferProblem& problem, const Options& options) {
    const auto& [m, k, n] = problem.size;
    const std::int64_t matrices = (m * k + k * n) * problem.operand_bytes + m * n * problem.result_bytes;
    const std::int64_t free = device_facts(parse_device_list(options.device)).memory_bytes - matrices;
    constexpr std::int64_t kGiB = std::int64_t{1} << 30;
    return std::min(std::max<std::int64_t>(free, 0) / kGiB * kGiB, options.workspace_limit_bytes);
}

/// Sums of blocks, which only levels of the schedule need, lie in the room for workspace too; where they do, `problem`
/// may take some.
Options within_room(std::int64_t room, const Options& options, Type result_type, TransferProblem& problem,
                    const ProductContext& context) {
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

HostOperandPlan make_host_operand_plan(TransferProblem problem, Type result_type, std::int64_t room,
                                       const Options& options, const ProductContext& context) {
    HostOperandPlan plan;
    plan.size = problem.size;
    plan.type = problem.type;
    plan.options = within_room(room, options, result_type, problem, context);
    const StepPlans plans(problem, result_type, plan.options, context);
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

/// Plans that were made, by all that they depend on but the room. One that fits is taken again, unless there is more
/// room than it was made for and it used most of that: making it anew takes longer than the transfers that are waited
/// for, and what a device has to give changes a little with everything that runs on it.
class KeptPlans {
public:
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, Type, Type, bool, Accuracy, int, std::int64_t,
                           std::string, std::string, std::string, std::string>;

    template <class Make>
    HostOperandPlan get(const Key& key, std::int64_t room, Make make) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = kept_.find(key);
            if (found != kept_.end() && found->second.serves(room)) {
                return found->second.plan;
            }
        }
        Kept made{room, make()};
        const std::lock_guard lock(mutex_);
        if (kept_.size() >= kMostKept) {
            kept_.clear();
        }
        kept_.insert_or_assign(key, made);
        return std::move(made.plan);
    }

private:
    struct Kept {
        std::int64_t room;
        HostOperandPlan plan;

        bool serves(std::int64_t room_now) const {
            const std::int64_t needed = plan.workspace_bytes;
            return needed <= room_now && (room_now <= room || needed <= room / 2);
        }
    };
    static constexpr std::size_t kMostKept = 64;
    std::mutex mutex_;
    std::map<Key, Kept> kept_;
};

KeptPlans& kept_plans() {
    static auto* const plans = new KeptPlans;
    return *plans;
}

}  // namespace

HostOperandPlan plan_host_operands(const ProblemSize& size, Type type, Type result_type, bool adds,
                                   const Options& options, const ProductContext& context) {
    if (multiplications(size) < kWorthCutting) {
        HostOperandPlan plan;
        plan.size = size;
        plan.type = type;
        plan.options = options;
        plan.schedule = undivided_transfers(size);
        return plan;
    }
    const TransferProblem problem = transfer_problem(size, type, result_type, adds);
    const std::int64_t room = room_for_workspace(problem, options);
    const KeptPlans::Key key{size.m,
                             size.k,
                             size.n,
                             type,
                             result_type,
                             adds,
                             options.accuracy,
                             options.levels,
                             context.workspace_bytes,
                             options.algorithm,
                             options.device,
                             options.leaf,
                             options.mode};
    HostOperandPlan plan = kept_plans().get(
        key, room, [&] { return make_host_operand_plan(problem, result_type, room, options, context); });
    const std::int64_t limit = plan.options.workspace_limit_bytes;
    plan.options = options;
    plan.options.overwrite_inputs = false;
    plan.options.workspace_limit_bytes = limit;
    return plan;
}

double predicted_from_host_s(const ProblemSize& size, Type type, Type result_type, bool adds, const Options& options,
                             const ProductContext& context) {
    const HostOperandPlan plan = plan_host_operands(size, type, result_type, adds, options, context);
    if (plan.is_divided()) {
        return plan.schedule.predicted_s;
    }
    const TransferProblem problem = transfer_problem(size, type, result_type, adds);
    const std::int64_t moved = (size.m * size.k + size.k * size.n) * problem.operand_bytes +
                               size.m * size.n * problem.result_bytes * (adds ? 2 : 1);
    return plan_device_product(size.m, size.k, size.n, type, options, context).predicted_s +
           static_cast<double>(moved) / kTransferBytesPerS;
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
