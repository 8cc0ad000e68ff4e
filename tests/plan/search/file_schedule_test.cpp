// Do the steps of a product from files to a file cover it without ever using a buffer too early? No file is touched.
#include "plan/search/file_schedule.hpp"

#include <gtest/gtest.h>

#include <map>

#include "plan/search/file_plan.hpp"

namespace heptad {
namespace {

/// Does every span of the window begin and end on a block?
bool on_blocks(const FileLayout& layout, const FileWindow& window) {
    const LineWindow part = line_window(layout, window);
    const std::int64_t block = layout.block_bytes;
    const bool begins = file_offset(layout, part.line, part.position) % block == 0;
    if (part.whole_lines) {
        return begins && part.lines * layout.pitch_bytes() % block == 0;
    }
    return begins && layout.bytes_of(part.positions) % block == 0 &&
           (part.lines <= 1 || layout.pitch_bytes() % block == 0);
}

FileProblem small_problem() {
    return {
        17, 11, 19, Type::f32, false, 0, {17, 11, 4, false, 0, 1}, {11, 19, 4, false, 0, 1}, {17, 19, 4, false, 0, 1}};
}

/// That problem cut in every way, by hand.
std::vector<DiskCut> all_ways_to_cut() {
    std::vector<DiskCut> cuts;
    for (const Kept kept : {Kept::a, Kept::b, Kept::c}) {
        for (const std::int64_t tile : {5, 8, 19}) {
            for (const std::int64_t strip : {2, 3, 5}) {
                for (const std::int64_t depth : {3, 11}) {
                    DiskCut cut;
                    cut.kept = kept;
                    cut.mirrored = kept == Kept::b || (kept == Kept::c && tile == 8);
                    cut.tile_m = std::min<std::int64_t>(tile, 17);
                    cut.tile_n = std::min<std::int64_t>(tile, 17);
                    cut.strip_m = strip;
                    cut.panel_buffers = kept == Kept::c && strip == 3 ? 1 : 2;
                    cut.depth = kept == Kept::c ? depth : 11;
                    cut.first_depth = cut.depth == 11 ? 11 : depth - 1;
                    cuts.push_back(cut);
                }
            }
        }
    }
    return cuts;
}

std::string text_of(const DiskCut& cut) {
    ProductPlan plan;
    plan.disk = cut;
    return to_string(plan);
}

std::vector<std::int64_t> all_tiles(const FileSchedule& schedule) {
    std::vector<std::int64_t> tiles(static_cast<std::size_t>(schedule.tiles()));
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        tiles[i] = static_cast<std::int64_t>(i);
    }
    return tiles;
}

TEST(FileSchedule, steps_cover_every_element_of_c_with_every_part_of_k_once_and_in_order) {
    for (const DiskCut& cut : all_ways_to_cut()) {
        const FileSchedule schedule(small_problem(), cut);
        std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> summed;  // how far along k an element of C is
        for (const FileStep& step : schedule.steps(all_tiles(schedule))) {
            const FileWindow left = schedule.left_window(step.tile, step.panel, step.strip);
            const FileWindow right = schedule.right_window(step.tile, step.panel);
            const FileWindow result = schedule.result_window(step.tile, step.strip);
            ASSERT_EQ(left.cols, right.rows);
            ASSERT_EQ(left.col, right.row);
            ASSERT_EQ(left.row, result.row);
            ASSERT_EQ(left.rows, result.rows);
            ASSERT_EQ(right.col, result.col);
            ASSERT_EQ(right.cols, result.cols);
            for (std::int64_t i = result.row; i < result.row + result.rows; ++i) {
                for (std::int64_t j = result.col; j < result.col + result.cols; ++j) {
                    ASSERT_EQ((summed[{i, j}]), left.col) << text_of(cut);
                    summed[{i, j}] += left.cols;
                }
            }
        }
        ASSERT_EQ(static_cast<std::int64_t>(summed.size()), 17 * 19) << text_of(cut);
        for (const auto& [place, depth] : summed) {
            ASSERT_EQ(depth, 11);
        }
    }
}

/// Reads as far ahead, and multiplies as far ahead of the writer, as the steps allow, and looks whether every buffer
/// holds what it should when it is used.
TEST(FileSchedule, no_buffer_is_filled_before_its_contents_were_used) {
    for (const DiskCut& cut : all_ways_to_cut()) {
        const FileSchedule schedule(small_problem(), cut);
        std::vector<std::int64_t> some;
        for (std::int64_t tile = 0; tile < schedule.tiles(); ++tile) {
            if (tile % 5 != 2) {
                some.push_back(tile);
            }
        }
        for (const auto& tiles : {all_tiles(schedule), some}) {
            const std::vector<FileStep> steps = schedule.steps(tiles);
            std::map<std::int64_t, FileWindow> left, right;
            std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> filling;  // tile slot, strip -> tile
            std::vector<std::pair<std::int64_t, FileStep>> finished;
            std::size_t loaded = 0, multiplied = 0;
            std::int64_t written = 0;
            while (multiplied < steps.size()) {
                while (loaded < steps.size() &&
                       std::max(steps[loaded].load_left_after, steps[loaded].load_right_after) <=
                           static_cast<std::int64_t>(multiplied)) {
                    const FileStep& step = steps[loaded++];
                    if (step.loads_left) {
                        left[step.left_slot] = schedule.left_window(step.tile, step.panel, step.strip);
                    }
                    if (step.loads_right) {
                        right[step.right_slot] = schedule.right_window(step.tile, step.panel);
                    }
                }
                ASSERT_GT(loaded, multiplied) << "stuck: " << text_of(cut);
                const FileStep& step = steps[multiplied++];
                ASSERT_EQ(left[step.left_slot], schedule.left_window(step.tile, step.panel, step.strip));
                ASSERT_EQ(right[step.right_slot], schedule.right_window(step.tile, step.panel));
                const std::pair place(step.tile_slot, step.strip);
                if (step.panel == 0) {
                    while (written < step.fill_after_written) {  // the writer is as late as it may be
                        ASSERT_LT(written, static_cast<std::int64_t>(finished.size())) << "stuck: " << text_of(cut);
                        const FileStep& gone = finished[static_cast<std::size_t>(written++)].second;
                        filling.erase({gone.tile_slot, gone.strip});
                    }
                    ASSERT_FALSE(filling.contains(place)) << text_of(cut);
                    filling[place] = step.tile;
                }
                ASSERT_EQ(filling[place], step.tile);
                if (step.panel + 1 == schedule.panels()) {
                    finished.emplace_back(step.tile, step);
                }
            }
        }
    }
}

TEST(FileSchedule, pieces_cover_the_strip_and_only_the_very_last_one_is_cut) {
    for (const bool by_columns : {false, true}) {
        DiskCut cut;
        cut.tile_m = cut.tile_n = cut.strip_m = 4096;
        cut.depth = cut.first_depth = 1024;
        cut.mirrored = by_columns;
        cut.c_block = 512;
        const FileLayout square{8192, 8192, 4, false, 4096, 512};
        const FileSchedule schedule({8192, 8192, 8192, Type::f32, false, 0, square, square, square}, cut);
        for (std::int64_t tile = 0; tile < schedule.tiles(); ++tile) {
            const std::vector<FileWindow> pieces = schedule.result_pieces(tile, 0);
            EXPECT_EQ(pieces.size() > 1, tile + 1 == schedule.tiles());
            const FileWindow whole = schedule.result_window(tile, 0);
            std::int64_t row = whole.row;
            for (const FileWindow& piece : pieces) {
                EXPECT_EQ(piece.row, row);
                EXPECT_EQ(piece.col, whole.col);
                EXPECT_EQ(piece.cols, whole.cols);
                EXPECT_TRUE(on_blocks(schedule.result(), piece));
                row += piece.rows;
            }
            EXPECT_EQ(row, whole.row + whole.rows);
            EXPECT_LE(pieces.back().rows, tile + 1 == schedule.tiles() ? 512 : 4096);
        }
    }
}

}  // namespace
}  // namespace heptad
