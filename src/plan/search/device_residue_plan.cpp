#include "plan/search/device_residue_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/device_layout.hpp"
#include "base/fail_if.hpp"
#include "base/moduli.hpp"
#include "base/types.hpp"
#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/predict.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

bool has_wide_parts(Type type) {
    return type == Type::f64 || type == Type::c128;
}

/// Uniform data on an H200, over |A||B|: 7 moduli leave a tenth of cuBLAS's error in f32 and 14 a third of it in f64 (n
/// = 1024 to 16384); 6 leave 1.8 times as much (n = 8192).
int even_moduli(Type type, Accuracy accuracy) {
    return (has_wide_parts(type) ? 14 : 7) - (accuracy == Accuracy::fast ? 1 : 0);
}

constexpr std::int64_t kMostTileLines = std::int64_t{65535} * 16;  // a launch has so many layers, of 16 or 32 lines

bool has_type_of_residues(Type type) {
    return type == Type::f32 || type == Type::f64 || is_complex(type);
}
int fewest_moduli(Type type) {
    return has_wide_parts(type) ? kFewestModuliOfF64 : kFewestModuliOfF32;
}

bool is_empty(const ProductPlan& plan) {
    return std::min({plan.m, plan.k, plan.n}) == 0;
}

bool fits_residues(const ProductPlan& plan) {
    const BlockGrid blocks = residue_levels(plan).blocks;
    return plan.m >= blocks.m && plan.k >= blocks.k && plan.n >= blocks.n &&
           residue_block_bytes(plan.k, blocks.k) <= kLongestDeviceSum;
}

std::int64_t bytes_in_shared_memory(const ProductPlan& plan) {
    const ResidueLevels levels = residue_levels(plan);
    const std::int64_t blocks = levels.in_kernels ? levels.blocks.m * levels.blocks.k : 1;
    const std::int64_t number_bytes = rounds_once(plan) || has_wide_parts(plan.type) ? 8 : 4;
    constexpr std::int64_t kOfBlock = kNumberTileLines * sizeof(std::int32_t);  // exponents of its lines
    return blocks * (number_bytes * kNumberTileLines * kNumberTilePitch + kOfBlock);
}

/// Of two numbers and fewer, the bound of `strict` has no room for the rounding of integers.
constexpr std::int64_t kShortestCertified = 3;

/// For 64-bit integers of either sign, and sums of k products.
int integer_moduli(std::int64_t k) {
    return moduli_for(2 * kLog2OfWords + std::log2(static_cast<double>(std::max<std::int64_t>(k, 1))));
}

[[noreturn]] void refuse_exact_plan(const Problem& problem) {
    fail(ErrorCode::usage, "a product of {} x {} x {} in {} on a device has k of at most {}; set device to cpu",
         problem.m, problem.k, problem.n, type_name(problem.type), kLongestDeviceSum << kMostResidueLevels);
}

}  // namespace

int residue_parts(Type type) {
    return is_complex(type) ? 3 : 1;
}

int most_moduli(const ProductPlan& plan) {
    constexpr int kMore = 2;
    const int most = fewest_moduli(plan.type) + kModuliChoices - 1;
    return plan.least_evenness > 0 ? std::min(plan.arithmetic.moduli + kMore, most) : plan.arithmetic.moduli;
}

double certified_evenness(const ProductPlan& plan) {
    // (1 + R)^2 - 1 = (k - 2) u, and R = 2^-bits sqrt(k) / evenness. Sizes that numbers are compared with, and sums of
    // shares, are rounded by far less than the margin.
    constexpr double kMargin = 1 + 1e-6;
    const auto k = static_cast<double>(plan.k);
    const double room = (k - 2) * unit_roundoff(plan.type), most_r = room / (1 + std::sqrt(1 + room));
    double evenness = 0, of_more = 1;
    for (int count = plan.arithmetic.moduli; count <= most_moduli(plan); ++count, of_more *= kEvennessOfModulus) {
        const double needed = kMargin * std::exp2(-log2_of_integers(count)) * std::sqrt(k) / most_r;
        evenness = std::max(evenness, needed / of_more);
    }
    return evenness;
}

