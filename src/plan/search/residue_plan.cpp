#include "plan/search/residue_plan.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/moduli.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
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

std::int64_t residue_workspace_bytes(const ProductPlan& plan) {
    const auto aligned = [](std::int64_t bytes) { return round_up(bytes, kWorkspaceAlignment); };
    constexpr std::int64_t kElement = sizeof(std::int32_t);
    const std::int64_t area = checked_mul(plan.tile_m, plan.tile_n);
    return aligned(checked_mul(kElement, checked_mul(plan.tile_m, plan.tile_k))) +
           aligned(checked_mul(kElement, checked_mul(plan.tile_k, plan.tile_n))) +
           aligned(checked_mul(kElement, area)) + aligned(checked_mul(plan.arithmetic.moduli, area)) +
           aligned(plane_plan(plan).workspace_bytes);
}

/// With the levels that are best for a plane of its tile.
ProductPlan with_tile(const Problem& problem, const Machine& machine, std::int64_t tile_m, std::int64_t tile_n) {
    Problem plane{tile_m,          std::clamp<std::int64_t>(problem.k, 1, kLongestResidueSum),
                  tile_n,          Type::i32,
                  problem.threads, problem.options};
    plane.options.accuracy = Accuracy::balanced;
    plane.options.accumulate = plane.options.overwrite_inputs = false;
    ProductPlan plan = make_plan(plane, machine);
    const double plane_s = plan.predicted_s;
    plan.tile_m = plan.m;
    plan.tile_k = plan.k;
    plan.tile_n = plan.n;
    plan.m = problem.m;
    plan.k = problem.k;
    plan.n = problem.n;
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

ProductPlan make_residue_plan(const Problem& problem, const Machine& machine) {
    if (backend_traits(backend_of(problem.options.device)).is_device) {
        refuse_exact(problem.options.accuracy, problem.type, "on a device");
    }
    constexpr std::int64_t kSmallestTile = 64;
    Problem limited = problem;
    std::int64_t tile_m = std::max<std::int64_t>(problem.m, 1), tile_n = std::max<std::int64_t>(problem.n, 1);
    for (;;) {
        ProductPlan plan = with_tile(limited, machine, tile_m, tile_n);
        if (plan.workspace_bytes <= problem.options.workspace_limit_bytes) {
            return plan;
        }
        if (std::max(tile_m, tile_n) > kSmallestTile) {
            std::int64_t& longer = tile_m > tile_n ? tile_m : tile_n;
            longer = std::max(kSmallestTile, round_up(ceil_div(longer, 2), kSmallestTile));
        } else if (limited.options.levels != 0) {
            limited.options.levels = 0;
        } else {
            fail(ErrorCode::resource,
                 "accuracy exact takes at least {} bytes of workspace for this product, and {} are allowed; give more, "
                 "or take accuracy strict",
                 plan.workspace_bytes, problem.options.workspace_limit_bytes);
        }
    }
}

void check_residue_plan(const ProductPlan& plan) {
    if (is_on_device(plan)) {
        check_device_residue_plan(plan);
        return;
    }
    if (!is_float(plan.type)) {
        fail(ErrorCode::input, "plans by residues are for floats, not for {}", type_name(plan.type));
    }
    const auto fits = [](std::int64_t tile, std::int64_t most) {
        return tile >= 1 && tile <= std::max<std::int64_t>(most, 1);
    };
    if (plan.arithmetic.moduli > kMostModuli || !fits(plan.tile_m, plan.m) || !fits(plan.tile_n, plan.n) ||
        !fits(plan.tile_k, std::min<std::int64_t>(plan.k, kLongestResidueSum))) {
        fail(ErrorCode::input, "a plan by residues has up to {} moduli, and tiles of up to {}x{}x{}", kMostModuli,
             plan.m, std::min<std::int64_t>(plan.k, kLongestResidueSum), plan.n);
    }
    check_plan(plane_plan(plan));
    if (plan.workspace_bytes != residue_workspace_bytes(plan) || plan.error_bound != error_bound(plan)) {
        fail(ErrorCode::input,
             "the plan does not fit together: with its tile and levels it takes {} bytes and keeps {}",
             residue_workspace_bytes(plan), error_bound(plan));
    }
}

}  // namespace heptad
