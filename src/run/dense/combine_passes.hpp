// Translates the additions of a level (linear programs, runs of schedule steps, changes of basis) into passes of a
// backend.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "algorithm/linear_program.hpp"
#include "kernels/backend.hpp"
#include "plan/search/level_layout.hpp"

namespace heptad {

/// A block times a number: how a product uses its operand.
struct ScaledBlock {
    ConstView view;
    double coefficient = 1;
};

/// Blocks with the powers of two that stand beside them; all of them, or none, have a list of those.
struct LinedBlocks {
    std::vector<View> views;
    std::vector<LineExponents> lines;
};

/// All sums of one operand from one read of its blocks.
CombinePass operand_pass(const LinearProgram& program, const OperandLayout& layout, const LinedBlocks& from,
                         const LinedBlocks& to);
/// What each product multiplies: an input block or a stored sum.
std::vector<ScaledBlock> product_operands(const LinearProgram& program, const OperandLayout& layout,
                                          const std::vector<View>& blocks, const std::vector<View>& stored);

/// All blocks of C from one read of the products: c_l = beta * c_l + sums. A product may lie in a block of C (equal
/// views) when beta is zero; every value is read before it is overwritten.
CombinePass result_pass(const LinearProgram& program, const LinedBlocks& from, double beta, const LinedBlocks& to);

/// Which block along k the operands of each product are scaled like, where one of them is a block as it lies there, and
/// which the stored sums are: -1 where it is none. Nothing, if some product or sum would have to be like two of them.
struct InnerBlocks {
    std::vector<int> of_products, of_sums_a, of_sums_b;
};
std::optional<InnerBlocks> inner_blocks(const LinearProgram& a, const OperandLayout& a_layout, int a_across,
                                        const LinearProgram& b, const OperandLayout& b_layout, int b_across);

/// The blocks a schedule names.
struct ScheduleBlocks {
    std::vector<View> a, b, c;
    std::vector<void*> temporaries;
    std::map<Symbol, View> moved;      // values that do not lie where their symbol did at first (square blocks)
    ConstView like_a, like_b, like_c;  // temporaries are laid out like the operand whose shape they hold
    bool padded = false;
    /// Where powers of two are taken out: those beside every symbol as it is now; none beside one that is missing.
    bool lined = false;
    std::map<Symbol, LineExponents> lines;
    View view(const Symbol& symbol, Shape shape) const;
    LineExponents lines_of(const Symbol& symbol) const;
};
/// What it writes has no powers beside it then.
CombinePass schedule_pass(const Schedule& schedule, const CombineRun& run, ScheduleBlocks& blocks);

/// (basis x ... x basis, `depth` times) applied to the blocks of `from`, into `to` (which may be the same view).
std::vector<CombinePass> basis_passes(const CoefficientMatrix& basis, const ConstView& from, const View& to,
                                      int grid_rows, int grid_cols, int depth);

}  // namespace heptad