DeviceResidueLayout device_residue_layout(const ProductPlan& plan) {
    const ResidueLevels levels = residue_levels(plan);
    const ResidueSide m{plan.tile_m, levels.blocks.m}, k{plan.k, levels.blocks.k}, n{plan.tile_n, levels.blocks.n};
    const auto planes = [&](std::int64_t of_part, const ResidueSide& lines, const ResidueSide& elements) {
        const std::int64_t count = of_part * most_moduli(plan) * residue_parts(plan.type);
        return round_up(checked_mul(count, checked_mul(lines.block_lines(), elements.block_bytes())),
                        kWorkspaceAlignment);
    };
    const auto of_products = [&](const ResidueSide& x, const ResidueSide& y) { return planes(levels.products, x, y); };
    const auto whole = [&](const ResidueSide& x, const ResidueSide& y) {
        return planes(std::int64_t{x.blocks} * y.blocks, x, y);
    };
    DeviceResidueLayout layout;
    layout.guard = round_up(guard_bytes(plan.m, plan.k, plan.n), kWorkspaceAlignment);
    layout.notes = round_up(residue_notes_bytes(plan.m, plan.n), kWorkspaceAlignment);
    layout.a = of_products(m, k);
    layout.b = of_products(n, k);
    layout.c = std::max(of_products(m, n), of_products(n, m));  // by rows or by columns
    if (!levels.in_kernels) {
        layout.c = std::max({layout.c, whole(m, k), whole(n, k)});
        layout.whole_c = std::max(whole(m, n), whole(n, m));
    }
    checked_add(checked_add(layout.guard, layout.notes),
                checked_add(layout.a, checked_add(layout.b, checked_add(layout.c, layout.whole_c))));
    return layout;
}

bool fits_shared_memory(const ProductPlan& plan, const Machine& machine) {
    return !is_by_residues(plan) || bytes_in_shared_memory(plan) <= machine.shared_bytes;
}

bool take_residues(ProductPlan& plan, const Problem& problem, const Machine& machine) {
    const Accuracy accuracy = problem.options.accuracy;
    const bool may_certify = !is_complex(plan.type) && plan.k >= kShortestCertified;
    const bool has_word =
        accuracy == Accuracy::balanced || accuracy == Accuracy::fast || (accuracy == Accuracy::strict && may_certify);
    if (!is_on_device(plan) || !has_type_of_residues(plan.type) || !has_word || plan.padded ||
        !residue_levels_refusal(plan.levels).empty()) {
        return false;
    }
    ProductPlan taken = plan;
    taken.arithmetic.moduli = even_moduli(plan.type, accuracy);
    taken.least_evenness = accuracy == Accuracy::balanced ? least_evenness()
                           : accuracy == Accuracy::strict ? kCertifiedEvenness
                                                          : 0;
    while (!taken.levels.empty() && !fits_shared_memory(taken, machine)) {
        taken.levels.pop_back();
    }
    if (!fits_residues(taken) || !fit_tiles(taken, problem.options.workspace_limit_bytes)) {
        return false;
    }
    plan = std::move(taken);
    return true;
}

bool fit_tiles(ProductPlan& plan, std::int64_t bytes) {
    // Smaller tiles leave multiprocessors idle, and make residues again and again. Rows and columns of the kernels'
    // tiles divide the unit. With levels it is those of each block that count: bands of 16896 rows instead of 16384
    // have blocks of 4224, which take nine clusters of 512 rows instead of eight.
    constexpr std::int64_t kSmallestTile = 2048, kClusterRows = 512;
    const BlockGrid blocks = residue_levels(plan).blocks;
    const std::int64_t unit = plan.levels.empty() ? 768 : kClusterRows * blocks.m;
    const std::int64_t smallest = kSmallestTile * std::max(blocks.m, blocks.n);
    ProductPlan tiled = plan;
    tiled.tile_m = plan.m;
    tiled.tile_k = plan.k;
    tiled.tile_n = plan.n;
    const auto halve = [&](std::int64_t& side) { side = std::max(smallest, round_up(ceil_div(side, 2), unit)); };
    for (std::int64_t* const side : {&tiled.tile_m, &tiled.tile_n}) {
        while (*side > kMostTileLines) {
            halve(*side);
        }
    }
    while (device_residue_layout(tiled).bytes() > bytes) {
        // With levels residues are too dear to be made twice: in bands of rows those of B are kept.
        std::int64_t& longer = tiled.tile_m > tiled.tile_n || !plan.levels.empty() ? tiled.tile_m : tiled.tile_n;
        if (longer <= smallest) {
            return false;
        }
        halve(longer);
    }
    plan = std::move(tiled);
    return true;
}

