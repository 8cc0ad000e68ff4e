// Sums of blocks of a dense matrix in host memory, and updates of its blocks: what the stages of a product over devices
// do to A, B and C. Blocks at the edge may reach beyond the matrix, or lie outside it: there is zero, and nothing is
// written there.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/backend.hpp"
#include "plan/search/host_layer.hpp"
#include "plan/search/transfer_schedule.hpp"

namespace heptad {

/// A matrix cut into blocks of equal size, numbered row by row.
struct BlockCut {
    std::int64_t rows = 0, cols = 0;  // of a block
    int blocks_in_row = 1;

    std::int64_t first_row(int block) const { return block / blocks_in_row * rows; }
    std::int64_t first_col(int block) const { return block % blocks_in_row * cols; }
    /// As far as it lies inside a matrix of that size.
    MatrixWindow inside(int block, std::int64_t all_rows, std::int64_t all_cols) const {
        const std::int64_t row = first_row(block), col = first_col(block);
        return {row, std::clamp<std::int64_t>(all_rows - row, 0, rows), col,
                std::clamp<std::int64_t>(all_cols - col, 0, cols)};
    }
};
/// Where parts of a sum end, each once.
std::vector<std::int64_t> sorted_edges(std::vector<std::int64_t> edges);

/// A block as far as it lies inside its matrix: beyond that there is zero.
struct BlockPart {
    ConstView view;
    double coefficient = 1;
    LineExponents lines = {};
};
/// to = sum of coefficient * part; no part is larger than `to`.
void sum_parts(Backend& backend, std::span<const BlockPart> parts, const View& to);
/// target = beta * target + coefficient * (the corner of `from` that is as large). beta = 0: the target is not read.
/// `lines` stand beside the target, and are taken out of `from` only.
void update_part(Backend& backend, const View& target, double coefficient, double beta, const ConstView& from,
                 const LineExponents& lines = {});

struct PartUpdate {
    View target;
    double coefficient = 1, beta = 1;
};
/// The same for several that do not overlap; `from` is read once where they are equally large.
void update_parts(Backend& backend, std::span<const PartUpdate> updates, const ConstView& from);

/// to = sum of coefficient * block, where `to` has the size of a block; `lines` stand beside the matrix.
void sum_blocks(Backend& backend, const ConstView& matrix, const LineExponents& lines, const BlockCut& cut,
                std::span<const BlockTerm> terms, const View& to);

/// block = beta * block + coefficient * from. beta = 0: the block is not read.
void update_block(Backend& backend, const View& matrix, const LineExponents& lines, const BlockCut& cut,
                  int block_index, double coefficient, double beta, const ConstView& from);

}  // namespace heptad
