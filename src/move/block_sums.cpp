#include "move/block_sums.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/types.hpp"
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

bool overlap(const FileWindow& x, const FileWindow& y) {
    return x.row < y.row + y.rows && y.row < x.row + x.rows && x.col < y.col + y.cols && y.col < x.col + x.cols;
}

ScanResult nothing_of(const FileLayout& file) {
    const auto rows = static_cast<std::size_t>(file.rows), cols = static_cast<std::size_t>(file.cols);
    return {0, std::vector<double>(rows), std::vector<double>(cols), std::vector<double>(rows),
            std::vector<double>(cols)};
}

/// What was seen of a window, put to what is known of all lines.
void note(ScanResult& known, const FileWindow& window, const ScanResult& here, bool count) {
    const auto merge = [](std::vector<double>& all, std::int64_t first, const std::vector<double>& some, auto&& f) {
        const auto to = all.begin() + first;
        std::transform(some.begin(), some.end(), to, to, f);
    };
    known.max_abs = larger(known.max_abs, here.max_abs);
    merge(known.rows, window.row, here.rows, larger);
    merge(known.cols, window.col, here.cols, larger);
    if (count) {
        merge(known.row_sums, window.row, here.row_sums, std::plus());
        merge(known.col_sums, window.col, here.col_sums, std::plus());
    }
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
      plain_(nothing_of(operand_.file)),
      scaled_(nothing_of(operand_.file)) {}

ConstView BlockSums::read_piece(IoQueue& queue, const FileWindow& piece) {
    const ConstView read = file_.read(queue, operand_.file, piece, bounce_.data());
    if (unit_roundoff(file_.type()) == 0) {
        return read;
    }
    const bool is_new =
        std::none_of(counted_.begin(), counted_.end(), [&](const FileWindow& x) { return overlap(x, piece); });
    if (is_new) {
        counted_.push_back(piece);
    }
    if (lines_ != LineExponents{}) {
        note(plain_, piece, cpu::scan_view(read), is_new);
        cpu::scale_lines(as_view(read), lines_.of_block(piece.row, piece.col));
    }
    const ScanResult scan = cpu::scan_view(read);
    note(scaled_, piece, scan, is_new);
    note_largest(scan.max_abs);
    return read;
}

ScanResult BlockSums::scan() const {
    ScanResult scan = scaled_;
    scan.max_abs = largest_;
    std::vector<std::int64_t> missing_of_rows(scan.rows.size(), operand_.file.cols);
    std::vector<std::int64_t> missing_of_cols(scan.cols.size(), operand_.file.rows);
    for (const FileWindow& window : counted_) {
        std::for_each_n(missing_of_rows.begin() + window.row, window.rows, [&](auto& x) { x -= window.cols; });
        std::for_each_n(missing_of_cols.begin() + window.col, window.cols, [&](auto& x) { x -= window.rows; });
    }
    const auto fill = [&](std::vector<double>& sums, const std::vector<std::int64_t>& missing) {
        std::transform(sums.begin(), sums.end(), missing.begin(), sums.begin(), [&](double sum, std::int64_t x) {
            return x == 0 ? sum : sum + static_cast<double>(x) * scan.max_abs;
        });
    };
    fill(scan.row_sums, missing_of_rows);
    fill(scan.col_sums, missing_of_cols);
    return scan;
}

void BlockSums::read_all(IoQueue& queue) {
    plain_ = scaled_ = nothing_of(operand_.file);
    counted_.clear();
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
