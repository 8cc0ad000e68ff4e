#include "io/tile_checksum.hpp"

#include <algorithm>

#include "base/size.hpp"
#include "io/checksum.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kBounce_bytes = std::int64_t{1} << 20;

}  // namespace

std::uint64_t strip_checksum(const FileLayout& layout, const FileWindow& window, const std::byte* memory,
                             std::int64_t stride_bytes, std::uint64_t before) {
    const LineWindow part = line_window(layout, window);
    for (std::int64_t line = 0; line < part.lines; ++line) {
        before = checksum(memory + line * stride_bytes, layout.bytes_of(part.positions), before);
    }
    return before;
}

std::uint64_t read_tile_checksum(const FileSchedule& schedule, std::int64_t tile, const PartialFile& result,
                                 IoQueue& queue) {
    FileLayout layout = schedule.result_of(tile);
    layout.block_bytes = 1;
    PageBuffer memory(std::max(kBounce_bytes, round_up(layout.pitch_bytes(), 4096)));
    std::uint64_t sum = 0;
    const auto add = [&](const FileWindow& window) {
        const std::int64_t lines = layout.by_columns ? window.cols : window.rows;
        const std::int64_t line_bytes = layout.bytes_of(layout.by_columns ? window.rows : window.cols);
        const std::int64_t at_once = std::max<std::int64_t>(memory.bytes() / line_bytes, 1);
        for (std::int64_t line = 0; line < lines; line += at_once) {
            const std::int64_t count = std::min(at_once, lines - line);
            const FileWindow part = layout.by_columns ? FileWindow{window.row, window.rows, window.col + line, count}
                                                      : FileWindow{window.row + line, count, window.col, window.cols};
            result.read(queue, layout, part, memory.data(), line_bytes);
            sum = strip_checksum(layout, part, memory.data(), line_bytes, sum);
        }
    };
    for (std::int64_t strip = 0; strip < schedule.strips(tile); ++strip) {
        for (const FileWindow& piece : schedule.result_pieces(tile, strip)) {
            add(piece);
        }
    }
    return sum;
}

}  // namespace heptad
