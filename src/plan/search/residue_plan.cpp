#include "plan/search/residue_plan.hpp"

#include <algorithm>

#include "base/device_layout.hpp"
#include "base/fail_if.hpp"
#include "base/moduli.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// Of normal data with n = 4096; uniform data takes 6 to 7 fewer.
int usual_moduli(Type type) {
    return type == Type::f64 ? 22 : type == Type::bf16 || type == Type::f16 ? 10 : 14;
}

/// Seconds for a residue of an element, and for rounding an entry that was put together; one thread of a busy Xeon.
constexpr double kResidueS = 5e-9, kRoundS = 3e-8;
/// For a product of two bytes: AMX takes 0.6e-12 there, vectors of an older processor 2e-11.
constexpr double kByteS = 2e-12;

double predicted_s(const ProductPlan& plan, double plane_s) {
    const auto rounded_up = [](std::int64_t size, std::int64_t tile) {
        return static_cast<double>(ceil_div(size, tile));
    };
    const double tiles_m = rounded_up(plan.m, plan.tile_m), tiles_n = rounded_up(plan.n, plan.tile_n);
    const double moduli = usual_moduli(plan.type);
    const auto m = static_cast<double>(plan.m), k = static_cast<double>(plan.k), n = static_cast<double>(plan.n);
    return moduli * (tiles_m * tiles_n * rounded_up(plan.k, plan.tile_k) * plane_s +
                     kResidueS * (tiles_n * m * k + tiles_m * k * n + m * n) / plan.threads) +
           kRoundS * m * n / plan.threads;
}

bool is_by_bytes(const ProductPlan& plan) {
    return leaf_traits(plan.leaf).by_residues;
}

std::int64_t residue_workspace_bytes(const ProductPlan& plan) {
    if (plan.m == 0 || plan.k == 0 || plan.n == 0) {
        return 0;  // at most beta C
    }
    const auto aligned = [](std::int64_t bytes) { return round_up(bytes, kWorkspaceAlignment); };
    if (is_by_bytes(plan)) {
        const HostResidueLayout layout = host_residue_layout(plan);
        return checked_add(layout.a, layout.b);
    }
    constexpr std::int64_t kElement = sizeof(std::int32_t);
    const std::int64_t area = checked_mul(plan.tile_m, plan.tile_n);
    return aligned(checked_mul(kElement, checked_mul(plan.tile_m, plan.tile_k))) +
           aligned(checked_mul(kElement, checked_mul(plan.tile_k, plan.tile_n))) +
           aligned(checked_mul(kElement, area)) + aligned(checked_mul(plan.arithmetic.moduli, area)) +
           aligned(plane_plan(plan).workspace_bytes);
}

/// With the levels that are best for a plane of its tile, or by bytes.
ProductPlan with_tile(const Problem& problem, const Machine& machine, std::int64_t tile_m, std::int64_t tile_n,
                      bool by_bytes) {
    Problem plane{tile_m,          std::clamp<std::int64_t>(problem.k, 1, kLongestResidueSum),
                  tile_n,          Type::i32,
                  problem.threads, problem.options};
    plane.options.accuracy = Accuracy::balanced;
    plane.options.accumulate = plane.options.overwrite_inputs = false;
    if (by_bytes) {
        plane.k = std::max<std::int64_t>(problem.k, 1);
        plane.options.levels = 0;
        plane.options.leaf = "auto";
    }
    ProductPlan plan = make_plan(plane, machine);
    const double plane_s = by_bytes ? kByteS * static_cast<double>(plan.m) * static_cast<double>(plan.k) *
                                          static_cast<double>(plan.n) / plan.threads
                                    : plan.predicted_s;
    if (by_bytes) {
        plan.leaf = leaf_by_residues();
    }
    plan.tile_m = plan.m;
    plan.tile_k = plan.k;
    plan.tile_n = plan.n;
    set_size(plan, problem);
    plan.type = problem.type;
    plan.accumulate = problem.options.accumulate;
    plan.arithmetic.moduli = kMostModuli;
    plan.workspace_bytes = residue_workspace_bytes(plan);
    plan.predicted_s = predicted_s(plan, plane_s);
    plan.error_bound = error_bound(plan);
    return plan;
}

}  // namespace

ProductPlan plane_plan(const ProductPlan& plan) {
    ProductPlan plane = plan;
    plane.type = Type::i32;
    plane.arithmetic = {};
    plane.m = plan.tile_m;
    plane.k = plan.tile_k;
    plane.n = plan.tile_n;
    plane.tile_m = plane.tile_k = plane.tile_n = 0;
    plane.accumulate = false;
    plane.error_bound = 0;
    plane.workspace_bytes = plan_workspace_bytes(plane);
    return plane;
}

