// Plans by residues on a backend that runs behind the caller.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "algorithm/level_terms.hpp"
#include "base/complex_as_real.hpp"
#include "base/size.hpp"
#include "kernels/backend.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "run/dense/arena.hpp"
#include "run/dense/level_runner.hpp"
#include "run/residue/exact_operands.hpp"
#include "run/residue/residue_runner.hpp"

namespace heptad {
namespace {

/// Of the matrix that is multiplied from the left, of the other, and of their product.
struct ProductPlaneSums {
    PlaneSums left, right, result;
};

/// The sums of levels inside residues, as passes over planes take them. Planes of both operands have lines along k.
/// `by_columns`: C is made as its transpose, so B is on the left.
ProductPlaneSums plane_sums(const LevelTerms& levels, bool by_columns) {
    const auto& [m, k, n] = levels.grid;
    const auto transposed = [](int block, int rows, int cols) { return block % cols * rows + block / cols; };
    PlaneSums a{false, m, k, {}}, b{false, n, k, {}}, c{true, by_columns ? n : m, by_columns ? m : n, {}};
    c.outputs.resize(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    for (const BlockProduct& product : levels.products) {
        const auto number = static_cast<int>(a.outputs.size());
        std::vector<PlaneSums::Term>&of_a = a.outputs.emplace_back(), &of_b = b.outputs.emplace_back();
        for (const BlockTerm& term : product.left) {
            of_a.push_back({term.block, static_cast<int>(term.coefficient)});
        }
        for (const BlockTerm& term : product.right) {
            of_b.push_back({transposed(term.block, k, n), static_cast<int>(term.coefficient)});
        }
        for (const BlockResult& term : product.result) {
            const int block = by_columns ? transposed(term.block, m, n) : term.block;
            c.outputs[static_cast<std::size_t>(block)].push_back({number, static_cast<int>(term.coefficient)});
        }
    }
    return by_columns ? ProductPlaneSums{std::move(b), std::move(a), std::move(c)}
                      : ProductPlaneSums{std::move(a), std::move(b), std::move(c)};
}

/// Any finite value is below them.
GuardLimits finite_limits() {
    constexpr double any = std::numeric_limits<double>::infinity();
    return {any, any, any, any, any};
}

/// A block of rows or columns, conjugated where the matrix is.
ConstView part_of_operand(const ConstView& v, std::int64_t row, std::int64_t col, std::int64_t rows,
                          std::int64_t cols) {
    ConstView part = block(v, row, col, rows, cols);
    part.conjugate = v.conjugate;
    return part;
}

/// The planes of a plan by residues, in memory for them.
class Planes {
public:
    explicit Planes(const ProductPlan& plan)
        : levels_(residue_levels(plan)),
          depth_(static_cast<int>(plan.levels.size())),
          parts_(residue_parts(plan.type)) {}

    /// Are sums of levels made in passes over planes?
    bool in_passes() const { return !levels_.in_kernels; }
    /// With levels.
    ResiduePlanes of_products(void* memory, const ResidueSide& lines, const ResidueSide& elements) const {
        const std::int64_t own_lines = lines.block_lines(), line_bytes = elements.block_bytes();
        return {memory,
                own_lines,
                line_bytes,
                own_lines * line_bytes,
                in_passes() ? 0 : depth_,
                parts_,
                in_passes() ? levels_.products : 1};
    }
    /// All blocks in one, without.
    ResiduePlanes whole(void* memory, const ResidueSide& lines, const ResidueSide& elements) const {
        const std::int64_t own_lines = lines.blocks * lines.block_lines(),
                           line_bytes = elements.blocks * elements.block_bytes();
        return {memory, own_lines, line_bytes, own_lines * line_bytes, 0, parts_};
    }
    const BlockGrid& blocks() const { return levels_.blocks; }

private:
    ResidueLevels levels_;
    int depth_, parts_;
};

/// A product on its way. Entries of C that lie side by side are made side by side: C by columns is its transpose by
/// rows.
class DeviceResidues {
public:
    DeviceResidues(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                   const RunHooks& hooks)
        : plan_(plan),
          backend_(backend),
          kernels_(*backend.residue_kernels()),
          product_(product),
          hooks_(hooks),
          by_columns_(product.c.row_stride == 1 && product.c.col_stride != 1),
          left_(by_columns_ ? turned(product.b) : product.a),
          right_(by_columns_ ? turned(product.a) : product.b),
          result_(by_columns_ ? transposed(product.c) : product.c),
          arena_(workspace, plan.workspace_bytes) {
        const DeviceResidueLayout layout = device_residue_layout(plan);
        backend.begin_product(arena_.take(layout.guard), layout.guard);
        notes_ = arena_.take(layout.notes);
    }

    RunReport run_rounded() {
        DeferredGuard& guard = *backend_.deferred_guard();
        const double least = is_certified(plan_) ? certified_evenness(plan_) : plan_.least_evenness;
        const ResidueKernels::Choice choice{plan_.arithmetic.moduli, most_moduli(plan_), least};
        GuardLimits limits = finite_limits();
        limits.least_evenness = limits.even_enough = choice.least_with_most();
        limits.may_scale = least > 0 && !is_certified(plan_);
        guard.start(limits, left_.rows, left_.cols, right_.cols);
        kernels_.measure(left_, right_, choice, notes_);
        make_tiles(plan_, true);
        guard.answer_if_unsafe(product_, {});
        guard.finish();
        return report();
    }

    RunReport run_exactly() {
        using Norms = ResidueKernels::Norms;
        std::optional<Norms> norms = Norms{};
        ProductPlan taken = plan_;
        int count = 0;
        if (product_.reads_operands()) {  // otherwise neither is looked at
            norms = kernels_.measure_exactly(left_, right_, notes_);
            const bool is_zero = norms && (norms->a == 0 || norms->b == 0);
            count = is_zero ? 0 : norms ? moduli_of(*norms) : plan_.arithmetic.moduli;
        }
        kernels_.take_moduli(count, norms);
        if (norms && count > 0) {  // fewer than there is memory for: larger tiles
            taken.arithmetic.moduli = count;
            fit_tiles(taken, plan_.workspace_bytes);
        }
        make_tiles(taken, count > 0);
        return report();
    }

private:
    int moduli_of(const ResidueKernels::Norms& norms) const {
        const auto& [left, right] = norms;
        return moduli_within(by_columns_ ? right : left, by_columns_ ? left : right, plan_.arithmetic.moduli);
    }

    RunReport report() const {
        finish_product(hooks_);
        return {.workspace_used_bytes = arena_.most_used_bytes()};
    }

    /// `multiplies`: there are residues to be multiplied.
    void make_tiles(const ProductPlan& plan, bool multiplies) {
        const DeviceResidueLayout layout = device_residue_layout(plan);
        const Planes planes(plan);
        const int row_blocks = by_columns_ ? planes.blocks().n : planes.blocks().m,
                  col_blocks = by_columns_ ? planes.blocks().m : planes.blocks().n;
        const ResidueSide along_k{left_.cols, planes.blocks().k};
        const ProductPlaneSums sums =
            planes.in_passes() ? plane_sums(residue_level_terms(plan.levels), by_columns_) : ProductPlaneSums{};
        const std::int64_t tile_rows = std::max<std::int64_t>(by_columns_ ? plan.tile_n : plan.tile_m, 1);
        const std::int64_t tile_cols = std::max<std::int64_t>(by_columns_ ? plan.tile_m : plan.tile_n, 1);
        void* const of_left = arena_.take(by_columns_ ? layout.b : layout.a);
        void* const of_right = arena_.take(by_columns_ ? layout.a : layout.b);
        void* const of_result = arena_.take(layout.c);
        void* const of_whole_result = arena_.take(layout.whole_c);
        const std::int64_t row_tiles = ceil_div(result_.rows, tile_rows), col_tiles = ceil_div(result_.cols, tile_cols);
        using Block = ResidueKernels::Block;
        const auto of_rows = [&](std::int64_t row) {
            const std::int64_t rows = std::min(tile_rows, result_.rows - row);
            return Block{0, part_of_operand(left_, row, 0, rows, left_.cols), row,
                         planes.of_products(of_left, {rows, row_blocks}, along_k)};
        };
        const auto of_cols = [&](std::int64_t col) {
            const std::int64_t cols = std::min(tile_cols, result_.cols - col);
            return Block{1, part_of_operand(right_, 0, col, right_.rows, cols), col,
                         planes.of_products(of_right, {cols, col_blocks}, along_k)};
        };
        const auto convert = [&](const std::vector<Block>& blocks) {
            if (!planes.in_passes()) {
                kernels_.convert(blocks);
                return;
            }
            for (Block one : blocks) {  // those of C are not there yet
                const ResiduePlanes products = one.to;
                const bool is_left = one.operand == 0;
                const ResidueSide lines{is_left ? one.block.rows : one.block.cols, is_left ? row_blocks : col_blocks};
                one.to = planes.whole(of_result, lines, along_k);
                kernels_.convert({&one, 1});
                kernels_.add_planes(is_left ? sums.left : sums.right, one.to, products);
            }
        };
        WorkMeter meter = dense_meter(hooks_, static_cast<double>(row_tiles * col_tiles));
        for (std::int64_t row = 0; row < result_.rows; row += tile_rows) {
            for (std::int64_t col = 0; col < result_.cols; col += tile_cols) {
                meter.stop_if_cancelled();
                const Block rows = of_rows(row), cols = of_cols(col);
                std::vector<Block> needed;
                if (col == 0) {
                    needed.push_back(rows);
                }
                if (row == 0 || col_tiles > 1) {
                    needed.push_back(cols);
                }
                if (!needed.empty() && multiplies) {
                    convert(needed);
                }
                const View tile = block(result_, row, col, rows.block.rows, cols.block.cols);
                const ResidueSide tile_lines{tile.rows, row_blocks}, tile_elements{tile.cols, col_blocks};
                ResiduePlanes of_tile = planes.of_products(of_result, tile_lines, tile_elements);
                if (multiplies) {
                    kernels_.multiply_planes(rows.to, cols.to, of_tile);
                }
                if (planes.in_passes()) {
                    const ResiduePlanes products = of_tile;
                    of_tile = planes.whole(of_whole_result, tile_lines, tile_elements);
                    if (multiplies) {
                        kernels_.add_planes(sums.result, products, of_tile);
                    }
                }
                kernels_.rebuild(of_tile, product_, tile, row, col);
                meter.advance(1);
            }
        }
    }

    const ProductPlan& plan_;
    Backend& backend_;
    ResidueKernels& kernels_;
    const Product& product_;
    const RunHooks& hooks_;
    const bool by_columns_;
    const ConstView left_, right_;
    const View result_;
    Arena arena_;
    void* notes_ = nullptr;
};

}  // namespace

RunReport run_residues_on_device(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                                 const RunHooks& hooks) {
    if (product.c.rows == 0 || product.c.cols == 0) {
        return {};
    }
    start_product(hooks);
    if (rounds_once(plan)) {
        Product scaled = product;
        scaled.alpha = product.reads_operands() ? product.alpha : 0;  // of no products it may be any
        return DeviceResidues(plan, backend, scaled, workspace, hooks).run_exactly();
    }
    if (!product.reads_operands() || !std::isfinite(product.alpha) || !std::isfinite(product.imaginary.alpha)) {
        backend.begin_product(workspace, 0);
        backend.multiply({&product, 1}, plan.fringe_leaf);
        finish_product(hooks);
        return {};
    }
    return DeviceResidues(plan, backend, product, workspace, hooks).run_rounded();
}

}  // namespace heptad
