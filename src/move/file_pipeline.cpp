#include "move/file_pipeline.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <set>
#include <thread>

#include "base/bit_bytes.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "io/tile_checksum.hpp"
#include "io/turned_bits.hpp"
#include "io/view_copy.hpp"
#include "move/stage_gate.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kBounce_bytes = std::int64_t{1} << 20;

/// Rows of C that are complete.
struct Piece {
    FileStep step;
    FileWindow window;
    bool last_of_strip = true;
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
          write_queue_(make_io_queue(options.io, options.watch)),
          turned_(options.buffers.turning_bytes) {
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
                                               round_up(result.bytes_of(part.positions), result.block_bytes));
    }

    ~Pipeline() {
        if (device() != nullptr) {
            device()->unlock_all();  // before the buffers go
        }
    }
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    std::int64_t run() {
        options_.overlap ? run_overlapped() : run_in_turn();
        gate_.rethrow();
        return finished_tiles_;
    }

    /// False: a stop was wanted.
    bool read_only() {
        std::set<ReadWindow> done;
        for (FileStep step : steps_) {
            if (step.first_of_tile && work_.stop_wanted()) {
                return false;
            }
            step.loads_left = done.insert(left_window_of(step)).second;
            step.loads_right = done.insert(right_window_of(step)).second;
            load_left(step);
            load_right(step);
            if (files_.c0 != nullptr && step.panel == 0) {
                load_c0(step);
            }
        }
        return true;
    }

