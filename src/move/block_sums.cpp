#include "move/block_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/cpu/cpu_kernels.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {
namespace {

/// The larger one; NaN is larger than anything.
double larger(double x, double y) {
    return std::isnan(x) || std::isnan(y) ? std::nan("") : std::max(x, y);
}

/// Do the pieces make up the whole window? Not where the block reaches beyond the edge of the matrix.
bool covers(const std::vector<FileWindow>& pieces, const FileWindow& window) {
    std::int64_t elements = 0;
    for (const FileWindow& piece : pieces) {
        elements += piece.rows * piece.cols;
    }
    return elements == window.rows * window.cols;
}

/// For passes that write to none of its elements, and powers of two in a buffer of our own.
View as_view(const ConstView& view) {
    return {const_cast<void*>(view.data), view.type, view.rows, view.cols, view.row_stride, view.col_stride};
}

}  // namespace

BlockSums::BlockSums(const MatrixFile& file, BlockedOperand operand, const PageBuffer& bounce)
    : file_(file),
      operand_(std::move(operand)),
      bounce_(bounce),
      row_max_(static_cast<std::size_t>(operand_.file.rows)),
      col_max_(static_cast<std::size_t>(operand_.file.cols)) {}

ConstView BlockSums::read_piece(IoQueue& queue, const FileWindow& piece) {
    const ConstView read = file_.read(queue, operand_.file, piece, bounce_.data());
    cpu::scale_lines(as_view(read), lines_.of_block(piece.row, piece.col));
    const ScanResult scan = cpu::scan_view(read);
    const auto raise = [](std::vector<double>& known, std::int64_t first, const std::vector<double>& values) {
        auto to = known.begin() + first;
        for (const double value : values) {
            *to = larger(*to, value);
            ++to;
        }
    };
    raise(row_max_, piece.row, scan.rows);
    raise(col_max_, piece.col, scan.cols);
    note_largest(scan.max_abs);
    return read;
}

ScanResult BlockSums::scan() const {
    return {largest_, row_max_, col_max_};
}

void BlockSums::read_all(IoQueue& queue) {
    for (std::int64_t row = 0; row * operand_.block_rows < operand_.file.rows; ++row) {
        for (std::int64_t col = 0; col * operand_.block_cols < operand_.file.cols; ++col) {
            for (const FileWindow& piece :
                 operand_.pieces({row, col}, {0, operand_.block_rows, 0, operand_.block_cols})) {
                read_piece(queue, piece);
            }
        }
    }
}

ConstView BlockSums::read(IoQueue& queue, std::int64_t sum, const FileLayout& layout, const FileWindow& window,
                          std::byte* memory) {
    const LineWindow wanted = line_window(layout, window);
    const std::int64_t stride =
        (wanted.whole_lines ? layout.pitch_bytes()
                            : line_stride_bytes(layout, wanted.positions, layout.bytes_of(wanted.positions))) /
        layout.element_bytes;
    const View whole = layout.by_columns ? View(memory, file_.type(), window.rows, window.cols, 1, stride)
                                         : View(memory, file_.type(), window.rows, window.cols, stride, 1);
    bool filled = false;
    for (const auto& [place, coefficient] : operand_.sums[static_cast<std::size_t>(sum)]) {
        const std::vector<FileWindow> pieces = operand_.pieces(place, window);
        if (!filled && !covers(pieces, window)) {
            cpu::scale_view(0, whole);
            filled = true;
        }
        const std::int64_t first_row = window.row + place.row * operand_.block_rows;
        const std::int64_t first_col = window.col + place.col * operand_.block_cols;
        for (const FileWindow& piece : pieces) {
            CombinePass pass{{block(whole, piece.row - first_row, piece.col - first_col, piece.rows, piece.cols),
                              as_view(read_piece(queue, piece))},
                             {{0, {{1, coefficient}}}}};
            if (filled) {
                pass.statements[0].terms.push_back({0, 1});
            }
            cpu::combine(pass);
        }
        filled = true;
    }
    return whole;
}

void BlockSums::note_largest(double value) {
    largest_ = larger(largest_, value);
}

}  // namespace heptad
