#include "run/bits/bit_plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "run/bits/bit_level_runner.hpp"

namespace heptad::bits {
namespace {

/// What a sum costs in terms of a pass over memory by a leaf without such sums: one inside the leaf, where the blocks
/// of these levels are in the L2 cache and where they are not; one that is made beside the tiles of such a leaf; and
/// one that is a pass of its own, which no tile hides. The levels chosen on a Xeon with 2 MiB of that cache follow from
/// them.
constexpr double kFusedShare = 0.4, kFusedFarShare = 0.7, kBesideShare = 0.5, kTaskShare = 5;
constexpr double kCacheWords = 1 << 18;

/// The product of packed operands, on one thread, in units of one bit product of the leaf (product_s). `task_levels`:
/// how many of the levels, the topmost, are made of tasks.
double levels_cost(const Leaf& leaf, const LeafShape& shape, const LevelProgram* program, int levels,
                   int task_levels = 0) {
    double cost =
        static_cast<double>(shape.m + leaf.overhead_rows) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
    if (levels == 0) {
        return cost;
    }
    // A quarter of the additions each for A and B, half of them for C: P3 counts 3, 3 and 6, winograd has 4, 4 and 7.
    const auto additions = static_cast<double>(count_operations(*program, 1).additions);
    const double words = additions / 4 *
                         static_cast<double>(packed_words(shape.m, shape.k) + packed_words(shape.k, shape.n) +
                                             2 * packed_words(shape.m, shape.n));
    const int fused = fused_levels(*program, leaf, levels);
    const double fused_words =
        std::pow(4.0, fused) * static_cast<double>(packed_words(shape.m, shape.k) + packed_words(shape.k, shape.n) +
                                                   packed_words(shape.m, shape.n));
    const double fused_share = fused_words <= kCacheWords ? kFusedShare : kFusedFarShare;
    const double upper_share = fused > 0 ? kBesideShare : 1.0;
    double quarter = 1;
    for (int level = 0; level < levels; ++level) {
        const bool is_pass = fused > 0 && level >= levels - task_levels;
        const double share = level < fused ? fused_share : is_pass ? kTaskShare : upper_share;
        cost = static_cast<double>(program->steps.size()) * cost + quarter * words * leaf.products_per_addition * share;
        quarter *= 4;
    }
    return cost;
}

/// The share of the time on one thread that the product of packed operands takes on several, whose work are tasks.
double thread_share(const LevelProgram* program, int task_levels, int threads) {
    if (task_levels == 0) {
        return 1.0 / threads;
    }
    const std::int64_t tasks = integer_power(static_cast<std::int64_t>(program->steps.size()), task_levels);
    return static_cast<double>(ceil_div(tasks, threads)) / static_cast<double>(tasks);
}

/// Smallest leaf so that 2^levels of them cover the product in each direction.
LeafShape leaf_shape(const ProblemSize& size, const Leaf& leaf, int levels) {
    const auto padded = [&](std::int64_t n, std::int64_t unit) {
        return round_up(std::max<std::int64_t>(ceil_div(n, std::int64_t{1} << levels), 1), unit);
    };
    return {padded(size.m, kGroupRows), padded(size.k, 64), padded(size.n, leaf.layout->column_unit())};
}

/// With more levels than these, one more over smaller leaves saves no more than its sums cost: they come from memory.
constexpr int kMostLevelsOverSmallLeaves = 5;

/// The smallest side of a leaf with so many levels above it. With the last levels inside the leaf and one more beside
/// its tiles, all blocks of the last ones are in the L2 cache if they are small enough.
std::int64_t smallest_side(const Leaf& leaf, const LevelProgram& program, int levels, int threads) {
    const int height = levels - task_levels(threads, levels);
    const int fused = fused_levels(program, leaf, height);
    const bool small = fused > 0 && height > fused && levels <= kMostLevelsOverSmallLeaves;
    return small ? leaf.smallest_beside : leaf.smallest;
}

int best_levels(const ProblemSize& size, const Leaf& leaf, const LevelProgram& program, int threads) {
    int best = 0;
    for (int levels = 1; levels <= kMostLevels; ++levels) {
        if (std::min({size.m, size.k, size.n}) >> levels < smallest_side(leaf, program, levels, threads)) {
            continue;  // one more may be right, since it has more levels above its leaves
        }
        // A level that is predicted to be as good as none is none.
        if (levels_cost(leaf, leaf_shape(size, leaf, levels), &program, levels) <
            0.97 * levels_cost(leaf, leaf_shape(size, leaf, best), &program, best)) {
            best = levels;
        }
    }
    return best;
}

/// Predicted seconds of the product of packed operands, and of packing or unpacking a matrix.
double multiply_s(const BitLaunch& launch) {
    return product_s(*launch.leaf, launch.algebra) *
           levels_cost(*launch.leaf, launch.shape, launch.program, launch.levels, launch.task_levels) *
           thread_share(launch.program, launch.task_levels, launch.threads);
}
double packing_s(const BitLaunch& launch, const PackedShape& shape) {
    return product_s(*launch.leaf, launch.algebra) * static_cast<double>(shape.words()) *
           launch.leaf->products_per_packing / launch.threads;
}
double packing_operands_s(const BitLaunch& launch) {
    return packing_s(launch, launch.left()) + packing_s(launch, launch.right());
}

}  // namespace

ProductPlan make_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads) {
    fail_if(algebra != Type::gf2 && algebra != Type::boolean, ErrorCode::usage,
            "bit matrices are multiplied over gf2 or bool, not {}", type_name(algebra));
    fail_if(options.levels < -1 || options.levels > kMostLevels, ErrorCode::usage,
            "{} levels are not possible; use 0 to {}, or -1 for the predicted best", options.levels, kMostLevels);
    const Leaf& leaf = find_leaf(algebra, options.leaf);
    const bool classical = options.algorithm == "classical";
    const LevelProgram& program =
        options.algorithm == "auto" || classical ? usual_level_program() : find_level_program(options.algorithm);
    int levels = 0;
    if (algebra == Type::boolean) {
        fail_if(options.levels > 0 || (options.algorithm != "auto" && !classical), ErrorCode::usage,
                "a bool product has no subtraction, so no levels; set the algorithm and the levels to auto");
    } else if (!classical) {
        levels = options.levels >= 0 ? options.levels : best_levels(size, leaf, program, threads);
    } else if (options.levels > 0) {
        fail(ErrorCode::usage, "the classical algorithm has no levels, but {} were asked for", options.levels);
    }
    const BitLaunch launch{algebra,
                           size,
                           levels > 0 ? &program : nullptr,
                           levels,
                           &leaf,
                           leaf_shape(size, leaf, levels),
                           threads,
                           task_levels(threads, levels)};
    ProductPlan plan = plan_of(launch);
    plan.predicted_s = multiply_s(launch) + packing_operands_s(launch) + packing_s(launch, launch.result());
    return plan;
}