private:
    ReadWindow left_window_of(const FileStep& step) const {
        return {ReadOf::left, schedule_.left_number(step.tile, step.panel, step.strip)};
    }
    ReadWindow right_window_of(const FileStep& step) const {
        return {ReadOf::right, schedule_.right_number(step.tile, step.panel)};
    }

    static void fill(std::vector<PageBuffer>& buffers, std::int64_t count, std::int64_t bytes) {
        for (std::int64_t i = 0; i < count; ++i) {
            buffers.emplace_back(bytes);
        }
    }

    StepDevice* device() const { return options_.device; }
    bool tiles_on_device() const { return device() != nullptr && device()->holds_tiles(); }

    void run_in_turn() {
        for (const FileStep& step : steps_) {
            if (step.first_of_tile && work_.stop_wanted()) {
                return;
            }
            load_left(step);
            load_right(step);
            if (files_.c0 != nullptr && step.panel == 0) {
                load_c0(step);
            }
            upload(step);
            multiply(step);
            for (std::deque<Piece>& queue = tiles_on_device() ? to_download_ : to_write_; !queue.empty();
                 queue.pop_front()) {
                if (tiles_on_device()) {
                    download(queue.front());
                }
                write(queue.front());
            }
        }
    }

    void run_overlapped() {
        std::vector<std::thread> ahead, behind;
        const auto start = [this](std::vector<std::thread>& threads, void (Pipeline::*stage)()) {
            threads.reserve(threads.size() + 1);  // before there is a thread that would have to be joined
            threads.push_back(start_thread([this, stage] { guarded([this, stage] { (this->*stage)(); }); }));
        };
        guarded([&] {
            start(ahead, &Pipeline::read_ahead);
            if (device() != nullptr) {
                start(ahead, &Pipeline::upload_ahead);
            }
            if (tiles_on_device()) {
                start(behind, &Pipeline::download_behind);
            }
            start(behind, &Pipeline::write_behind);
            multiply_all();
        });
        gate_.change([this] { (tiles_on_device() ? nothing_more_to_download_ : nothing_more_to_write_) = true; });
        for (std::thread& thread : behind) {
            thread.join();
        }
        gate_.end();  // after a stop, those ahead may wait for buffers that nobody will free
        for (std::thread& thread : ahead) {
            thread.join();
        }
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
        const bool room_beside = options_.buffers.panels > 1;
        for (const FileStep& step : steps_) {
            const auto right = [&] {
                return gate_.wait([&] { return gate_.multiplied >= step.load_right_after; }) &&
                       (load_right(step), true);
            };
            // A panel that has to wait for the one before lets the strip go first.
            if ((room_beside && !right()) || !gate_.wait([&] { return gate_.multiplied >= step.load_left_after; })) {
                return;
            }
            load_left(step);
            if (!room_beside && !right()) {
                return;
            }
            if (files_.c0 != nullptr && step.panel == 0) {
                if (!gate_.wait([&] { return gate_.written >= step.fill_after_written; })) {
                    return;
                }
                load_c0(step);
            }
            gate_.change([&] { ++gate_.loaded; });
        }
    }

    void upload_ahead() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if (!gate_.wait([&] { return gate_.loaded > static_cast<std::int64_t>(i); })) {
                return;
            }
            upload(steps_[i]);
            gate_.change([&] { ++gate_.uploaded; });
        }
    }

    void multiply_all() {
        std::int64_t strips_begun = 0;
        if (device() != nullptr && !tiles_on_device()) {
            lock_buffers(tiles_);
        }
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const FileStep& step = steps_[i];
            if (step.first_of_tile && work_.stop_wanted()) {
                return;
            }
            const bool waits_for_all = step.first_of_tile && options_.tiles_in_turn && tiles_on_device();
            const std::int64_t empty_after = waits_for_all ? strips_begun : step.fill_after_written;
            if (!gate_.wait([&] {
                    const std::int64_t ready = device() != nullptr ? gate_.uploaded : gate_.loaded;
                    const std::int64_t emptied = tiles_on_device() ? gate_.downloaded : gate_.written;
                    return ready > static_cast<std::int64_t>(i) && (step.panel > 0 || emptied >= empty_after);
                })) {
                return;
            }
            strips_begun += step.panel == 0 ? 1 : 0;
            multiply(step);
            gate_.change([&] { ++gate_.multiplied; });
        }
    }

    /// The next piece of a queue; nothing when there will be no more, or the run is over.
    std::optional<Piece> next_of(std::deque<Piece>& queue, const bool& nothing_more) {
        std::optional<Piece> piece;
        if (gate_.wait([&] { return nothing_more || !queue.empty(); })) {
            gate_.change([&] {
                if (!queue.empty()) {
                    piece = queue.front();
                    queue.pop_front();
                }
            });
        }
        return piece;
    }

    void download_behind() {
        lock_buffers(tiles_);
        while (const std::optional<Piece> piece = next_of(to_download_, nothing_more_to_download_)) {
            if (!gate_.wait([&] { return gate_.written >= piece->step.fill_after_written; })) {
                return;
            }
            download(*piece);
            gate_.change([&] {
                to_write_.push_back(*piece);
                gate_.downloaded += piece->last_of_strip ? 1 : 0;
            });
        }
        gate_.change([this] { nothing_more_to_write_ = true; });
    }

    void write_behind() {
        while (const std::optional<Piece> piece = next_of(to_write_, nothing_more_to_write_)) {
            write(*piece);
            gate_.change([&] { gate_.written += piece->last_of_strip ? 1 : 0; });
        }
    }

    bool is_last_panel(const FileStep& step) const { return step.panel + 1 == schedule_.panels(); }

    void load_right(const FileStep& step) {
        if (!step.loads_right) {
            return;
        }
        const auto from = StageTrace::Clock::now();
        const FileWindow window = schedule_.right_window(step.tile, step.panel);
        std::byte* const memory = right_[slot(step.right_slot)].data();
        const FileLayout& layout = schedule_.right();
        ConstView& view = right_views_[slot(step.right_slot)];
        if (files_.right_sums != nullptr) {
            const std::int64_t sum = schedule_.repeat_of(step.tile);
            view = files_.right_sums->read(*read_queue_, sum, layout, window, memory);
            note(Stage::disk_read, step, from, files_.right_sums->moved_bytes(sum, window));
        } else {
            view = is_turned(layout)
                       ? turned_.read(*files_.right, *read_queue_, layout, window, BitOrder::highest_first, memory)
                       : files_.right->read(*read_queue_, layout, window, memory);
            note(Stage::disk_read, step, from, moved_bytes(layout, window));
        }
        work_.was_read(right_window_of(step), view);
    }

    void load_left(const FileStep& step) {
        if (!step.loads_left) {
            return;
        }
        const auto from = StageTrace::Clock::now();
        const FileWindow window = schedule_.left_window(step.tile, step.panel, step.strip);
        std::byte* const memory = left_[slot(step.left_slot)].data();
        ConstView& view = left_views_[slot(step.left_slot)];
        if (files_.left_sums != nullptr) {
            const std::int64_t sum = schedule_.repeat_of(step.tile);
            view = files_.left_sums->read(*read_queue_, sum, schedule_.left(), window, memory);
            note(Stage::disk_read, step, from, files_.left_sums->moved_bytes(sum, window));
        } else {
            view = read_left(window, memory);
            note(Stage::disk_read, step, from, moved_bytes(schedule_.left(), window));
        }
        work_.was_read(left_window_of(step), view);
    }

    /// Bits of the left matrix go in the order of its columns, lowest first, where the file has the first in the
    /// highest bit of a byte. The right matrix and C can stay as they are: their columns only stand in another order,
    /// both alike.
    ConstView read_left(const FileWindow& window, std::byte* memory) {
        const FileLayout& layout = schedule_.left();
        if (is_turned(layout)) {
            return turned_.read(*files_.left, *read_queue_, layout, window, BitOrder::lowest_first, memory);
        }
        const ConstView view = files_.left->read(*read_queue_, layout, window, memory);
        if (layout.packed) {
            reverse_rows_of_bytes(view, memory);
        }
        return view;
    }

    void note(Stage stage, const FileStep& step, StageTrace::Clock::time_point from, std::int64_t bytes) {
        trace_.add(stage, label(step), from, StageTrace::Clock::now(), static_cast<double>(bytes));
    }

    void lock_buffers(std::vector<PageBuffer>& buffers) {
        for (PageBuffer& buffer : buffers) {
            device()->lock(buffer.data(), buffer.bytes());
        }
    }

    static std::int64_t view_bytes(const ConstView& view) {
        return view.rows * view.cols * static_cast<std::int64_t>(element_bytes(view.type));
    }

    /// What a step has read, to the slots of the device that correspond.
    void upload(const FileStep& step) {
        if (device() == nullptr) {
            return;
        }
        const auto from = StageTrace::Clock::now();
        std::int64_t bytes = 0;
        if (step.loads_right) {
            PageBuffer& buffer = right_[slot(step.right_slot)];
            device()->lock(buffer.data(), buffer.bytes());
            device()->upload_right(step.right_slot, right_views_[slot(step.right_slot)]);
            bytes += view_bytes(right_views_[slot(step.right_slot)]);
        }
        if (step.loads_left) {
            PageBuffer& buffer = left_[slot(step.left_slot)];
            device()->lock(buffer.data(), buffer.bytes());
            device()->upload_left(step.left_slot, left_views_[slot(step.left_slot)]);
            bytes += view_bytes(left_views_[slot(step.left_slot)]);
        }
        if (tiles_on_device() && files_.c0 != nullptr && step.panel == 0) {
            const FileWindow window = schedule_.result_window(step.tile, step.strip);
            device()->upload_result(tile_place(schedule_, step, window), result_view(step, window));
            bytes += view_bytes(result_view(step, window));
        }
        if (bytes > 0) {
            note(Stage::upload, step, from, bytes);
        }
    }

    void download(const Piece& piece) {
        const auto from = StageTrace::Clock::now();
        const View to = result_view(piece.step, piece.window);
        device()->download(tile_place(schedule_, piece.step, piece.window), to);
        note(Stage::download, piece.step, from, view_bytes(to));
        work_.completed(piece.step, piece.window, to);
    }

    /// What is added lies in the tile before the first product. A C0 stored the other way round is turned piece by
    /// piece.
    void load_c0(const FileStep& step) {
        const auto from = StageTrace::Clock::now();
        const FileWindow window = schedule_.result_window(step.tile, step.strip);
        const View strip = result_view(step, window);
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
                                              : block(strip, line, 0, count, strip.cols));
        }
        trace_.add(Stage::disk_read, label(step) + " C0", from, StageTrace::Clock::now(),
                   static_cast<double>(moved_bytes(layout, window)));
        work_.was_read({ReadOf::added, schedule_.result_number(step.tile, step.strip)}, strip);
    }

    void multiply(const FileStep& step) {
        const ConstView& a = left_views_[slot(step.left_slot)];
        const ConstView& b = right_views_[slot(step.right_slot)];
        const FileWindow strip = schedule_.result_window(step.tile, step.strip);
        work_.before(step, a, b, result_view(step, strip));
        if (!is_last_panel(step)) {
            multiply_rows(step, strip, a, b);
        } else {
            const std::vector<FileWindow> pieces = schedule_.result_pieces(step.tile, step.strip);
            for (const FileWindow& window : pieces) {
                multiply_rows(step, window, a, b);
                if (!tiles_on_device()) {
                    work_.completed(step, window, result_view(step, window));
                }
                gate_.change([&] {
                    (tiles_on_device() ? to_download_ : to_write_).push_back({step, window, &window == &pieces.back()});
                });
            }
        }
        ++multiplied_;
        if (work_.progress) {
            work_.progress(static_cast<double>(multiplied_) / static_cast<double>(steps_.size()));
        }
    }

    void multiply_rows(const FileStep& step, const FileWindow& window, const ConstView& a, const ConstView& b) {
        const View c = result_view(step, window);
        const std::int64_t first = window.row - schedule_.result_window(step.tile, step.strip).row;
        const bool goes_and_returns = device() != nullptr && !tiles_on_device();
        if (goes_and_returns && (step.panel > 0 || files_.c0 != nullptr)) {
            const auto from = StageTrace::Clock::now();
            device()->upload_result(tile_place(schedule_, step, window), c);
            note(Stage::upload, step, from, view_bytes(c));
        }
        const auto from = StageTrace::Clock::now();
        work_.multiply(step, first, block(a, first, 0, window.rows, a.cols), b, c);
        const std::int64_t depth = schedule_.right_window(step.tile, step.panel).rows;
        const double operations =
            2.0 * static_cast<double>(window.rows) * static_cast<double>(depth) * static_cast<double>(window.cols);
        trace_.add(Stage::multiply, label(step), from, StageTrace::Clock::now(), operations);
        if (goes_and_returns) {
            const auto back_from = StageTrace::Clock::now();
            device()->download(tile_place(schedule_, step, window), c);
            note(Stage::download, step, back_from, view_bytes(c));
        }
    }

    void write(const Piece& piece) {
        const auto from = StageTrace::Clock::now();
        const FileStep& step = piece.step;
        const std::byte* const memory = static_cast<const std::byte*>(result_view(step, piece.window).data);
        const bool first_of_tile = piece.window.row == schedule_.tile_window(step.tile).row;
        files_.result->write(*write_queue_, schedule_.result_of(step.tile), piece.window, memory, tile_stride_);
        sum_ = strip_checksum(schedule_.result(), piece.window, memory, tile_stride_, first_of_tile ? 0 : sum_);
        if (step.last_of_tile && piece.last_of_strip) {
            work_.finished(step.tile, sum_);
            ++finished_tiles_;
        }
        note(Stage::disk_write, step, from, moved_bytes(schedule_.result(), piece.window));
    }

    /// Rows of a tile in memory, stored the way the file is.
    View result_view(const FileStep& step, const FileWindow& window) const {
        const FileWindow tile = schedule_.tile_window(step.tile);
        const FileLayout& layout = schedule_.result();
        const std::int64_t stride = tile_stride_ / layout.element_bytes;
        const Type type = files_.left->type();
        const std::int64_t cols = layout.packed ? layout.bytes_of(tile.cols) : tile.cols;
        const View whole = layout.by_columns
                               ? View(tiles_[slot(step.tile_slot)].data(), type, tile.rows, cols, 1, stride)
                               : View(tiles_[slot(step.tile_slot)].data(), type, tile.rows, cols, stride, 1);
        return block(whole, window.row - tile.row, 0, window.rows, cols);
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
    TurnedBits turned_;  // of the reading thread, like the former
    std::int64_t tile_stride_ = 0;
    StageGate gate_;
    std::deque<Piece> to_download_, to_write_;                               // under the gate's mutex, like these
    bool nothing_more_to_download_ = false, nothing_more_to_write_ = false;  // when both are empty, the work is done
    std::uint64_t sum_ = 0;                                                  // of the tile that is being written
    std::int64_t finished_tiles_ = 0, multiplied_ = 0;
};

}  // namespace

TilePlace tile_place(const FileSchedule& schedule, const FileStep& step, const FileWindow& window) {
    const FileWindow tile = schedule.tile_window(step.tile);
    return {step.tile_slot, tile.rows, tile.cols, window.row - tile.row, window.rows};
}

std::int64_t run_pipeline(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles,
                          const PipelineFiles& files, const PipelineWork& work, const PipelineOptions& options,
                          StageTrace& trace) {
    return Pipeline(schedule, tiles, files, work, options, trace).run();
}

bool read_windows_again(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles,
                        const PipelineFiles& files, const PipelineWork& work, const PipelineOptions& options) {
    StageTrace trace(false);
    return Pipeline(schedule, tiles, files, work, options, trace).read_only();
}

}  // namespace heptad
