#include "io/turned_bits.hpp"

#include <algorithm>

#include "base/bit_bytes.hpp"
#include "base/size.hpp"

namespace heptad {

ConstView TurnedBits::read(const MatrixFile& file, IoQueue& queue, const FileLayout& layout, const FileWindow& window,
                           BitOrder order, std::byte* memory) {
    FileLayout as_stored = transposed(layout);
    as_stored.block_bytes = 1;
    const std::int64_t at_once = band_.bytes() / turned_row_bytes(layout) / kRowsTurned * kRowsTurned;
    const std::int64_t stride = round_up(as_stored.bytes_of(window.cols), 64);
    const View bytes(memory, file.type(), window.rows, as_stored.bytes_of(window.cols), stride, 1);
    for (std::int64_t i = 0; window.cols % 8 != 0 && i < window.rows; ++i) {
        // Bits beyond the last column would be those of an earlier window, and the same window not the same bytes.
        *element_pointer(bytes, i, bytes.cols - 1) = std::byte{0};
    }
    const BitView whole = bits_of_bytes(bytes, window.cols);
    for (std::int64_t first = 0; first < window.cols; first += at_once) {
        const std::int64_t count = std::min(at_once, window.cols - first);
        const ConstView band =
            file.read(queue, as_stored, {window.col + first, count, window.row, window.rows}, band_.data());
        reverse_rows_of_bytes(band, band_.data());
        const BitView part{whole.words + first / kRowsTurned, window.rows, count, whole.stride, 0};
        bits::transpose(bits_of_bytes(band, window.rows), part);
    }
    if (order == BitOrder::highest_first) {
        reverse_rows_of_bytes(bytes, memory);
    }
    return bytes;
}

}  // namespace heptad
