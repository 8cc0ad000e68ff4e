// Carries out the steps of a FileSchedule: a thread that reads ahead, the caller's thread that multiplies, and a thread
// that writes; where a device multiplies, also one that uploads and one that downloads. Each is held back only by
// buffers that are still in use; the steps are multiplied in their order.
#pragma once

#include <functional>

#include "io/matrix_file.hpp"
#include "io/partial_file.hpp"
#include "io/read_sums.hpp"
#include "move/block_sums.hpp"
#include "move/stage_trace.hpp"
#include "move/step_device.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {

/// The files of C = A B (+ C0), as the schedule carries it out.
struct PipelineFiles {
    const MatrixFile* left = nullptr;
    const MatrixFile* right = nullptr;
    const MatrixFile* c0 = nullptr;  ///< null: nothing is added
    FileLayout c0_layout;            ///< in the orientation of the schedule
    const PartialFile* result = nullptr;
    /// Not null: sums of blocks of those files are multiplied, one sum for each repeat of the schedule.
    BlockSums* left_sums = nullptr;
    BlockSums* right_sums = nullptr;
};

struct PipelineWork {
    /// A window was read; from the reading thread.
    std::function<void(const ReadWindow& window, const ConstView& view)> was_read;
    /// Before the product of a step; where something is added, the strip holds it at the first panel.
    std::function<void(const FileStep& step, const ConstView& a, const ConstView& b, const View& strip)> before;
    /// c = a b, or added to what c holds: rows of a strip of the left matrix by a panel of the right one. Where a
    /// device multiplies, on its copies; `first_row` is that of the strip.
    std::function<void(const FileStep& step, std::int64_t first_row, const ConstView& a, const ConstView& b,
                       const View& c)>
        multiply;
    /// These rows of C are complete and in memory.
    std::function<void(const FileStep& step, const FileWindow& window, const View& c)> completed;
    /// All of a tile is written; from the writing thread.
    std::function<void(std::int64_t tile, std::uint64_t sum)> finished;
    /// From the multiplying thread, after every step.
    std::function<void(double fraction)> progress;
    /// Looked at before every tile: true ends the run when the tile before it is written.
    std::function<bool()> stop_wanted;
};

struct PipelineOptions {
    FileBuffers buffers;
    std::int64_t tile_m = 0, tile_n = 0;  ///< of the plan
    bool overlap = true;                  ///< false: one stage after another
    std::string io = "auto";
    StepDevice* device = nullptr;  ///< null: the processor multiplies
    bool tiles_in_turn = false;    ///< a tile is begun when all of the one before came back from the device
};

/// Where rows of C lie in the slots of a device.
TilePlace tile_place(const FileSchedule& schedule, const FileStep& step, const FileWindow& window);

/// Tiles that were finished: fewer than asked for where a stop was wanted. Throws what a stage threw.
std::int64_t run_pipeline(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles,
                          const PipelineFiles& files, const PipelineWork& work, const PipelineOptions& options,
                          StageTrace& trace);

/// Reads the windows that these tiles are made of, each once, and nothing else. False: a stop was wanted.
bool read_windows_again(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles,
                        const PipelineFiles& files, const PipelineWork& work, const PipelineOptions& options);

}  // namespace heptad
