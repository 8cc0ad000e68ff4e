#include "place/file/file_pipeline.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.hpp"
#include "base/size.hpp"
#include "place/file/checksum.hpp"
#include "place/file/view_copy.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kBounce_bytes = std::int64_t{1} << 20;

/// Checksum of a strip whose lines lie `stride_bytes` apart.
std::uint64_t strip_checksum(const FileLayout& layout, const FileWindow& window, const std::byte* memory,
                             std::int64_t stride_bytes, std::uint64_t before) {
    const LineWindow part = line_window(layout, window);
    for (std::int64_t line = 0; line < part.lines; ++line) {
        before = checksum(memory + line * stride_bytes, part.positions * layout.element_bytes, before);
    }
    return before;
}

/// How far the stages are, and who waits for whom.
class Gate {
public:
    std::int64_t loaded = 0, multiplied = 0, written = 0;  // steps, steps, strips

    /// Waits until the condition holds. False: the run is over, by a failure or because it was asked to stop.
    template <class Condition>
    bool wait(Condition condition) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return over_ || condition(); });
        return !over_;
    }
    template <class Change>
    void change(Change what) {
        {
            const std::lock_guard lock(mutex_);
            what();
        }
        changed_.notify_all();
    }
    void fail_with(std::exception_ptr failure) {
        change([&] {
            failure_ = failure_ ? failure_ : std::move(failure);
            over_ = true;
        });
    }
    void end() {
        change([&] { over_ = true; });
    }
    void rethrow() {
        const std::lock_guard lock(mutex_);
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::exception_ptr failure_;
};

class Pipeline {
public:
    Pipeline(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles, const PipelineFiles& files,
             const PipelineWork& work, const PipelineOptions& options, StageTrace& trace)
        : schedule_(schedule),
          steps_(schedule.steps(tiles)),
          files_(files),
          work_(work),
          options_(options),
          trace_(trace),
          read_queue_(make_io_queue(options.io, options.watch)),
          write_queue_(make_io_queue(options.io, options.watch)) {
        const FileBuffers& sizes = options.buffers;
        fill(left_, sizes.strips, sizes.strip_bytes);
        fill(right_, sizes.panels, sizes.panel_bytes);
        fill(tiles_, sizes.tiles, sizes.tile_bytes);
        left_views_.resize(left_.size());
        right_views_.resize(right_.size());
        const FileLayout& result = schedule.result();
        const LineWindow part = line_window(result, {0, options.tile_m, 0, options.tile_n});
        tile_stride_ = part.whole_lines
                           ? result.pitch_bytes()
                           : line_stride_bytes(result, part.positions,
                                               round_up(part.positions * result.element_bytes, result.block_bytes));
    }

    std::int64_t run() {
        options_.overlap ? run_overlapped() : run_in_turn();
        gate_.rethrow();
        return finished_tiles_;
    }

private:
    static void fill(std::vector<PageBuffer>& buffers, std::int64_t count, std::int64_t bytes) {
        for (std::int64_t i = 0; i < count; ++i) {
            buffers.emplace_back(bytes);
        }
    }

    void run_in_turn() {
        for (const FileStep& step : steps_) {
            if (step.first_of_tile && work_.stop_wanted()) {
                return;
            }
            load(step);
            if (files_.c0 != nullptr && step.panel == 0) {
                load_c0(step);
            }
            multiply(step);
            if (is_last_panel(step)) {
                write(step);
            }
        }
    }

    void run_overlapped() {
        std::thread reader([this] { guarded([this] { read_ahead(); }); });
        std::thread writer([this] { guarded([this] { write_behind(); }); });
        guarded([this] { multiply_all(); });
        gate_.change([this] { nothing_more_to_write_ = true; });
        writer.join();
        gate_.end();  // after a stop, the reader may wait for buffers that nobody will free
        reader.join();
    }

    template <class Body>
    void guarded(Body body) noexcept {
        try {
            body();
        } catch (...) {
            gate_.fail_with(std::current_exception());
        }
    }

