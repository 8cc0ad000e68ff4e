#include "plan/search/device_residue_plan.hpp"

#include <algorithm>

#include "algorithm/winograd_sums.hpp"
#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "base/moduli.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// Uniform data on an H200, over |A||B|: 7 moduli leave a tenth of cuBLAS's error in f32 and 14 a third of it in f64 (n
/// = 1024 to 16384); 6 leave 1.8 times as much (n = 8192).
int even_moduli(Type type, Accuracy accuracy) {
    return (type == Type::f64 ? 14 : 7) - (accuracy == Accuracy::fast ? 1 : 0);
}

/// Halvings by winograd, as many as the kernels have sums of.
bool has_levels_of_residues(const ProductPlan& plan) {
    return static_cast<int>(plan.levels.size()) <= kMostResidueLevels &&
           std::all_of(plan.levels.begin(), plan.levels.end(), [](const LevelPlan& level) {
               return level == LevelPlan{kHalving, LevelMode::parallel, ""};
           });
}

bool has_type_of_residues(Type type) {
    return type == Type::f32 || type == Type::f64;
}
int fewest_moduli(Type type) {
    return type == Type::f64 ? kFewestModuliOfF64 : kFewestModuliOfF32;
}

}  // namespace

int most_moduli(const ProductPlan& plan) {
    constexpr int kMore = 2;
    const int most = fewest_moduli(plan.type) + kModuliChoices - 1;
    return plan.least_evenness > 0 ? std::min(plan.arithmetic.moduli + kMore, most) : plan.arithmetic.moduli;
}

DeviceResidueLayout device_residue_layout(const ProductPlan& plan) {
    const auto levels = static_cast<int>(plan.levels.size());
    const auto planes = [&](std::int64_t lines, std::int64_t elements) {
        const std::int64_t block =
            checked_mul(residue_block_lines(lines, levels), residue_block_bytes(elements, levels));
        return round_up(checked_mul(most_moduli(plan) * winograd_products(levels), block), kWorkspaceAlignment);
    };
    DeviceResidueLayout layout;
    layout.guard = round_up(guard_bytes(plan.m, plan.k, plan.n), kWorkspaceAlignment);
    layout.notes = round_up(residue_notes_bytes(plan.m, plan.n), kWorkspaceAlignment);
    layout.a = planes(plan.tile_m, plan.k);
    layout.b = planes(plan.tile_n, plan.k);
    layout.c = std::max(planes(plan.tile_m, plan.tile_n), planes(plan.tile_n, plan.tile_m));  // by rows or by columns
    checked_add(checked_add(layout.guard, layout.notes), checked_add(layout.a, checked_add(layout.b, layout.c)));
    return layout;
}

bool take_residues(ProductPlan& plan, const Problem& problem) {
    const Accuracy accuracy = problem.options.accuracy;
    const bool has_word = accuracy == Accuracy::balanced || accuracy == Accuracy::fast;
    if (!is_on_device(plan) || !has_type_of_residues(plan.type) || !has_word || !has_levels_of_residues(plan) ||
        plan.padded || std::min({plan.m, plan.k, plan.n}) < std::int64_t{1} << plan.levels.size() ||
        residue_block_bytes(plan.k, static_cast<int>(plan.levels.size())) > kLongestDeviceSum) {
        return false;
    }
    ProductPlan taken = plan;
    taken.arithmetic.moduli = even_moduli(plan.type, accuracy);
    taken.least_evenness = accuracy == Accuracy::balanced ? least_evenness() : 0;
    taken.tile_m = plan.m;
    taken.tile_k = plan.k;
    taken.tile_n = plan.n;
    // Smaller tiles leave multiprocessors idle, and make residues again and again.
    constexpr std::int64_t kSmallestTile = 2048, kUnit = 768;  // rows and columns of the kernels' tiles divide it
    const std::int64_t smallest = kSmallestTile << plan.levels.size();
    while (device_residue_layout(taken).bytes() > problem.options.workspace_limit_bytes) {
        // With levels residues are too dear to be made twice: in bands of rows those of B are kept.
        std::int64_t& longer = taken.tile_m > taken.tile_n || !plan.levels.empty() ? taken.tile_m : taken.tile_n;
        if (longer <= smallest) {
            return false;
        }
        longer = std::max(smallest, round_up(ceil_div(longer, 2), kUnit));
    }
    plan = std::move(taken);
    return true;
}

void check_device_residue_plan(const ProductPlan& plan) {
    const int fewest = fewest_moduli(plan.type);
    if (!has_type_of_residues(plan.type) || !leaf_traits(plan.leaf).by_residues || !has_levels_of_residues(plan) ||
        plan.padded || plan.core_m != plan.m || plan.core_k != plan.k || plan.core_n != plan.n ||
        plan.arithmetic.moduli < fewest || plan.arithmetic.moduli >= fewest + kModuliChoices) {
        fail(ErrorCode::input,
             "plans by residues on a device are for f32 with {} to {} moduli and f64 with {} to {}, with up to {} "
             "levels "
             "of {}",
             kFewestModuliOfF32, kFewestModuliOfF32 + kModuliChoices - 1, kFewestModuliOfF64, kMostDeviceModuli,
             kMostResidueLevels, kHalving);
    }
    const auto fits = [](std::int64_t tile, std::int64_t most) { return tile >= 1 && tile <= most; };
    const std::int64_t blocks = std::int64_t{1} << plan.levels.size();
    if (!fits(plan.tile_m, plan.m) || !fits(plan.tile_n, plan.n) || plan.tile_k != plan.k ||
        residue_block_bytes(plan.k, static_cast<int>(plan.levels.size())) > kLongestDeviceSum) {
        fail(ErrorCode::input, "tiles of this plan by residues are up to {} x {}, with all of k, up to {}", plan.m,
             plan.n, blocks * kLongestDeviceSum);
    }
    const std::int64_t bytes = device_residue_layout(plan).bytes();
    if (plan.workspace_bytes != bytes || plan.vendor_workspace_bytes != 0 || plan.error_bound != error_bound(plan)) {
        fail(ErrorCode::input, "the plan does not fit together: with its tile it takes {} bytes and keeps {}", bytes,
             error_bound(plan));
    }
}

}  // namespace heptad
