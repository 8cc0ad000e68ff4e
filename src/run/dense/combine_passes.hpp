// Translates the additions of a level (linear programs, runs of schedule steps, changes of basis) into passes of a
// backend.
#pragma once

#include <map>
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

/// All sums of one operand from one read of its blocks.
CombinePass operand_pass(const LinearProgram& program, const OperandLayout& layout, const std::vector<View>& blocks,
                         const std::vector<View>& stored);
/// What each product multiplies: an input block or a stored sum.
std::vector<ScaledBlock> product_operands(const LinearProgram& program, const OperandLayout& layout,
                                          const std::vector<View>& blocks, const std::vector<View>& stored);

/// All blocks of C from one read of the products: c_l = beta * c_l + sums. A product may lie in a block of C (equal
/// views) when beta is zero; every value is read before it is overwritten.
CombinePass result_pass(const LinearProgram& program, const std::vector<View>& products, double beta,
                        const std::vector<View>& c_blocks);

/// The blocks a schedule names.
struct ScheduleBlocks {
    std::vector<View> a, b, c;
    std::vector<void*> temporaries;
    std::map<Symbol, View> moved;      // values that do not lie where their symbol did at first (square blocks)
    ConstView like_a, like_b, like_c;  // temporaries are laid out like the operand whose shape they hold
    bool padded = false;
    View view(const Symbol& symbol, Shape shape) const;
};
CombinePass schedule_pass(const Schedule& schedule, const CombineRun& run, const ScheduleBlocks& blocks);

/// (basis x ... x basis, `depth` times) applied to the blocks of `from`, into `to` (which may be the same view).
std::vector<CombinePass> basis_passes(const CoefficientMatrix& basis, const ConstView& from, const View& to,
                                      int grid_rows, int grid_cols, int depth);

}  // namespace heptad
