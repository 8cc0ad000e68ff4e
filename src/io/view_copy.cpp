#include "io/view_copy.hpp"

#include <algorithm>
#include <cstring>

namespace heptad {
namespace {

constexpr std::int64_t kTile = 32;  // rows and columns turned around at a time

template <class Word>
void copy_words(const ConstView& from, const View& to) {
    const auto* const source = static_cast<const Word*>(from.data);
    auto* const target = static_cast<Word*>(to.data);
    for (std::int64_t i0 = 0; i0 < to.rows; i0 += kTile) {
        for (std::int64_t j0 = 0; j0 < to.cols; j0 += kTile) {
            for (std::int64_t i = i0; i < std::min(i0 + kTile, to.rows); ++i) {
                for (std::int64_t j = j0; j < std::min(j0 + kTile, to.cols); ++j) {
                    target[i * to.row_stride + j * to.col_stride] = source[i * from.row_stride + j * from.col_stride];
                }
            }
        }
    }
}

}  // namespace

void copy_view(const ConstView& from, const View& to) {
    const auto size = static_cast<std::int64_t>(element_bytes(to.type));
    const bool rows_alike = from.col_stride == 1 && to.col_stride == 1;
    const bool columns_alike = from.row_stride == 1 && to.row_stride == 1;
    if (rows_alike || columns_alike) {
        const std::int64_t lines = rows_alike ? to.rows : to.cols;
        const auto bytes = static_cast<std::size_t>((rows_alike ? to.cols : to.rows) * size);
        for (std::int64_t line = 0; line < lines; ++line) {
            std::memcpy(rows_alike ? element_pointer(to, line, 0) : element_pointer(to, 0, line),
                        rows_alike ? element_pointer(from, line, 0) : element_pointer(from, 0, line), bytes);
        }
        return;
    }
    switch (size) {
        case 8:
            return copy_words<std::uint64_t>(from, to);
        case 4:
            return copy_words<std::uint32_t>(from, to);
        case 2:
            return copy_words<std::uint16_t>(from, to);
        default:
            return copy_words<std::uint8_t>(from, to);
    }
}

}  // namespace heptad
