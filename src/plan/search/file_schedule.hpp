// The order in which a product from files to a file is carried out: which window of which file belongs to which step,
// in which buffer it lies, and what has to be done before a buffer may be used again. Pure: no file is touched.
//
// A step multiplies one strip of the left matrix by one panel of the right one and adds it to one strip of a tile of C.
// Steps are multiplied in their order, always, so that the sums of floats are the same in every run.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/search/file_plan.hpp"

namespace heptad {

/// Buffers in memory: how many, and how large each.
struct FileBuffers {
    std::int64_t tiles = 1, tile_bytes = 0;    // of C
    std::int64_t panels = 2, panel_bytes = 0;  // of the right matrix
    std::int64_t strips = 2, strip_bytes = 0;  // of the left matrix
    std::int64_t turning_bytes = 0;            // for transposed bits, which are turned on the way
};
/// Direct I/O widens by the blocks of the cut.
FileBuffers file_buffers(const FileProblem& problem, const DiskCut& cut);

/// Transposed bits are read in bands of the file's rows, so many or a multiple at a time.
inline constexpr std::int64_t kRowsTurned = 64;
/// Is this the layout of the transpose of a file of packed bits?
inline bool is_turned(const FileLayout& layout) {
    return layout.packed && layout.by_columns;
}
/// Bytes of a row of such a file in a band.
std::int64_t turned_row_bytes(const FileLayout& layout);
/// Memory for a band, one for both operands; 0 where none is turned. `memory_bytes`: what the whole product may take.
std::int64_t turning_bytes(std::int64_t memory_bytes, const FileLayout& a, const FileLayout& b);

/// Products of the same sizes and cuts, one after another in one run; their results lie so many bytes apart in one
/// file.
struct Repeats {
    std::int64_t count = 1, result_bytes = 0;
};

struct FileStep {
    std::int64_t tile = 0;  ///< index over all tiles of C
    std::int64_t panel = 0, strip = 0;
    bool loads_left = false, loads_right = false;  ///< else the buffer holds it already
    bool first_of_tile = false, last_of_tile = false;
    std::int64_t left_slot = 0, right_slot = 0, tile_slot = 0;
    /// So many steps must have been multiplied before this one's windows may be read into their buffers.
    std::int64_t load_left_after = 0, load_right_after = 0;
    /// So many strips of C must have been written before the strip of this step may be filled anew: by the first panel,
    /// or by the last one where a device holds the tiles and only whole ones come back.
    std::int64_t fill_after_written = 0;
};

class FileSchedule {
public:
    /// The block_bytes of the problem's layouts are replaced by those of the cut.
    FileSchedule(const FileProblem& problem, const DiskCut& cut, const Repeats& repeats = {});

    /// As carried out: of C^T = B^T A^T where the cut is mirrored.
    const FileLayout& left() const { return product_.a; }
    const FileLayout& right() const { return product_.b; }
    const FileLayout& result() const { return product_.c; }

    /// Is C0 added, so that the first panel adds too?
    bool adds() const { return product_.adds; }

    std::int64_t tiles_down() const;
    std::int64_t tiles_across() const;
    /// Of all repeats.
    std::int64_t tiles() const { return repeats_.count * tiles_of_one(); }
    /// Which of the repeats a tile belongs to.
    std::int64_t repeat_of(std::int64_t tile) const { return tile / tiles_of_one(); }
    /// Where the result of that repeat lies; windows are the same in all of them.
    FileLayout result_of(std::int64_t tile) const;
    std::int64_t panels() const;
    std::int64_t strips(std::int64_t tile) const;

    FileWindow tile_window(std::int64_t tile) const;
    FileWindow left_window(std::int64_t tile, std::int64_t panel, std::int64_t strip) const;
    FileWindow right_window(std::int64_t tile, std::int64_t panel) const;
    FileWindow result_window(std::int64_t tile, std::int64_t strip) const;
    /// Numbers of those windows over all tiles: the same number, the same window of the same matrix.
    std::int64_t left_number(std::int64_t tile, std::int64_t panel, std::int64_t strip) const;
    std::int64_t right_number(std::int64_t tile, std::int64_t panel) const;
    std::int64_t result_number(std::int64_t tile, std::int64_t strip) const;
    /// The strip as it is finished and written: whole, but the very last one in ever smaller pieces, so that little is
    /// left to write when the last product is done.
    std::vector<FileWindow> result_pieces(std::int64_t tile, std::int64_t strip) const;

    /// What a schedule without repeats reads and writes.
    FileTraffic traffic() const;
    /// Can A (or B) be read directly with the blocks of the cut: do the spans of a window all begin alike in a block?
    bool may_read_a_directly() const { return may_read_directly(cut_.mirrored ? right() : left(), cut_.mirrored); }
    bool may_read_b_directly() const { return may_read_directly(cut_.mirrored ? left() : right(), !cut_.mirrored); }
    bool may_write_directly() const;

    /// The steps of these tiles, which are in increasing order: all of them, or those that are still missing.
    std::vector<FileStep> steps(const std::vector<std::int64_t>& tiles) const;

private:
    struct Range {
        std::int64_t first, size;
    };
    Range panel_range(std::int64_t panel) const;
    Range strip_range(std::int64_t tile, std::int64_t strip) const;
    bool may_read_directly(const FileLayout& layout, bool is_right) const;
    bool keeps_left() const { return cut_.kept != Kept::c; }
    std::int64_t most_strips() const;
    std::int64_t tiles_of_one() const { return tiles_down() * tiles_across(); }

    DiskCut cut_;
    FileProblem product_;  // as carried out
    Repeats repeats_;
};

/// Bytes between the lines of a window in memory: whole blocks where it is read directly, whole cache lines else.
/// `widest_bytes`: the longest span of any such window.
std::int64_t line_stride_bytes(const FileLayout& layout, std::int64_t positions, std::int64_t widest_bytes);

}  // namespace heptad
