#include "run/residue/device_residues.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/device_layout.hpp"
#include "base/size.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "run/dense/arena.hpp"
#include "run/dense/level_runner.hpp"

namespace heptad {
namespace {

/// Any finite value is below them.
GuardLimits finite_limits() {
    constexpr double any = std::numeric_limits<double>::infinity();
    return {any, any, any, any, any};
}

ResiduePlanes planes_in(void* memory, std::int64_t lines, std::int64_t elements, int levels) {
    const std::int64_t own_lines = residue_block_lines(lines, levels),
                       line_bytes = residue_block_bytes(elements, levels);
    return {memory, own_lines, line_bytes, own_lines * line_bytes, levels};
}

}  // namespace

RunReport run_residues_on_device(const ProductPlan& plan, Backend& backend, double alpha, const ConstView& a,
                                 const ConstView& b, double beta, const View& c, void* workspace,
                                 const RunHooks& hooks) {
    RunReport report;
    if (c.rows == 0 || c.cols == 0) {
        return report;
    }
    start_product(hooks);
    const Product product{alpha, a, b, beta, c};
    if (alpha == 0 || a.cols == 0 || !std::isfinite(alpha)) {
        backend.begin_product(workspace, 0);
        backend.multiply({&product, 1}, plan.fringe_leaf);
        finish_product(hooks);
        return report;
    }
    // Entries of C that lie side by side are made side by side: C by columns is its transpose by rows.
    ConstView left = a, right = b;
    View result = c;
    std::int64_t tile_rows = plan.tile_m, tile_cols = plan.tile_n;
    const bool by_columns = c.row_stride == 1 && c.col_stride != 1;
    if (by_columns) {
        left = transposed(b);
        right = transposed(a);
        result = transposed(c);
        std::swap(tile_rows, tile_cols);
    }
    const auto levels = static_cast<int>(plan.levels.size());
    const DeviceResidueLayout layout = device_residue_layout(plan);
    Arena arena(workspace, plan.workspace_bytes);
    backend.begin_product(arena.take(layout.guard), layout.guard);
    void* const notes = arena.take(layout.notes);
    void* const of_left = arena.take(by_columns ? layout.b : layout.a);
    void* const of_right = arena.take(by_columns ? layout.a : layout.b);
    void* const of_result = arena.take(layout.c);

    DeferredGuard& guard = *backend.deferred_guard();
    ResidueKernels& kernels = *backend.residue_kernels();
    const ResidueKernels::Choice choice{plan.arithmetic.moduli, most_moduli(plan), plan.least_evenness};
    GuardLimits limits = finite_limits();
    limits.least_evenness = limits.even_enough = choice.least_with_most();
    limits.may_scale = plan.least_evenness > 0;
    guard.start(limits, left.rows, left.cols, right.cols);
    kernels.measure(left, right, choice, notes);
    const std::int64_t row_tiles = ceil_div(result.rows, tile_rows), col_tiles = ceil_div(result.cols, tile_cols);
    using Block = ResidueKernels::Block;
    const auto of_rows = [&](std::int64_t row) {
        const std::int64_t rows = std::min(tile_rows, result.rows - row);
        return Block{0, block(left, row, 0, rows, left.cols), row, planes_in(of_left, rows, left.cols, levels)};
    };
    const auto of_cols = [&](std::int64_t col) {
        const std::int64_t cols = std::min(tile_cols, result.cols - col);
        return Block{1, block(right, 0, col, right.rows, cols), col, planes_in(of_right, cols, right.rows, levels)};
    };
    ProgressMeter meter(hooks, static_cast<double>(row_tiles * col_tiles));
    for (std::int64_t row = 0; row < result.rows; row += tile_rows) {
        for (std::int64_t col = 0; col < result.cols; col += tile_cols) {
            meter.check_cancelled();
            const Block rows = of_rows(row), cols = of_cols(col);
            std::vector<Block> needed;
            if (col == 0) {
                needed.push_back(rows);
            }
            if (row == 0 || col_tiles > 1) {
                needed.push_back(cols);
            }
            if (!needed.empty()) {
                kernels.convert(needed);
            }
            const View tile = block(result, row, col, rows.block.rows, cols.block.cols);
            const ResiduePlanes planes = planes_in(of_result, tile.rows, tile.cols, levels);
            kernels.multiply_planes(rows.to, cols.to, planes);
            kernels.rebuild(planes, alpha, beta, tile, row, col);
            meter.advance(1);
        }
    }
    guard.answer_if_unsafe(product);
    guard.finish();
    finish_product(hooks);
    report.workspace_used_bytes = arena.most_used_bytes();
    return report;
}

}  // namespace heptad
