// Products of matrices whose rows and columns are scaled by powers of two, and which plans can take such.
#pragma once

#include <vector>

#include "kernels/backend.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

/// A product of matrices with powers of two beside them (kernels/backend.hpp). Those along k cancel: a's columns and
/// b's rows have both none, or have the same of opposite sign; c's are those of a's rows and of b's columns. So the
/// product of what lies in memory is what belongs there, and only sums have to heed them.
struct LinedProduct {
    Product product;
    LineExponents a = {}, b = {}, c = {};
    bool lined() const { return a != LineExponents{} || b != LineExponents{}; }
};

/// Can levels of this plan take powers of two out of A and B? Not where sums are made inside of products, or are kept
/// in another type, nor by schedules that multiply blocks of A and B of different places along k.
bool can_scale(const ProductPlan& plan, double beta);

/// The powers beside the blocks of a matrix, row by row; `one` is any of the blocks.
std::vector<LineExponents> lines_of_blocks(const LineExponents& lines, const View& one, int grid_rows, int grid_cols);

}  // namespace heptad
