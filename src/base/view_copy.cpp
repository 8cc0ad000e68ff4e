#include "base/view_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace heptad {
namespace {

/// Where one view is row by row and the other column by column: in squares that stay in L1.
template <class Word>
void copy_squares(const ConstView& from, const View& to) {
    constexpr std::int64_t side = 32;
    const auto* source = static_cast<const Word*>(from.data);
    auto* target = static_cast<Word*>(to.data);
    for (std::int64_t row = 0; row < from.rows; row += side) {
        const std::int64_t row_end = std::min(row + side, from.rows);
        for (std::int64_t col = 0; col < from.cols; col += side) {
            const std::int64_t col_end = std::min(col + side, from.cols);
            for (std::int64_t i = row; i < row_end; ++i) {
                for (std::int64_t j = col; j < col_end; ++j) {
                    target[i * to.row_stride + j * to.col_stride] = source[i * from.row_stride + j * from.col_stride];
                }
            }
        }
    }
}

}  // namespace

void copy_view(const ConstView& from, const View& to) {
    if (from.rows == 0 || from.cols == 0) {
        return;
    }
    if (!(is_row_contiguous(from) && is_row_contiguous(to)) && is_column_contiguous(from) && is_column_contiguous(to)) {
        return copy_view(transposed(from), transposed(to));
    }
    const std::size_t bytes = element_bytes(from.type);
    if (is_row_contiguous(from) && is_row_contiguous(to)) {
        const bool gapless = from.row_stride == from.cols && to.row_stride == to.cols;
        const std::int64_t runs = gapless ? 1 : from.rows;
        const std::size_t run_bytes = static_cast<std::size_t>(from.rows * from.cols / runs) * bytes;
        for (std::int64_t i = 0; i < runs; ++i) {
            std::memcpy(element_pointer(to, i, 0), element_pointer(from, i, 0), run_bytes);
        }
        return;
    }
    switch (bytes) {
        case 1:
            return copy_squares<std::uint8_t>(from, to);
        case 2:
            return copy_squares<std::uint16_t>(from, to);
        case 4:
            return copy_squares<std::uint32_t>(from, to);
        case 8:
            return copy_squares<std::uint64_t>(from, to);
        default:
            return copy_squares<std::array<std::uint64_t, 2>>(from, to);
    }
}

}  // namespace heptad
