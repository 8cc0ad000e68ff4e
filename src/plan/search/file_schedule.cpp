#include "plan/search/file_schedule.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/size.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kCacheLine_bytes = 64;
constexpr std::int64_t kLeastDirectSpan_bytes = 4096;  // shorter ones are better left to the system's cache
constexpr std::int64_t kLeastPiece = 512;              // rows; fewer make poor products
constexpr std::int64_t kMostPieces = 4;
constexpr std::int64_t kStripBuffers = 2;
constexpr std::int64_t kUsualBand_bytes = std::int64_t{4} << 20;  // longer reads are hardly faster
constexpr std::int64_t kBandsInMemory = 64;                       // nor is it to take more of the memory than that

FileLayout with_block(FileLayout layout, std::int64_t block_bytes) {
    layout.block_bytes = block_bytes;
    return layout;
}

/// Bytes a buffer for windows of rows x cols takes, wherever in the file they are.
std::int64_t window_buffer_bytes(const FileLayout& layout, std::int64_t rows, std::int64_t cols) {
    if (is_turned(layout)) {  // bits lie by rows in memory
        return checked_mul(rows, round_up(layout.bytes_of(cols), kCacheLine_bytes));
    }
    const LineWindow part = line_window(layout, {0, rows, 0, cols});
    if (part.whole_lines) {
        return round_up(part.lines * layout.pitch_bytes() + layout.block_bytes, layout.block_bytes);
    }
    const bool cut_on_blocks = layout.pitch_bytes() % layout.block_bytes == 0;
    const std::int64_t block = cut_on_blocks ? layout.block_bytes : 1;
    // A first window that begins inside a block is shorter by as much; see first_depth.
    return part.lines * line_stride_bytes(with_block(layout, block), part.positions,
                                          round_up(layout.bytes_of(part.positions), block));
}

}  // namespace

std::int64_t turned_row_bytes(const FileLayout& layout) {
    return round_up(layout.pitch_bytes(), kCacheLine_bytes);
}

std::int64_t turning_bytes(std::int64_t memory_bytes, const FileLayout& a, const FileLayout& b) {
    std::int64_t longest_row = 0;
    for (const FileLayout* layout : {&a, &b}) {
        longest_row = std::max(longest_row, is_turned(*layout) ? turned_row_bytes(*layout) : 0);
    }
    const std::int64_t usual = std::min(kUsualBand_bytes, memory_bytes / kBandsInMemory);
    return longest_row == 0 ? 0 : std::max(kRowsTurned * longest_row, usual);
}

std::int64_t line_stride_bytes(const FileLayout& layout, std::int64_t positions, std::int64_t widest_bytes) {
    if (layout.block_bytes > 1) {
        return round_up(widest_bytes, layout.block_bytes);
    }
    return round_up(layout.bytes_of(positions), kCacheLine_bytes);
}

FileSchedule::FileSchedule(const FileProblem& problem, const DiskCut& cut, const Repeats& repeats)
    : cut_(cut), product_(problem), repeats_(repeats) {
    product_.a.block_bytes = cut.a_block;
    product_.b.block_bytes = cut.b_block;
    product_.c.block_bytes = cut.c_block;
    product_ = oriented(product_, cut.mirrored);
}

std::int64_t FileSchedule::tiles_down() const {
    return ceil_div(product_.m, cut_.tile_m);
}

std::int64_t FileSchedule::tiles_across() const {
    return ceil_div(product_.n, cut_.tile_n);
}

std::int64_t FileSchedule::panels() const {
    return cut_.first_depth >= product_.k ? 1 : 1 + ceil_div(product_.k - cut_.first_depth, cut_.depth);
}

FileSchedule::Range FileSchedule::panel_range(std::int64_t panel) const {
    const std::int64_t first = panel == 0 ? 0 : cut_.first_depth + (panel - 1) * cut_.depth;
    const std::int64_t depth = panel == 0 ? cut_.first_depth : cut_.depth;
    return {first, std::min(depth, product_.k - first)};
}

FileLayout FileSchedule::result_of(std::int64_t tile) const {
    FileLayout layout = result();
    layout.data_offset += repeat_of(tile) * repeats_.result_bytes;
    return layout;
}

FileWindow FileSchedule::tile_window(std::int64_t tile) const {
    const std::int64_t within = tile % tiles_of_one();
    const std::int64_t row = within / tiles_across() * cut_.tile_m, col = within % tiles_across() * cut_.tile_n;
    return {row, std::min(cut_.tile_m, product_.m - row), col, std::min(cut_.tile_n, product_.n - col)};
}

std::int64_t FileSchedule::strips(std::int64_t tile) const {
    return ceil_div(tile_window(tile).rows, cut_.strip_m);
}