HostResidueLayout host_residue_layout(const ProductPlan& plan) {
    const auto planes = [&](std::int64_t lines) {
        return round_up(checked_mul(plan.arithmetic.moduli, packed_residue_bytes(lines, plan.tile_k)),
                        kWorkspaceAlignment);
    };
    return {planes(plan.tile_m), planes(plan.tile_n)};
}

namespace {

constexpr std::int64_t kSmallestTile = 64;

/// With the largest tile that fits the workspace, or the smallest.
ProductPlan with_largest_tile(const Problem& problem, const Machine& machine, bool by_bytes) {
    std::int64_t tile_m = std::max<std::int64_t>(problem.m, 1), tile_n = std::max<std::int64_t>(problem.n, 1);
    for (;;) {
        ProductPlan plan = with_tile(problem, machine, tile_m, tile_n, by_bytes);
        if (fits_workspace(plan, problem) || std::max(tile_m, tile_n) <= kSmallestTile) {
            return plan;
        }
        std::int64_t& longer = tile_m > tile_n ? tile_m : tile_n;
        longer = std::max(kSmallestTile, round_up(ceil_div(longer, 2), kSmallestTile));
    }
}

/// Who names levels, an algorithm or a leaf wants products of integers with those. Of thin matrices the lines that fill
/// up the panels would be most.
bool takes_bytes(const Problem& problem) {
    const Options& options = problem.options;
    constexpr std::int64_t kThin = kResidueTile / 4, kShort = 8192;
    const bool is_thin = std::min(problem.m, problem.n) < kThin && problem.k > kShort;
    return !is_thin && backend_traits(problem).multiplies_bytes && options.levels <= 0 && options.algorithm == "auto" &&
           options.mode == "auto" && (options.leaf == "auto" || leaf_traits(options.leaf).by_residues);
}

}  // namespace

ProductPlan make_residue_plan(const Problem& problem, const Machine& machine) {
    if (backend_traits(problem).is_device) {
        return make_exact_device_plan(problem, machine);
    }
    if (takes_bytes(problem)) {
        if (ProductPlan plan = with_largest_tile(problem, machine, true); fits_workspace(plan, problem)) {
            return plan;
        }
    }
    Problem limited = problem;
    if (leaf_traits(limited.options.leaf).by_residues) {
        limited.options.leaf = "auto";
    }
    ProductPlan plan = with_largest_tile(limited, machine, false);
    if (!fits_workspace(plan, problem)) {
        limited.options.levels = 0;
        plan = with_largest_tile(limited, machine, false);
    }
    fail_if(!fits_workspace(plan, problem), ErrorCode::resource,
            "accuracy exact takes at least {} bytes of workspace for this product, and {} are allowed; give more, "
            "or use accuracy strict",
            plan.workspace_bytes, problem.options.workspace_limit_bytes);
    return plan;
}

void check_residue_plan(const ProductPlan& plan) {
    if (is_on_device(plan)) {
        check_device_residue_plan(plan);
        return;
    }
    fail_if(!is_float(plan.type), ErrorCode::input, "plans by residues are for floats, not for {}",
            type_name(plan.type));
    const auto fits = [](std::int64_t tile, std::int64_t most) {
        return tile >= 1 && tile <= std::max<std::int64_t>(most, 1);
    };
    const std::int64_t most_k = is_by_bytes(plan) ? plan.k : std::min<std::int64_t>(plan.k, kLongestResidueSum);
    fail_if(plan.arithmetic.moduli > kMostModuli || !fits(plan.tile_m, plan.m) || !fits(plan.tile_n, plan.n) ||
                !fits(plan.tile_k, most_k),
            ErrorCode::input, "a plan by residues has up to {} moduli, and tiles of up to {}x{}x{}", kMostModuli,
            plan.m, most_k, plan.n);
    if (!is_by_bytes(plan)) {
        check_plan(plane_plan(plan));
    } else if (!plan.levels.empty() || plan.padded || plan.tile_k != std::max<std::int64_t>(plan.k, 1)) {
        fail(ErrorCode::input, "a plan by residues with leaf {} has no levels, and tiles with all of k", plan.leaf);
    }
    if (plan.workspace_bytes != residue_workspace_bytes(plan) || plan.error_bound != error_bound(plan)) {
        fail(ErrorCode::input, "the plan is inconsistent: with its tile and levels it takes {} bytes and keeps {}",
             residue_workspace_bytes(plan), error_bound(plan));
    }
}

}  // namespace heptad
