#include "run/bits/bit_launch.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail_if.hpp"
#include "base/size.hpp"

namespace heptad::bits {
namespace {

constexpr int kMostThreads = 4096;  // as of plans for numbers

/// So many bits in each of 2^levels leaves, in whole units. A result that is the next operand of a chain has leaves
/// whose columns are rows of another: then in units of both.
bool covers(std::int64_t leaf, std::int64_t size, int levels, std::int64_t unit, std::int64_t largest_unit) {
    const std::int64_t part = std::max<std::int64_t>(ceil_div(size, std::int64_t{1} << levels), 1);
    return leaf % unit == 0 && leaf >= part && leaf <= round_up(part, largest_unit);
}

}  // namespace

int task_levels(int threads, int levels) {
    int found = 0;
    for (std::int64_t tasks = 1; threads > 1 && tasks < std::int64_t{12} * threads && found < 3; tasks *= 7) {
        ++found;
    }
    return std::min(found, levels);
}

double BitLaunch::work() const {
    return leaf_work(shape) * std::pow(7.0, levels);
}

BitLaunch bit_launch(const ProductPlan& plan) {
    const auto levels = static_cast<int>(plan.levels.size());
    return {plan.type,
            {plan.m, plan.k, plan.n},
            levels > 0 ? &find_level_program(plan.levels.front().algorithm) : nullptr,
            levels,
            &find_leaf(plan.type, plan.leaf),
            {plan.core_m >> levels, plan.core_k >> levels, plan.core_n >> levels},
            plan.threads,
            task_levels(plan.threads, levels)};
}

ProductPlan plan_of(const BitLaunch& launch) {
    const LeafShape& shape = launch.shape;
    for (const auto& [x, y] : {std::pair{shape.m, shape.k}, std::pair{shape.k, shape.n}, std::pair{shape.m, shape.n}}) {
        checked_mul(checked_mul(x, y), std::int64_t{8} << (2 * launch.levels));  // all that follows fits in 64 bits
    }
    const std::string algorithm = launch.program != nullptr ? launch.program->name : "";
    ProductPlan plan = plan_of_leaves(
        launch.algebra, launch.size, shape,
        std::vector<LevelPlan>(static_cast<std::size_t>(launch.levels), {algorithm, LevelMode::serial, ""}));
    plan.threads = launch.threads;
    plan.change_basis = !launch.into().empty();
    plan.leaf = launch.leaf->name;
    plan.workspace_bytes =
        8 * (launch.left().words() + launch.right().words() + launch.result().words() + launch.scratch_words());
    return plan;
}

void check_bit_plan(const ProductPlan& plan) {
    if (!is_packed(plan) || plan.backend != kUsualBackend) {
        fail(ErrorCode::input, "this is not a plan for packed bits on the processor: '{}'", to_string(plan));
    }
    const std::size_t most_levels = plan.type == Type::gf2 ? kMostLevels : 0;
    if (plan.levels.size() > most_levels || plan.threads < 1 || plan.threads > kMostThreads) {
        fail(ErrorCode::input, "a {} product of packed bits has 0 to {} levels and 1 to {} threads, not {} and {}",
             type_name(plan.type), most_levels, kMostThreads, plan.levels.size(), plan.threads);
    }
    require_same_plan(plan, [&] {
        const BitLaunch launch = bit_launch(plan);
        const LeafShape& shape = launch.shape;
        const std::int64_t column_unit = launch.leaf->layout->column_unit();
        const std::int64_t largest = std::max<std::int64_t>(64, column_unit);
        fail_if(!covers(shape.m, plan.m, launch.levels, kGroupRows, largest) ||
                    !covers(shape.k, plan.k, launch.levels, 64, largest) ||
                    !covers(shape.n, plan.n, launch.levels, column_unit, largest),
                ErrorCode::input, "leaves of {} x {} x {} do not fit {} under its {} levels", shape.m, shape.k, shape.n,
                plan.leaf, launch.levels);
        return plan_of(launch);
    });
}

ProductPlan plan_of_leaves(Type algebra, const ProblemSize& size, const LeafShape& leaf,
                           std::vector<LevelPlan> levels) {
    ProductPlan plan = plan_of_size(size, algebra);
    plan.padded = plan.accumulate = true;
    plan.core_m = leaf.m << levels.size();
    plan.core_k = leaf.k << levels.size();
    plan.core_n = leaf.n << levels.size();
    plan.levels = std::move(levels);
    return plan;
}

void require_same_plan(const ProductPlan& plan, const std::function<ProductPlan()>& make) {
    try {
        ProductPlan made = make();
        made.predicted_s = plan.predicted_s;
        if (!(made == plan)) {
            fail(ErrorCode::input, "with its levels it would read '{}'", to_string(made));
        }
    } catch (const Error& error) {  // of a word of the plan, not one of the caller
        fail(ErrorCode::input, "the plan '{}' cannot be carried out here: {}", to_string(plan), error.what());
    }
}

}  // namespace heptad::bits