FileSchedule::Range FileSchedule::strip_range(std::int64_t tile, std::int64_t strip) const {
    const FileWindow window = tile_window(tile);
    const std::int64_t first = strip * cut_.strip_m;
    return {window.row + first, std::min(cut_.strip_m, window.rows - first)};
}

FileWindow FileSchedule::left_window(std::int64_t tile, std::int64_t panel, std::int64_t strip) const {
    const Range rows = strip_range(tile, strip), cols = panel_range(panel);
    return {rows.first, rows.size, cols.first, cols.size};
}

FileWindow FileSchedule::right_window(std::int64_t tile, std::int64_t panel) const {
    const FileWindow window = tile_window(tile);
    const Range rows = panel_range(panel);
    return {rows.first, rows.size, window.col, window.cols};
}

FileWindow FileSchedule::result_window(std::int64_t tile, std::int64_t strip) const {
    const FileWindow window = tile_window(tile);
    const Range rows = strip_range(tile, strip);
    return {rows.first, rows.size, window.col, window.cols};
}

std::int64_t FileSchedule::most_strips() const {
    return ceil_div(cut_.tile_m, cut_.strip_m);
}

std::int64_t FileSchedule::left_number(std::int64_t tile, std::int64_t panel, std::int64_t strip) const {
    return (tile / tiles_across() * panels() + panel) * most_strips() + strip;
}

std::int64_t FileSchedule::right_number(std::int64_t tile, std::int64_t panel) const {
    return (repeat_of(tile) * tiles_across() + tile % tiles_across()) * panels() + panel;
}

std::int64_t FileSchedule::result_number(std::int64_t tile, std::int64_t strip) const {
    return tile * most_strips() + strip;
}

std::vector<FileWindow> FileSchedule::result_pieces(std::int64_t tile, std::int64_t strip) const {
    const FileWindow whole = result_window(tile, strip);
    if (tile + 1 < tiles() || strip + 1 < strips(tile)) {
        return {whole};
    }
    const std::int64_t unit =
        result().by_columns ? std::max<std::int64_t>(result().elements_of(result().block_bytes), 1) : 1;
    std::vector<FileWindow> pieces;
    std::int64_t done = 0;
    while (whole.rows - done >= 2 * kLeastPiece && std::ssize(pieces) + 1 < kMostPieces) {
        const std::int64_t rows = round_up((whole.rows - done) / 2, unit);
        if (rows >= whole.rows - done) {
            break;
        }
        pieces.push_back({whole.row + done, rows, whole.col, whole.cols});
        done += rows;
    }
    pieces.push_back({whole.row + done, whole.rows - done, whole.col, whole.cols});
    return pieces;
}

FileTraffic FileSchedule::traffic() const {
    std::int64_t left_bytes = 0, right_bytes = 0, written = 0;
    const std::int64_t across = tiles_across(), panel_count = panels();
    for (std::int64_t tile = 0; tile < tiles(); ++tile) {
        const bool first_row = tile < across, first_col = tile % across == 0;
        for (std::int64_t strip = 0; strip < strips(tile); ++strip) {
            for (const FileWindow& piece : result_pieces(tile, strip)) {
                written += heptad::moved_bytes(result(), piece);
            }
            for (std::int64_t panel = 0; first_col && panel < panel_count; ++panel) {
                left_bytes += heptad::moved_bytes(left(), left_window(tile, panel, strip));
            }
        }
        for (std::int64_t panel = 0; first_row && panel < panel_count; ++panel) {
            right_bytes += heptad::moved_bytes(right(), right_window(tile, panel));
        }
    }
    left_bytes *= keeps_left() ? 1 : across;
    right_bytes *= tiles_down();
    FileTraffic traffic{.read_a_bytes = left_bytes,
                        .read_b_bytes = right_bytes,
                        .read_c0_bytes = adds() ? result().total_bytes() : 0,
                        .written_bytes = written};
    if (cut_.mirrored) {
        std::swap(traffic.read_a_bytes, traffic.read_b_bytes);
    }
    return traffic;
}

bool FileSchedule::may_read_directly(const FileLayout& layout, bool is_right) const {
    if (layout.block_bytes <= 1 || layout.data_offset % layout.element_bytes != 0) {
        return false;
    }
    const std::int64_t rows = is_right ? cut_.depth : cut_.strip_m, cols = is_right ? cut_.tile_n : cut_.depth;
    if (line_window(layout, {0, rows, 0, cols}).whole_lines) {
        return true;
    }
    // Otherwise all lines begin alike in a block, and every window begins on one but those at the start of a line.
    const std::int64_t cut =
        layout.by_columns ? (is_right ? cut_.first_depth : cut_.strip_m) : (is_right ? cut_.tile_n : cut_.first_depth);
    const std::int64_t step =
        layout.by_columns ? (is_right ? cut_.depth : cut_.strip_m) : (is_right ? cut_.tile_n : cut_.depth);
    return layout.pitch_bytes() % layout.block_bytes == 0 && layout.bytes_of(step) >= kLeastDirectSpan_bytes &&
           (layout.data_offset + layout.bytes_of(cut)) % layout.block_bytes == 0 &&
           layout.bytes_of(step) % layout.block_bytes == 0;
}