    void read_ahead() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const FileStep& step = steps_[i];
            if (!gate_.wait([&] { return gate_.multiplied >= step.load_after_multiplied; })) {
                return;
            }
            load(step);
            if (files_.c0 != nullptr && step.panel == 0) {
                if (!gate_.wait([&] { return gate_.written >= step.fill_after_written; })) {
                    return;
                }
                load_c0(step);
            }
            gate_.change([&] { ++gate_.loaded; });
        }
    }

    void multiply_all() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const FileStep& step = steps_[i];
            if (step.first_of_tile && work_.stop_wanted()) {
                return;
            }
            if (!gate_.wait([&] {
                    return gate_.loaded > static_cast<std::int64_t>(i) &&
                           (step.panel > 0 || gate_.written >= step.fill_after_written);
                })) {
                return;
            }
            multiply(step);
            gate_.change([&] {
                ++gate_.multiplied;
                if (is_last_panel(step)) {
                    to_write_.push_back(step);
                }
            });
        }
    }

    void write_behind() {
        for (;;) {
            FileStep step;
            bool done = false;
            if (!gate_.wait([&] { return nothing_more_to_write_ || !to_write_.empty(); })) {
                return;
            }
            gate_.change([&] {
                done = to_write_.empty();
                if (!done) {
                    step = to_write_.front();
                    to_write_.pop_front();
                }
            });
            if (done) {
                return;
            }
            write(step);
            gate_.change([&] { ++gate_.written; });
        }
    }

    bool is_last_panel(const FileStep& step) const { return step.panel + 1 == schedule_.panels(); }

    void load(const FileStep& step) {
        const auto from = StageTrace::Clock::now();
        std::int64_t bytes = 0;
        if (step.loads_right) {
            const FileWindow window = schedule_.right_window(step.tile, step.panel);
            right_views_[slot(step.right_slot)] =
                files_.right->read(*read_queue_, schedule_.right(), window, right_[slot(step.right_slot)].data());
            bytes += moved_bytes(schedule_.right(), window);
        }
        if (step.loads_left) {
            const FileWindow window = schedule_.left_window(step.tile, step.panel, step.strip);
            left_views_[slot(step.left_slot)] =
                files_.left->read(*read_queue_, schedule_.left(), window, left_[slot(step.left_slot)].data());
            bytes += moved_bytes(schedule_.left(), window);
        }
        if (bytes > 0) {
            trace_.add(Stage::disk_read, label(step), from, StageTrace::Clock::now(), static_cast<double>(bytes));
        }
    }

    /// What is added lies in the tile before the first product. A C0 stored the other way round is turned piece by
    /// piece.
    void load_c0(const FileStep& step) {
        const auto from = StageTrace::Clock::now();
        const FileWindow window = schedule_.result_window(step.tile, step.strip);
        const View strip = strip_view(step);
        FileLayout layout = files_.c0_layout;
        layout.block_bytes = 1;
        if (bounce_.bytes() == 0) {
            bounce_ = PageBuffer(std::max(kBounce_bytes, round_up(layout.pitch_bytes(), 4096)));
        }
        const std::int64_t lines = layout.by_columns ? window.cols : window.rows;
        const std::int64_t line_bytes =
            line_stride_bytes(layout, layout.by_columns ? window.rows : window.cols, layout.pitch_bytes());
        const std::int64_t at_once =
            std::max<std::int64_t>(bounce_.bytes() / std::max(line_bytes, layout.pitch_bytes()), 1);
        for (std::int64_t line = 0; line < lines; line += at_once) {
            const std::int64_t count = std::min(at_once, lines - line);
            const FileWindow part = layout.by_columns ? FileWindow{window.row, window.rows, window.col + line, count}
                                                      : FileWindow{window.row + line, count, window.col, window.cols};
            const ConstView read = files_.c0->read(*read_queue_, layout, part, bounce_.data());
            copy_view(read, layout.by_columns ? block(strip, 0, line, window.rows, count)
                                              : block(strip, line, 0, count, window.cols));
        }
        trace_.add(Stage::disk_read, label(step) + " C0", from, StageTrace::Clock::now(),
                   static_cast<double>(window.rows * window.cols * layout.element_bytes));
    }

    void multiply(const FileStep& step) {
        const auto from = StageTrace::Clock::now();
        const ConstView& a = left_views_[slot(step.left_slot)];
        const ConstView& b = right_views_[slot(step.right_slot)];
        work_.multiply(step, a, b, strip_view(step));
        const double operations =
            2.0 * static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(b.cols);
        trace_.add(Stage::multiply, label(step), from, StageTrace::Clock::now(), operations);
        ++multiplied_;
        if (work_.progress) {
            work_.progress(static_cast<double>(multiplied_) / static_cast<double>(steps_.size()));
        }
    }

    void write(const FileStep& step) {
        const auto from = StageTrace::Clock::now();
        const FileWindow window = schedule_.result_window(step.tile, step.strip);
        const std::byte* const memory = static_cast<const std::byte*>(strip_view(step).data);
        files_.result->write(*write_queue_, schedule_.result(), window, memory, tile_stride_);
        sum_ = strip_checksum(schedule_.result(), window, memory, tile_stride_, step.strip == 0 ? 0 : sum_);
        if (step.last_of_tile) {
            work_.finished(step.tile, sum_);
            ++finished_tiles_;
        }
        trace_.add(Stage::disk_write, label(step), from, StageTrace::Clock::now(),
                   static_cast<double>(moved_bytes(schedule_.result(), window)));
    }

    /// The strip of a tile in memory, stored the way the file is.
    View strip_view(const FileStep& step) const {
        const FileWindow tile = schedule_.tile_window(step.tile);
        const FileWindow strip = schedule_.result_window(step.tile, step.strip);
        const FileLayout& layout = schedule_.result();
        const std::int64_t stride = tile_stride_ / layout.element_bytes;
        const Type type = files_.left->type();
        const View whole = layout.by_columns
                               ? View(tiles_[slot(step.tile_slot)].data(), type, tile.rows, tile.cols, 1, stride)
                               : View(tiles_[slot(step.tile_slot)].data(), type, tile.rows, tile.cols, stride, 1);
        return block(whole, strip.row - tile.row, 0, strip.rows, strip.cols);
    }

    static std::size_t slot(std::int64_t number) { return static_cast<std::size_t>(number); }
    std::string label(const FileStep& step) const {
        return fmt::format("tile {} panel {} strip {}", step.tile, step.panel, step.strip);
    }

    const FileSchedule& schedule_;
    std::vector<FileStep> steps_;
    const PipelineFiles& files_;
    const PipelineWork& work_;
    const PipelineOptions& options_;
    StageTrace& trace_;
    std::unique_ptr<IoQueue> read_queue_, write_queue_;
    std::vector<PageBuffer> left_, right_, tiles_;
    std::vector<ConstView> left_views_, right_views_;
    PageBuffer bounce_;
    std::int64_t tile_stride_ = 0;
    Gate gate_;
    std::deque<FileStep> to_write_;
    bool nothing_more_to_write_ = false;  // under the gate's mutex
    std::uint64_t sum_ = 0;               // of the tile that is being written
    std::int64_t finished_tiles_ = 0, multiplied_ = 0;
};

}  // namespace

