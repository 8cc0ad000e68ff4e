#include "plan/model/normalize_plan.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/search/level_layout.hpp"

namespace heptad {
namespace {

bool is_short(Type type) {
    return type == Type::tf32 || type == Type::bf16 || type == Type::f16;
}

/// A device judges A and B while the product runs, so C must stay as it is until the end: the outermost level keeps its
/// products in workspace. A fused one asks for the judgement before it writes.
void keep_c_until_the_end(ProductPlan& plan) {
    if (is_on_device(plan) && plan.accumulate && !plan.change_basis && !plan.padded && !plan.levels.empty() &&
        plan.levels.front().mode != LevelMode::fused) {
        plan.levels.front().mode = LevelMode::parallel;
        plan.levels.front().schedule.clear();
    }
}

/// Whether scaled sums stayed within range shows only at the end, so C must not be needed then: all levels breadth
/// first, and beta zero or C in workspace.
bool can_scale_sums(const ProductPlan& plan) {
    return is_short(plan.type) && backend_traits(plan.backend).has_levels_of_short_types && !plan.levels.empty() &&
           !plan.change_basis && (plan.padded || !plan.accumulate) &&
           std::ranges::all_of(plan.levels, [](const LevelPlan& level) { return level.mode == LevelMode::parallel; });
}

/// Only the innermost level can be inside the kernel: what is above one that was taken for it makes its sums in passes.
void fuse_the_innermost_only(ProductPlan& plan) {
    for (std::size_t depth = 0; depth < plan.levels.size(); ++depth) {
        LevelPlan& level = plan.levels[depth];
        if (level.mode == LevelMode::fused && depth + 1 < plan.levels.size()) {
            level.mode = LevelMode::parallel;
        }
        if (level.mode == LevelMode::fused) {
            level.schedule.clear();
        } else {
            level.order = LevelPlan{}.order;
            level.tile = LevelPlan{}.tile;
        }
    }
}

/// Fills in the divisible part; drops levels that the sizes do not allow. A fused level takes blocks of any size, so it
/// divides nothing.
void set_core(ProductPlan& plan) {
    ProblemSize unit{1, 1, 1};
    std::size_t kept = 0;
    for (; kept < plan.levels.size(); ++kept) {
        const Algorithm& algorithm = find_algorithm(plan.levels[kept].algorithm).algorithm;
        const ProblemSize next{checked_mul(unit.m, algorithm.m), checked_mul(unit.k, algorithm.k),
                               checked_mul(unit.n, algorithm.n)};
        if (next.m > plan.m || next.k > plan.k || next.n > plan.n) {
            break;
        }
        unit = plan.levels[kept].mode != LevelMode::fused ? next : unit;
    }
    plan.levels.resize(kept);
    if (plan.padded) {
        // Blocks at the bottom have sides in multiples of 16: every type's rows are aligned, and the tensor cores'
        // tiles are full.
        constexpr std::int64_t kSide = 16;
        plan.core_m = round_up(plan.m, checked_mul(unit.m, kSide));
        plan.core_k = round_up(plan.k, checked_mul(unit.k, kSide));
        plan.core_n = round_up(plan.n, checked_mul(unit.n, kSide));
        return;
    }
    plan.core_m = plan.m / unit.m * unit.m;
    plan.core_k = plan.k / unit.k * unit.k;
    plan.core_n = plan.n / unit.n * unit.n;
}

bool shares_one_basis(const std::vector<LevelPlan>& levels) {
    return !levels.empty() && find_algorithm(levels.front().algorithm).algorithm.basis.has_value() &&
           std::ranges::all_of(levels, [&](const LevelPlan& level) {
               return level.algorithm == levels.front().algorithm && level.schedule.empty() &&
                      level.mode != LevelMode::fused;
           });
}

/// A schedule that keeps a value in a block of another shape needs square blocks, and one that overwrites its inputs a
/// level that may; anything else falls back to one that fits.
void drop_unfitting_schedules(ProductPlan& plan) {
    ProblemSize block{plan.core_m, plan.core_k, plan.core_n};
    for (std::size_t depth = 0; depth < plan.levels.size(); ++depth) {
        LevelPlan& level = plan.levels[depth];
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        block = {block.m / algorithm.m, block.k / algorithm.k, block.n / algorithm.n};
        if (!level.schedule.empty()) {
            const Schedule& schedule = find_schedule(level.schedule);
            const std::vector<LevelEntry> entries = level_entries(plan)[depth];
            const bool may_overwrite =
                std::ranges::any_of(entries, [](const LevelEntry& entry) { return entry.operands_die; });
            if ((schedule.overwrites_inputs && !may_overwrite) ||
                (schedule.square_blocks_only && (block.m != block.k || block.k != block.n))) {
                level.schedule.clear();
            }
        }
    }
}

bool overwrites_inputs(const LevelPlan& level) {
    return !level.schedule.empty() && find_schedule(level.schedule).overwrites_inputs;
}

/// Leave to overwrite A and B is one thing; the plan says whether it does.
bool makes_use_of_inputs(const ProductPlan& plan) {
    return plan.overwrite_inputs && (plan.change_basis || std::ranges::any_of(plan.levels, overwrites_inputs));
}

}  // namespace

bool has_levels(Type type, const BackendTraits& backend) {
    return (is_short(type) && backend.has_levels_of_short_types) || type == Type::f64 || type == Type::f32 ||
           is_integer(type) || (type == Type::gf2 && backend.has_levels_of_bits);
}

const BackendTraits& backend_traits(const Problem& problem) {
    return backend_traits(backend_of(problem.options.device));
}

bool wants_scaled_sums(const Problem& problem) {
    return problem.type == Type::f16 || (problem.type == Type::bf16 && problem.options.accuracy != Accuracy::fast);
}

bool scales_sums(const Problem& problem) {
    return backend_traits(problem).has_levels_of_short_types && wants_scaled_sums(problem) &&
           !problem.options.accumulate;
}

void normalize_plan(ProductPlan& plan) {
    if (is_by_residues(plan) && is_on_device(plan)) {  // of a step that is smaller than what it was planned for
        plan.tile_m = std::min(plan.tile_m, plan.m);
        plan.tile_k = plan.k;
        plan.tile_n = std::min(plan.tile_n, plan.n);
        // Levels in residues are sums of bytes in blocks with zeros appended: there is no more to them.
        plan.core_m = plan.m;
        plan.core_k = plan.k;
        plan.core_n = plan.n;
        plan.change_basis = plan.overwrite_inputs = plan.scaled_sums = false;
        return;
    }
    fuse_the_innermost_only(plan);
    set_core(plan);
    drop_unfitting_schedules(plan);
    plan.change_basis = shares_one_basis(plan.levels);
    keep_c_until_the_end(plan);
    plan.overwrite_inputs = makes_use_of_inputs(plan);
    plan.scaled_sums = plan.scaled_sums && can_scale_sums(plan);
    if (plan.type == Type::f16 && !plan.levels.empty() && !plan.scaled_sums) {
        plan.levels.clear();  // its range does not hold the products of large sums
        normalize_plan(plan);
    }
}

}  // namespace heptad
