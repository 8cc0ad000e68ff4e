// What is done for a step of a product from file to file, and the buffers it is done in. Each function belongs to one
// stage of the pipeline, which decides who may go on when.
#pragma once

#include <memory>
#include <vector>

#include "io/matrix_file.hpp"
#include "move/file_pipeline.hpp"

namespace heptad {

/// Which bit of a byte holds the first of its eight columns.
enum class BitOrder : std::uint8_t { lowest_first, highest_first };

/// Windows of the transpose of a file of packed bits. Bits lie by rows in the file and in memory, so a window is read
/// in bands of the file's rows and turned on the way.
class TurnedBits {
public:
    /// Memory for a band, as file_buffers() counts it for all that is read here; 0: nothing will be.
    explicit TurnedBits(std::int64_t band_bytes) : band_(band_bytes) {}

    /// Reads a window of op(A), whose `layout` is_turned(), into memory for it by rows, each on a boundary of 64 bytes.
    /// It begins at a row that is a multiple of 8. The view is of its bytes.
    ConstView read(const MatrixFile& file, IoQueue& queue, const FileLayout& layout, const FileWindow& window,
                   BitOrder order, std::byte* memory);

private:
    PageBuffer band_;  // of the file as it is
};

/// Rows of C that are complete.
struct FilePiece {
    FileStep step;
    FileWindow window;
    bool last_of_strip = true;
};

class FileSteps {
public:
    FileSteps(const FileSchedule& schedule, const PipelineFiles& files, const PipelineWork& work,
              const PipelineOptions& options, StageTrace& trace);
    ~FileSteps();
    FileSteps(const FileSteps&) = delete;
    FileSteps& operator=(const FileSteps&) = delete;

    StepDevice* device() const { return options_.device; }
    bool tiles_on_device() const { return device() != nullptr && device()->holds_tiles(); }
    ReadWindow left_window_of(const FileStep& step) const {
        return {ReadOf::left, schedule_.left_number(step.tile, step.panel, step.strip)};
    }
    ReadWindow right_window_of(const FileStep& step) const {
        return {ReadOf::right, schedule_.right_number(step.tile, step.panel)};
    }

    // Stage DR. What the step does not load is in its buffer.
    void load_left(const FileStep& step);
    void load_right(const FileStep& step);
    bool loads_c0(const FileStep& step) const { return files_.c0 != nullptr && step.panel == 0; }
    /// What is added lies in the tile before the first product. A C0 stored the other way round is turned piece by
    /// piece.
    void load_c0(const FileStep& step);

    /// Stage M2G: what a step has read, to the slots of the device that correspond.
    void upload(const FileStep& step);

    /// Stage MM. Tells `complete` of the rows of C that are, one piece after another.
    void multiply(const FileStep& step, const std::function<void(const FilePiece&)>& complete);

    // Stage G2M, where the device holds tiles.
    void lock_tiles();
    void download(const FilePiece& piece);

    /// Stage DW.
    void write(const FilePiece& piece);
    std::int64_t finished_tiles() const { return finished_tiles_; }

private:
    /// The left or the right matrix.
    struct Operand {
        const MatrixFile* file;
        BlockSums* sums;
        const FileLayout& layout;
        BitOrder bits;
        std::vector<PageBuffer> buffers;
        std::vector<ConstView> views;  // of what is in the buffers
    };
    void load(Operand& operand, const FileStep& step, std::int64_t slot, const FileWindow& window);
    ConstView read(const Operand& operand, const FileWindow& window, std::byte* memory);
    void multiply_rows(const FileStep& step, const FileWindow& window);
    View result_view(const FileStep& step, const FileWindow& window) const;
    FileWindow strip_of(const FileStep& step) const { return schedule_.result_window(step.tile, step.strip); }
    void note(Stage stage, const FileStep& step, Clock::time_point from, double amount, const char* of = "");
    template <class Work>
    void note_bytes(Stage stage, const FileStep& step, Work&& moves);

    const FileSchedule& schedule_;
    const PipelineFiles& files_;
    const PipelineWork& work_;
    const PipelineOptions& options_;
    StageTrace& trace_;
    std::unique_ptr<IoQueue> read_queue_, write_queue_;
    Operand left_, right_;
    std::vector<PageBuffer> tiles_;
    PageBuffer bounce_;
    TurnedBits turned_;  // of the reading thread, like the former
    std::int64_t tile_stride_ = 0;
    std::uint64_t sum_ = 0;  // of the tile that is being written
    std::int64_t finished_tiles_ = 0;
};

}  // namespace heptad