ProductPlan make_exact_device_plan(const Problem& problem, const Machine& machine) {
    const Options& options = problem.options;
    const bool has_type = has_type_of_residues(problem.type) && !is_complex(problem.type);
    fail_if(!has_type && problem.type != Type::i64, ErrorCode::usage,
            "accuracy exact on a device is for f32 and f64, not for {}; set device to cpu, or use accuracy strict",
            type_name(problem.type));
    fail_if((options.mode != "auto" && options.levels != 0) ||
                !(options.leaf == "auto" || leaf_traits(options.leaf).by_residues),
            ErrorCode::usage,
            "on a device, exact products and those of i64 use leaf {} with levels inside; set mode and leaf to auto",
            leaf_by_residues());
    const int asked = options.levels, most = most_levels_inside_residues(options);
    std::optional<ProductPlan> best;
    std::int64_t least_bytes = 0;
    for (int levels = most; levels >= (best ? std::max(asked, 0) : 0); --levels) {
        ProductPlan plan = empty_plan(problem);
        plan.levels = levels_inside_residues(options, levels);
        plan.leaf = plan.fringe_leaf = leaf_by_residues();
        plan.arithmetic.moduli = is_integer(plan.type) ? integer_moduli(plan.k) : kMostModuli;
        if (!(is_empty(plan) && levels == 0) && !(fits_residues(plan) && fits_shared_memory(plan, machine))) {
            continue;
        }
        if (!fit_tiles(plan, options.workspace_limit_bytes)) {
            plan.tile_m = std::min<std::int64_t>(plan.m, 2048);
            plan.tile_k = plan.k;
            plan.tile_n = std::min<std::int64_t>(plan.n, 2048);
            least_bytes = device_residue_layout(plan).bytes();
            continue;
        }
        normalize_plan(plan);
        plan.workspace_bytes = device_residue_layout(plan).bytes();
        plan.predicted_s = predict_seconds(plan, machine);
        plan.error_bound = error_bound(plan);
        if (!best || plan.predicted_s < best->predicted_s) {
            best = std::move(plan);
        }
    }
    fail_if(!best && least_bytes > 0, ErrorCode::resource,
            "this product takes at least {} bytes of workspace on a device, and {} are allowed; give more, or set "
            "device to cpu",
            least_bytes, options.workspace_limit_bytes);
    if (!best) {
        refuse_exact_plan(problem);
    }
    return *best;
}

void check_device_residue_plan(const ProductPlan& plan) {
    const int fewest = is_integer(plan.type) ? integer_moduli(plan.k) : fewest_moduli(plan.type);
    const int largest = is_complex(plan.type) ? fewest + kModuliChoices - 1 : kMostModuli;
    if (const std::string refusal = residue_levels_refusal(plan.levels); !refusal.empty()) {
        fail(ErrorCode::input, "{}", refusal);
    }
    if (!(has_type_of_residues(plan.type) || plan.type == Type::i64) || !leaf_traits(plan.leaf).by_residues ||
        plan.padded || plan.core_m != plan.m || plan.core_k != plan.k || plan.core_n != plan.n ||
        plan.arithmetic.moduli < fewest || plan.arithmetic.moduli > largest ||
        (rounds_once(plan) && plan.least_evenness != 0) ||
        (is_certified(plan) && (is_complex(plan.type) || plan.k < kShortestCertified))) {
        fail(ErrorCode::input,
             "plans by residues on a device are for f32 with {} to {} moduli, f64 with {} to {}, i64 with {} or more "
             "for this k, c64 with {} to {} and c128 with {} to {}",
             kFewestModuliOfF32, kMostModuli, kFewestModuliOfF64, kMostModuli, integer_moduli(plan.k),
             kFewestModuliOfF32, kFewestModuliOfF32 + kModuliChoices - 1, kFewestModuliOfF64, kMostDeviceModuli);
    }
    const auto fits = [](std::int64_t tile, std::int64_t most) {
        return tile >= std::min<std::int64_t>(most, 1) && tile <= most;
    };
    const BlockGrid blocks = residue_levels(plan).blocks;
    const std::int64_t most_m = std::min(plan.m, kMostTileLines), most_n = std::min(plan.n, kMostTileLines);
    fail_if(!fits(plan.tile_m, most_m) || !fits(plan.tile_n, most_n) || plan.tile_k != plan.k ||
                (!is_empty(plan) && residue_block_bytes(plan.k, blocks.k) > kLongestDeviceSum),
            ErrorCode::input, "tiles of this plan by residues are up to {} x {}, with all of k, up to {}", most_m,
            most_n, blocks.k * kLongestDeviceSum);
    const std::int64_t bytes = device_residue_layout(plan).bytes();
    if (plan.workspace_bytes != bytes || plan.vendor_workspace_bytes != 0 || plan.error_bound != error_bound(plan)) {
        fail(ErrorCode::input, "the plan is inconsistent: with its tile it takes {} bytes and keeps {}", bytes,
             error_bound(plan));
    }
}

}  // namespace heptad
