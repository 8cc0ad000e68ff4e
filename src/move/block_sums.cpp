#include "move/block_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/scalars.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {
namespace {

/// A vector of elements: to = c * from, or added to what is there. Integers wrap around, as they should.
template <class Element>
void add_elements(Element coefficient, const Element* from, Element* to, std::int64_t count, bool adds) {
    if (adds) {
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] += coefficient * from[i];
        }
    } else {
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] = coefficient * from[i];
        }
    }
}

void add_line(Type type, double coefficient, const std::byte* from, std::byte* to, std::int64_t count, bool adds) {
    switch (type) {
        case Type::f64:
            return add_elements(coefficient, reinterpret_cast<const double*>(from), reinterpret_cast<double*>(to),
                                count, adds);
        case Type::f32:
        case Type::tf32:
            return add_elements(static_cast<float>(coefficient), reinterpret_cast<const float*>(from),
                                reinterpret_cast<float*>(to), count, adds);
        case Type::i32:
            return add_elements(residue_mod_2_32(coefficient), reinterpret_cast<const std::uint32_t*>(from),
                                reinterpret_cast<std::uint32_t*>(to), count, adds);
        case Type::i64:
            return add_elements(residue_mod_2_64(coefficient), reinterpret_cast<const std::uint64_t*>(from),
                                reinterpret_cast<std::uint64_t*>(to), count, adds);
        default:
            fail(ErrorCode::internal, "blocks of this type are not added while reading");
    }
}

/// The larger one; NaN is larger than anything.
double larger(double x, double y) {
    return std::isnan(x) || std::isnan(y) ? std::nan("") : std::max(x, y);
}

/// Do the pieces make up the whole window? Not where the block reaches beyond the edge of the matrix.
bool covers(const std::vector<FileWindow>& pieces, const FileLayout& file, const LineWindow& wanted) {
    std::int64_t lines = 0, positions = 0;
    for (const FileWindow& piece : pieces) {
        const LineWindow part = line_window(file, piece);
        lines += part.lines;
        positions = part.positions;
    }
    return lines == wanted.lines && positions == wanted.positions;
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
    cpu::scale_lines(
        View{const_cast<void*>(read.data), read.type, read.rows, read.cols, read.row_stride, read.col_stride},
        lines_.of_block(piece.row, piece.col));
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
    const FileLayout& file = operand_.file;
    const LineWindow wanted = line_window(layout, window);
    const std::int64_t element = layout.element_bytes, line_bytes = layout.bytes_of(wanted.positions);
    const std::int64_t stride =
        wanted.whole_lines ? layout.pitch_bytes() : line_stride_bytes(layout, wanted.positions, line_bytes);
    bool filled = false;
    for (const auto& [block, coefficient] : operand_.sums[static_cast<std::size_t>(sum)]) {
        const std::vector<FileWindow> pieces = operand_.pieces(block, window);
        const std::int64_t first_line =
            wanted.line + (file.by_columns ? block.col * operand_.block_cols : block.row * operand_.block_rows);
        if (!filled && !covers(pieces, file, wanted)) {
            for (std::int64_t line = 0; line < wanted.lines; ++line) {
                std::memset(memory + line * stride, 0, static_cast<std::size_t>(line_bytes));
            }
            filled = true;
        }
        for (const FileWindow& piece : pieces) {
            const LineWindow lines = line_window(file, piece);
            const ConstView read = read_piece(queue, piece);
            const std::int64_t read_stride = element * (file.by_columns ? read.col_stride : read.row_stride);
            const auto* const from = static_cast<const std::byte*>(read.data);
            std::byte* const to = memory + (lines.line - first_line) * stride;
            for (std::int64_t line = 0; line < lines.lines; ++line) {
                add_line(file_.type(), coefficient, from + line * read_stride, to + line * stride, lines.positions,
                         filled);
            }
        }
        filled = true;
    }
    return layout.by_columns ? ConstView(memory, file_.type(), window.rows, window.cols, 1, stride / element)
                             : ConstView(memory, file_.type(), window.rows, window.cols, stride / element, 1);
}

void BlockSums::note_largest(double value) {
    largest_ = larger(largest_, value);
}

}  // namespace heptad