bool FileSchedule::may_write_directly() const {
    const std::int64_t block = result().block_bytes;
    if (block <= 1 || result().data_offset % block != 0 || result().pitch_bytes() % block != 0) {
        return false;
    }
    const std::int64_t cut = result().bytes_of(result().by_columns ? cut_.strip_m : cut_.tile_n);
    const std::int64_t tile = result().bytes_of(result().by_columns ? cut_.tile_m : cut_.tile_n);
    return (cut % block == 0 || cut == result().pitch_bytes()) && (tile % block == 0 || tile == result().pitch_bytes());
}

std::vector<FileStep> FileSchedule::steps(const std::vector<std::int64_t>& tiles) const {
    std::vector<FileStep> all;
    const std::int64_t tile_slots = keeps_left() ? 2 : 1, panel_count = panels(), across = tiles_across();
    std::vector<std::int64_t> strips_before{0};  // by position in `tiles`
    std::vector<std::int64_t> panel_begins;      // first step of every panel so far
    std::vector<std::int64_t> left_free_at;      // kept left strips: steps after which the slot may be filled anew
    std::int64_t kept_row = -1;
    for (std::size_t position = 0; position < tiles.size(); ++position) {
        const std::int64_t tile = tiles[position], strip_count = strips(tile);
        const bool new_row = tile / across != kept_row;
        kept_row = tile / across;
        if (new_row) {
            left_free_at.resize(static_cast<std::size_t>(std::max<std::int64_t>(
                                    strip_count, static_cast<std::int64_t>(left_free_at.size()))),
                                0);
        }
        for (std::int64_t panel = 0; panel < panel_count; ++panel) {
            panel_begins.push_back(static_cast<std::int64_t>(all.size()));
            for (std::int64_t strip = 0; strip < strip_count; ++strip) {
                const auto number = static_cast<std::int64_t>(all.size());
                FileStep step{.tile = tile,
                              .panel = panel,
                              .strip = strip,
                              .first_of_tile = panel == 0 && strip == 0,
                              .last_of_tile = panel + 1 == panel_count && strip + 1 == strip_count};
                step.loads_right = strip == 0;
                step.right_slot = static_cast<std::int64_t>(panel_begins.size() - 1) % cut_.panel_buffers;
                step.tile_slot = static_cast<std::int64_t>(position) % tile_slots;
                if (keeps_left()) {
                    step.loads_left = new_row;
                    step.left_slot = strip;
                    step.load_left_after = new_row ? left_free_at[static_cast<std::size_t>(strip)] : 0;
                    left_free_at[static_cast<std::size_t>(strip)] = number + 1;
                } else {
                    step.loads_left = true;
                    step.left_slot = number % kStripBuffers;
                    step.load_left_after = std::max<std::int64_t>(number - kStripBuffers + 1, 0);
                }
                const auto buffers = static_cast<std::size_t>(cut_.panel_buffers);
                if (step.loads_right &&
                    panel_begins.size() >= buffers) {  // what its buffer held is not needed any more
                    step.load_right_after = panel_begins[panel_begins.size() - buffers];
                }
                if (static_cast<std::int64_t>(position) >= tile_slots) {
                    const std::size_t before = position - static_cast<std::size_t>(tile_slots);
                    // The last row of tiles may have fewer strips. All of the tile before must be gone where the
                    // strips do not correspond.
                    const bool alike = strips(tiles[before]) == strip_count;
                    step.fill_after_written = alike ? strips_before[before] + strip + 1 : strips_before[before + 1];
                }
                all.push_back(step);
            }
        }
        strips_before.push_back(strips_before.back() + strip_count);
    }
    return all;
}

FileBuffers file_buffers(const FileProblem& problem, const DiskCut& cut) {
    const FileSchedule schedule(problem, cut);
    const bool keeps_left = cut.kept != Kept::c;
    FileBuffers buffers{.tiles = keeps_left ? 2 : 1,
                        .tile_bytes = window_buffer_bytes(schedule.result(), cut.tile_m, cut.tile_n),
                        .panel_bytes = window_buffer_bytes(schedule.right(), cut.depth, cut.tile_n)};
    buffers.panels = cut.panel_buffers;
    buffers.strips = keeps_left ? ceil_div(cut.tile_m, cut.strip_m) : kStripBuffers;
    buffers.strip_bytes = window_buffer_bytes(schedule.left(), cut.strip_m, cut.depth);
    buffers.turning_bytes = turning_bytes(cut.memory_bytes, problem.a, problem.b);
    return buffers;
}

}  // namespace heptad
