#include "product/device/host_operand_plan.hpp"

#include <algorithm>

#include "base/size.hpp"
#include "base/types.hpp"
#include "io/device_machine.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "product/plan_cache.hpp"

namespace heptad {
namespace {

constexpr double kWorthCutting = 1e11;  // multiplications; below, it is over before a second copy has begun

double multiplications(const ProblemSize& size) {
    return static_cast<double>(size.m) * static_cast<double>(size.k) * static_cast<double>(size.n);
}

TransferProblem transfer_problem(const ProblemSize& size, Type type, Type result_type, bool adds) {
    TransferProblem problem;
    problem.size = size;
    problem.type = type;
    problem.operand_bytes = static_cast<std::int64_t>(element_bytes(type));
    problem.result_bytes = static_cast<std::int64_t>(element_bytes(result_type));
    problem.adds = adds;
    problem.may_cut_k = problem.result_bytes >= 4;  // results of 16 bits would be rounded in between
    // The link or the cores that fill its buffers: one figure for both, whatever the machine, so that bits do not
    // depend on it.
    problem.upload_bytes_per_s = problem.download_bytes_per_s = assumed_device().transfer_bytes_per_s;
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

/// One that fits is taken again, unless there is more room than it was made for and it used most of that: making it
/// anew takes longer than the transfers that are waited for, and what a device has to give changes a little with
/// everything that runs on it.
struct KeptTransfers {
    std::int64_t room;
    TransferDecision made;

    bool serves(std::int64_t room_now) const {
        const std::int64_t needed = made.plan.workspace_bytes;
        return needed <= room_now && (room_now <= room || needed <= room / 2);
    }
};
constinit PlanCache<KeptTransfers, 64> transfer_plan_cache;

}  // namespace

TransferDecision plan_host_operands(const ProblemSize& size, Type type, Type result_type, bool adds,
                                    const Options& options, const ProductContext& context) {
    // Rounded once is what one step makes, and what it refuses leaves C as it was; sums of i64 are made nowhere else.
    const bool in_one_step = type == Type::i64 || (options.accuracy == Accuracy::exact && is_float(type));
    if (in_one_step || multiplications(size) < kWorthCutting) {
        return undivided_plan(size, type, options);
    }
    TransferProblem problem = transfer_problem(size, type, result_type, adds);
    // Sums of blocks would cost digits that products by residues keep.
    const auto keeps_digits = [&] {
        const auto half = [](std::int64_t side) { return ceil_div(side, 2); };
        return options.accuracy == Accuracy::balanced &&
               is_by_residues(plan_device_product(half(size.m), half(size.k), half(size.n), type, options, context));
    };
    if (context.workspace_bytes >= 0 || keeps_digits()) {
        problem.most_levels = 0;
    }
    const PlanOnDevice plan_on_device = [&](const ProblemSize& block, Type of_block, const Options& for_block) {
        return plan_device_product(block.m, block.k, block.n, of_block, for_block, context);
    };
    const std::int64_t room = room_for_workspace(problem, options);
    const PlanQuestion question{size.m, size.k, size.n, type, result_type, 1, adds, context.workspace_bytes, options};
    auto kept = transfer_plan_cache.find(question);
    if (!kept || !kept->serves(room)) {
        kept = transfer_plan_cache.keep(
            question, {room, make_transfer_plan(problem, result_type, room, options, plan_on_device)});
    }
    TransferDecision made = kept->made;
    const std::int64_t limit = made.options.workspace_limit_bytes;
    made.options = options;
    made.options.overwrite_inputs = false;
    made.options.workspace_limit_bytes = limit;
    return made;
}

double predicted_from_host_s(const ProblemSize& size, Type type, Type result_type, bool adds, const Options& options,
                             const ProductContext& context) {
    const TransferDecision made = plan_host_operands(size, type, result_type, adds, options, context);
    if (made.is_divided()) {
        return made.plan.predicted_s;
    }
    const TransferProblem problem = transfer_problem(size, type, result_type, adds);
    const std::int64_t moved = (size.m * size.k + size.k * size.n) * problem.operand_bytes +
                               size.m * size.n * problem.result_bytes * (adds ? 2 : 1);
    return plan_device_product(size.m, size.k, size.n, type, options, context).predicted_s +
           static_cast<double>(moved) / problem.upload_bytes_per_s;
}

}  // namespace heptad
