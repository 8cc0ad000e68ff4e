#include "product/device/bit_device_launch.hpp"

#include <algorithm>
#include <utility>

#include "base/fail_if.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

using cuda::BitOperation;

/// Words of all blocks between the first and the second pass of an expanding layer; 0 where there is one pass.
std::int64_t between_passes(std::int64_t leaf_words, const std::vector<int>& passes) {
    return passes.size() < 2 ? 0 : leaf_words * integer_power(7, passes[0]) * integer_power(4, passes[1]);
}

BitDeviceLaunch laid_out(const ProductPlan& plan, bool aligned) {
    BitDeviceLaunch launch;
    launch.problem = {bit_operation(plan.type, plan.count), {plan.m, plan.k, plan.n}, aligned};
    launch.serial_levels = levels_in_mode(plan, LevelMode::serial);
    launch.parallel_levels = levels_in_mode(plan, LevelMode::parallel);
    launch.program = plan.levels.empty() ? nullptr : &bits::find_level_program(plan.levels.front().algorithm);
    launch.leaf = plan.leaf;
    launch.shape = bit_device_leaf(launch.problem.size, launch.levels());
    launch.panels = plan.panels.value_or(PanelCut{});
    lay_out(launch);
    return launch;
}

/// Panels that the search may find for a product without levels; none with levels.
bool has_possible_panels(const ProductPlan& plan) {
    if (!plan.levels.empty()) {
        return !plan.panels;
    }
    if (!plan.panels) {
        return false;
    }
    const auto& [k, cols, first_k] = *plan.panels;
    const bool may_end_early = plan.type == Type::boolean && !plan.count;
    return (k == plan.k || (k > 0 && k < plan.k && k % kBitUnit == 0)) && cols % kBitPanelUnit == 0 &&
           cols <= round_up(plan.n, kBitPanelUnit) && (cols > 0 || plan.n == 0) && first_k % kBitUnit == 0 &&
           first_k <= (may_end_early ? k : 0);
}

}  // namespace

bits::LeafShape bit_device_leaf(const ProblemSize& size, int levels) {
    const auto part = [&](std::int64_t n, std::int64_t unit) {
        return round_up(std::max<std::int64_t>(ceil_div(n, std::int64_t{1} << levels), 1), unit);
    };
    return {part(size.m, 1), part(size.k, kBitUnit), part(size.n, kBitUnit)};
}

/// The place of the results serves the sums of B while they are made, that of the operands the sums of products.
void lay_out(BitDeviceLaunch& launch) {
    const bits::LeafShape& s = launch.shape;
    if (launch.levels() == 0) {
        const std::int64_t m = launch.problem.size.m, k_words = round_up(launch.panels.k, kBitUnit) / 64;
        launch.left = {0, launch.problem.aligned ? 0 : checked_mul(m, k_words)};
        launch.right = {launch.left.words, checked_mul(launch.panels.cols, k_words)};
        launch.result = {launch.left.words + launch.right.words, 0};
        launch.open_tiles = {launch.result.offset,
                             launch.panels.first_k > 0 ? cuda::bit_open_tile_words(m, launch.panels.cols) : 0};
        return;
    }
    const std::vector<int> passes = bit_pass_levels(launch.parallel_levels);
    const std::int64_t leaves = integer_power(7, launch.parallel_levels),
                       blocks = integer_power(4, launch.parallel_levels);
    const auto block_words = [&](std::int64_t rows, std::int64_t cols) {
        const std::int64_t words = checked_mul(rows, cols / 64);
        checked_mul(words, 64 * leaves);  // all that follows fits in 64 bits
        return words;
    };
    const std::int64_t a = block_words(s.m, s.k), b = block_words(s.n, s.k), c = block_words(s.m, s.n);
    const std::int64_t transposed = launch.parallel_levels > 0 ? blocks * b : 0;
    const std::int64_t sums = std::max(between_passes(a, passes), transposed + between_passes(b, passes));
    const std::int64_t operands = std::max(leaves * (a + b), between_passes(c, passes));
    // Even numbers of words, so that every region begins on a 16-byte boundary.
    launch.left = {0, round_up(leaves * a, 2)};
    launch.right = {launch.left.words, round_up(operands, 2) - launch.left.words};
    launch.result = {launch.left.words + launch.right.words, round_up(std::max(leaves * c, sums), 2)};
}

std::int64_t BitDeviceLaunch::panel_end(std::int64_t first_k) const {
    const std::int64_t step = std::max<std::int64_t>(panels.k, 1);
    const std::int64_t end = first_k < panels.first_k ? panels.first_k : (first_k / step + 1) * step;
    return std::min(end, problem.size.k);
}

std::vector<int> bit_pass_levels(int parallel_levels) {
    if (parallel_levels <= 2) {
        return {parallel_levels};
    }
    return {parallel_levels - 2, 2};  // the smaller step first: fewer blocks lie between two passes
}

BitDeviceLaunch bit_device_launch(const ProductPlan& plan, bool aligned) {
    BitDeviceLaunch launch = laid_out(plan, aligned);
    fail_if(launch.workspace_bytes() > plan.workspace_bytes, ErrorCode::usage,
            "the plan is for an A whose rows begin on 16-byte boundaries, and these rows do not; plan with aligned = "
            "false");
    return launch;
}

ProductPlan plan_of(const BitDeviceLaunch& launch) {
    const BitOperation operation = launch.problem.operation;
    std::vector<LevelPlan> levels;
    for (int level = 0; level < launch.levels(); ++level) {
        levels.push_back(
            {launch.program->name, level < launch.serial_levels ? LevelMode::serial : LevelMode::parallel, ""});
    }
    ProductPlan plan = bits::plan_of_leaves(operation == BitOperation::any ? Type::boolean : Type::gf2,
                                            launch.problem.size, launch.shape, std::move(levels));
    plan.count = operation == BitOperation::count;
    plan.backend = "cuda";
    if (launch.levels() == 0) {
        plan.panels = launch.panels;
    }
    plan.leaf = launch.leaf;
    plan.workspace_bytes = launch.workspace_bytes();
    return plan;
}

void check_bit_device_plan(const ProductPlan& plan) {
    const std::vector<std::string> leaves = cuda::bit_leaf_names();
    const bool may_have_levels = plan.type == Type::gf2 && !plan.count;
    if (!is_packed(plan) || std::max({plan.m, plan.k, plan.n}) >= kMostBitSide || !has_possible_panels(plan) ||
        std::find(leaves.begin(), leaves.end(), plan.leaf) == leaves.end() ||
        levels_in_mode(plan, LevelMode::serial) > (may_have_levels ? kMostSerialBitLevels : 0) ||
        levels_in_mode(plan, LevelMode::parallel) > (may_have_levels ? kMostParallelBitLevels : 0)) {
        fail(ErrorCode::input,
             "this is not a plan for packed bits on a device: '{}'; sides are below {}, leaves {}, levels of gf2 up to "
             "{} "
             "serial and {} parallel ones, and without levels there are panels",
             to_string(plan), kMostBitSide, fmt::join(leaves, ", "), kMostSerialBitLevels, kMostParallelBitLevels);
    }
    bits::require_same_plan(plan, [&] {
        const bool aligned = laid_out(plan, true).workspace_bytes() == plan.workspace_bytes;
        ProductPlan made = plan_of(laid_out(plan, aligned));
        made.type = plan.type;  // counts are over no algebra
        return made;
    });
}

}  // namespace heptad
