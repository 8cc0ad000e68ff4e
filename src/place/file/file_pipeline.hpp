// Carries out the steps of a FileSchedule: a thread that reads ahead, the caller's thread that multiplies, and a thread
// that writes. Each is held back only by buffers that are still in use; the steps are multiplied in their order.
#pragma once

#include <functional>

#include "place/file/matrix_file.hpp"
#include "place/file/partial_file.hpp"
#include "place/file/stage_trace.hpp"
#include "plan/file_schedule.hpp"

namespace heptad {

/// The files of C = A B (+ C0), as the schedule carries it out.
struct PipelineFiles {
    const MatrixFile* left = nullptr;
    const MatrixFile* right = nullptr;
    const MatrixFile* c0 = nullptr;  ///< null: nothing is added
    FileLayout c0_layout;            ///< in the orientation of the schedule
    const PartialFile* result = nullptr;
};

struct PipelineWork {
    /// c = a b, or added to what c holds: a strip of the left matrix by a panel of the right one.
    std::function<void(const FileStep& step, const ConstView& a, const ConstView& b, const View& c)> multiply;
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
    IoWatch watch;
};

/// Tiles that were finished: fewer than asked for where a stop was wanted. Throws what a stage threw.
std::int64_t run_pipeline(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles,
                          const PipelineFiles& files, const PipelineWork& work, const PipelineOptions& options,
                          StageTrace& trace);

/// Checksum of a tile of the result as it lies in the file, strip by strip.
std::uint64_t read_tile_checksum(const FileSchedule& schedule, std::int64_t tile, const PartialFile& result,
                                 IoQueue& queue);

}  // namespace heptad
