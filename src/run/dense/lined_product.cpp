#include "run/dense/lined_product.hpp"

#include <algorithm>

#include "plan/search/level_layout.hpp"
#include "run/dense/combine_passes.hpp"

namespace heptad {

std::vector<LineExponents> lines_of_blocks(const LineExponents& lines, const View& one, int grid_rows, int grid_cols) {
    std::vector<LineExponents> of_blocks;
    for (int i = 0; i < grid_rows; ++i) {
        for (int j = 0; j < grid_cols; ++j) {
            of_blocks.push_back(lines.of_block(i * one.rows, j * one.cols));
        }
    }
    return of_blocks;
}

bool can_scale(const ProductPlan& plan, double beta) {
    if (plan.scaled_sums || (plan.change_basis && plan.overwrite_inputs)) {
        return false;
    }
    for (std::size_t depth = 0; depth < plan.levels.size() && !plan.change_basis; ++depth) {
        const LevelPlan& level = plan.levels[depth];
        if (level.mode == LevelMode::fused) {
            return false;
        }
        if (level.mode == LevelMode::parallel) {
            const LevelPrograms programs = level_programs(level.algorithm, false);
            const bool batched = level_storage(plan, depth).batched;
            if (!inner_blocks(*programs.a, operand_layout(*programs.a, batched), programs.algorithm->k, *programs.b,
                              operand_layout(*programs.b, batched), programs.algorithm->n)) {
                return false;
            }
            continue;
        }
        // In serial mode sums are added to C itself: what is there may not fit the powers of A and B.
        if (beta != 0 && depth == 0) {
            return false;
        }
        for (const bool adds : {false, true}) {
            for (const bool dies : {false, true}) {
                const Schedule& schedule = level_schedule(level, false, {adds, dies});
                const bool meet = std::all_of(schedule.steps.begin(), schedule.steps.end(), [&](const ScheduleStep& s) {
                    return s.kind != ScheduleStep::Kind::product || s.left.kind != SymbolKind::a ||
                           s.right.kind != SymbolKind::b || s.left.index % schedule.k == s.right.index / schedule.n;
                });
                if (!meet) {
                    return false;
                }
            }
        }
    }
    return !is_fused(plan);
}

}  // namespace heptad
