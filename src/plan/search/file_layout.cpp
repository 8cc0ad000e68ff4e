#include "plan/search/file_layout.hpp"

#include <numeric>
#include <utility>

#include "base/size.hpp"

namespace heptad {

FileLayout transposed(FileLayout layout) {
    std::swap(layout.rows, layout.cols);
    layout.by_columns = !layout.by_columns;
    return layout;
}

LineWindow line_window(const FileLayout& layout, const FileWindow& window) {
    LineWindow lines =
        layout.by_columns
            ? LineWindow{.line = window.col, .lines = window.cols, .position = window.row, .positions = window.rows}
            : LineWindow{.line = window.row, .lines = window.rows, .position = window.col, .positions = window.cols};
    constexpr std::int64_t kWord_bytes = 8;
    const bool lie_on_words = !layout.packed || layout.pitch_bytes() % kWord_bytes == 0;
    lines.whole_lines = lines.positions == layout.line_elements() && lie_on_words;
    return lines;
}

FileSpan widened_span(std::int64_t offset, std::int64_t count, std::int64_t block_bytes) {
    const std::int64_t begin = offset / block_bytes * block_bytes;
    return {begin, round_up(offset + count, block_bytes) - begin, offset - begin};
}

std::int64_t file_offset(const FileLayout& layout, std::int64_t line, std::int64_t position) {
    return layout.data_offset + line * layout.pitch_bytes() + layout.bytes_of(position);
}

std::int64_t moved_bytes(const FileLayout& layout, const FileWindow& window) {
    const LineWindow part = line_window(layout, window);
    if (part.lines == 0 || part.positions == 0) {
        return 0;
    }
    const std::int64_t block = layout.block_bytes;
    if (part.whole_lines) {
        return widened_span(file_offset(layout, part.line, 0), part.lines * layout.pitch_bytes(), block).bytes;
    }
    // Where lines begin within a block repeats after so many of them.
    const std::int64_t period = block / std::gcd(layout.pitch_bytes(), block);
    const auto sum_of = [&](std::int64_t count) {
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            sum +=
                widened_span(file_offset(layout, part.line + i, part.position), layout.bytes_of(part.positions), block)
                    .bytes;
        }
        return sum;
    };
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): block_bytes is at least 1, and so is the period
    return part.lines / period * sum_of(period) + sum_of(part.lines % period);
}

}  // namespace heptad