ProductPlan make_fitting_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads,
                                  std::int64_t limit_bytes) {
    ProductPlan plan = make_bit_plan(algebra, size, options, threads);
    BitOptions fewer = options;
    while (options.levels < 0 && !plan.levels.empty() && plan.workspace_bytes > limit_bytes) {
        fewer.levels = static_cast<int>(plan.levels.size()) - 1;
        plan = make_bit_plan(algebra, size, fewer, threads);
    }
    return plan;
}

namespace {

/// Products whose results stay packed: the same levels and leaf, and leaf sizes with which a result is the next
/// operand.
ChainPlan packed_chain(Type algebra, const std::vector<std::int64_t>& sizes, BitOptions options, int threads) {
    ChainPlan chain;
    chain.packed = true;
    for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
        chain.plans.push_back(make_bit_plan(algebra, {sizes[0], sizes[i + 1], sizes[i + 2]}, options, threads));
        const auto levels = static_cast<int>(chain.plans[i].levels.size());
        options.levels = i == 0 ? levels : std::min(options.levels, levels);
    }
    for (ProductPlan& plan : chain.plans) {
        const bool is_last = &plan == &chain.plans.back();
        BitLaunch launch = bit_launch(make_bit_plan(algebra, {plan.m, plan.k, plan.n}, options, threads));
        // Every size is rows of one operand and columns of another.
        const std::int64_t unit = std::max<std::int64_t>(64, launch.leaf->layout->column_unit());
        for (std::int64_t* side : {&launch.shape.m, &launch.shape.k, &launch.shape.n}) {
            *side = round_up(*side, unit);
        }
        plan = plan_of(launch);
        // From the second on the left operand, and in a power the right one, is a result that is packed anew; leaving
        // the packed layout comes last.
        plan.predicted_s =
            multiply_s(launch) + packing_operands_s(launch) + (is_last ? packing_s(launch, launch.result()) : 0);
        chain.predicted_s += plan.predicted_s;
    }
    return chain;
}

ChainPlan separate_products(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options,
                            int threads) {
    ChainPlan chain;
    for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
        chain.plans.push_back(make_bit_plan(algebra, {sizes[0], sizes[i + 1], sizes[i + 2]}, options, threads));
        chain.predicted_s += chain.plans.back().predicted_s;
    }
    return chain;
}

}  // namespace

ChainPlan make_chain_plan(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options,
                          int threads) {
    std::vector<ChainPlan> candidates{packed_chain(algebra, sizes, options, threads),
                                      separate_products(algebra, sizes, options, threads)};
    if (options.algorithm == "auto" && algebra == Type::gf2) {
        for (const LevelProgram& program : level_programs()) {
            if (program.chains && !program.into.empty()) {
                BitOptions chaining = options;
                chaining.algorithm = program.name;
                candidates.insert(candidates.begin(), packed_chain(algebra, sizes, chaining, threads));
            }
        }
    }
    return *std::min_element(candidates.begin(), candidates.end(),
                             [](const ChainPlan& x, const ChainPlan& y) { return x.predicted_s < y.predicted_s; });
}

}  // namespace heptad::bits