std::int64_t run_pipeline(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles,
                          const PipelineFiles& files, const PipelineWork& work, const PipelineOptions& options,
                          StageTrace& trace) {
    return Pipeline(schedule, tiles, files, work, options, trace).run();
}

std::uint64_t read_tile_checksum(const FileSchedule& schedule, std::int64_t tile, const PartialFile& result,
                                 IoQueue& queue) {
    FileLayout layout = schedule.result();
    layout.block_bytes = 1;
    PageBuffer memory(std::max(kBounce_bytes, round_up(layout.pitch_bytes(), 4096)));
    std::uint64_t sum = 0;
    for (std::int64_t strip = 0; strip < schedule.strips(tile); ++strip) {
        const FileWindow window = schedule.result_window(tile, strip);
        const std::int64_t lines = layout.by_columns ? window.cols : window.rows;
        const std::int64_t line_bytes = (layout.by_columns ? window.rows : window.cols) * layout.element_bytes;
        const std::int64_t at_once = std::max<std::int64_t>(memory.bytes() / line_bytes, 1);
        for (std::int64_t line = 0; line < lines; line += at_once) {
            const std::int64_t count = std::min(at_once, lines - line);
            const FileWindow part = layout.by_columns ? FileWindow{window.row, window.rows, window.col + line, count}
                                                      : FileWindow{window.row + line, count, window.col, window.cols};
            result.read(queue, layout, part, memory.data(), line_bytes);
            sum = strip_checksum(layout, part, memory.data(), line_bytes, sum);
        }
    }
    return sum;
}

}  // namespace heptad
