#include "move/file_steps.hpp"

#include <algorithm>

#include "base/bit_bytes.hpp"
#include "base/size.hpp"
#include "base/view_copy.hpp"
#include "io/partial_file.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kBounce_bytes = std::int64_t{1} << 20;

std::size_t at(std::int64_t slot) {
    return static_cast<std::size_t>(slot);
}

std::vector<PageBuffer> buffers_of(std::int64_t count, std::int64_t bytes) {
    std::vector<PageBuffer> buffers;
    for (std::int64_t i = 0; i < count; ++i) {
        buffers.emplace_back(bytes);
    }
    return buffers;
}

std::int64_t view_bytes(const ConstView& view) {
    return view.rows * view.cols * static_cast<std::int64_t>(element_bytes(view.type));
}

}  // namespace

// Bits of the left matrix go in the order of its columns, lowest first, where the file has the first in the highest bit
// of a byte. The right matrix and C can stay as they are: their columns only stand in another order, both alike.
FileSteps::FileSteps(const FileSchedule& schedule, const PipelineFiles& files, const PipelineWork& work,
                     const PipelineOptions& options, StageTrace& trace)
    : schedule_(schedule),
      files_(files),
      work_(work),
      options_(options),
      trace_(trace),
      read_queue_(make_io_queue(options.io)),
      write_queue_(make_io_queue(options.io)),
      left_{files.left,
            files.left_sums,
            schedule.left(),
            BitOrder::lowest_first,
            buffers_of(options.buffers.strips, options.buffers.strip_bytes),
            std::vector<ConstView>(at(options.buffers.strips))},
      right_{files.right,
             files.right_sums,
             schedule.right(),
             BitOrder::highest_first,
             buffers_of(options.buffers.panels, options.buffers.panel_bytes),
             std::vector<ConstView>(at(options.buffers.panels))},
      tiles_(buffers_of(options.buffers.tiles, options.buffers.tile_bytes)),
      turned_(options.buffers.turning_bytes) {
    const FileLayout& result = schedule.result();
    const LineWindow part = line_window(result, {0, options.tile_m, 0, options.tile_n});
    tile_stride_ = part.whole_lines ? result.pitch_bytes()
                                    : line_stride_bytes(result, part.positions,
                                                        round_up(result.bytes_of(part.positions), result.block_bytes));
}

FileSteps::~FileSteps() {
    if (device() != nullptr) {
        device()->unlock_all();  // before the buffers go
    }
}

void FileSteps::note(Stage stage, const FileStep& step, Clock::time_point from, double amount, const char* of) {
    trace_.add(stage, fmt::format("tile {} panel {} strip {}{}", step.tile, step.panel, step.strip, of), from,
               Clock::now(), amount);
}

/// Of work that returns how many bytes it moved.
template <class Work>
void FileSteps::note_bytes(Stage stage, const FileStep& step, Work&& moves) {
    const Clock::time_point from = Clock::now();
    const std::int64_t bytes = moves();
    if (bytes > 0) {
        note(stage, step, from, static_cast<double>(bytes));
    }
}

void FileSteps::load_left(const FileStep& step) {
    if (step.loads_left) {
        load(left_, step, step.left_slot, schedule_.left_window(step.tile, step.panel, step.strip));
        work_.was_read(left_window_of(step), left_.views[at(step.left_slot)]);
    }
}

void FileSteps::load_right(const FileStep& step) {
    if (step.loads_right) {
        load(right_, step, step.right_slot, schedule_.right_window(step.tile, step.panel));
        work_.was_read(right_window_of(step), right_.views[at(step.right_slot)]);
    }
}

void FileSteps::load(Operand& operand, const FileStep& step, std::int64_t slot, const FileWindow& window) {
    const Clock::time_point from = Clock::now();
    std::byte* const memory = operand.buffers[at(slot)].data();
    ConstView& view = operand.views[at(slot)];
    std::int64_t bytes = 0;
    if (operand.sums != nullptr) {
        const std::int64_t sum = schedule_.repeat_of(step.tile);
        view = operand.sums->read(*read_queue_, sum, operand.layout, window, memory);
        bytes = operand.sums->moved_bytes(sum, window);
    } else {
        view = read(operand, window, memory);
        bytes = moved_bytes(operand.layout, window);
    }
    note(Stage::disk_read, step, from, static_cast<double>(bytes));
}

ConstView FileSteps::read(const Operand& operand, const FileWindow& window, std::byte* memory) {
    if (is_turned(operand.layout)) {
        return turned_.read(*operand.file, *read_queue_, operand.layout, window, operand.bits, memory);
    }
    const ConstView view = operand.file->read(*read_queue_, operand.layout, window, memory);
    if (operand.layout.packed && operand.bits == BitOrder::lowest_first) {
        reverse_rows_of_bytes(view, memory);
    }
    return view;
}

void FileSteps::load_c0(const FileStep& step) {
    const Clock::time_point from = Clock::now();
    const FileWindow window = strip_of(step);
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
    note(Stage::disk_read, step, from, static_cast<double>(moved_bytes(layout, window)), " C0");
    work_.was_read({ReadOf::added, schedule_.result_number(step.tile, step.strip)}, strip);
}

void FileSteps::upload(const FileStep& step) {
    if (device() == nullptr) {
        return;
    }
    const auto lock_and_count = [this](Operand& operand, std::int64_t slot) {
        device()->lock(operand.buffers[at(slot)].data(), operand.buffers[at(slot)].bytes());
        return view_bytes(operand.views[at(slot)]);
    };
    note_bytes(Stage::upload, step, [&] {
        std::int64_t bytes = 0;
        if (step.loads_right) {
            bytes += lock_and_count(right_, step.right_slot);
            device()->upload_right(step.right_slot, right_.views[at(step.right_slot)]);
        }
        if (step.loads_left) {
            bytes += lock_and_count(left_, step.left_slot);
            device()->upload_left(step.left_slot, left_.views[at(step.left_slot)]);
        }
        if (tiles_on_device() && loads_c0(step)) {
            const View c0 = result_view(step, strip_of(step));
            device()->upload_result(tile_place(schedule_, step, strip_of(step)), c0);
            bytes += view_bytes(c0);
        }
        return bytes;
    });
}

void FileSteps::multiply(const FileStep& step, const std::function<void(const FilePiece&)>& complete) {
    const FileWindow strip = strip_of(step);
    work_.before(step, left_.views[at(step.left_slot)], right_.views[at(step.right_slot)], result_view(step, strip));
    if (step.panel + 1 < schedule_.panels()) {
        multiply_rows(step, strip);
        return;
    }
    const std::vector<FileWindow> pieces = schedule_.result_pieces(step.tile, step.strip);
    for (const FileWindow& window : pieces) {
        multiply_rows(step, window);
        if (!tiles_on_device()) {
            work_.completed(step, window, result_view(step, window));
        }
        complete({step, window, &window == &pieces.back()});
    }
}

void FileSteps::multiply_rows(const FileStep& step, const FileWindow& window) {
    const ConstView& a = left_.views[at(step.left_slot)];
    const ConstView& b = right_.views[at(step.right_slot)];
    const View c = result_view(step, window);
    const std::int64_t first = window.row - strip_of(step).row;
    const bool goes_and_returns = device() != nullptr && !tiles_on_device();
    if (goes_and_returns && (step.panel > 0 || files_.c0 != nullptr)) {
        note_bytes(Stage::upload, step, [&] {
            device()->upload_result(tile_place(schedule_, step, window), c);
            return view_bytes(c);
        });
    }
    const Clock::time_point from = Clock::now();
    work_.multiply(step, first, block(a, first, 0, window.rows, a.cols), b, c);
    const std::int64_t depth = schedule_.right_window(step.tile, step.panel).rows;
    note(Stage::multiply, step, from,
         2.0 * static_cast<double>(window.rows) * static_cast<double>(depth) * static_cast<double>(window.cols));
    if (goes_and_returns) {
        note_bytes(Stage::download, step, [&] {
            device()->download(tile_place(schedule_, step, window), c);
            return view_bytes(c);
        });
    }
}

void FileSteps::lock_tiles() {
    for (PageBuffer& buffer : tiles_) {
        device()->lock(buffer.data(), buffer.bytes());
    }
}

void FileSteps::download(const FilePiece& piece) {
    const View to = result_view(piece.step, piece.window);
    note_bytes(Stage::download, piece.step, [&] {
        device()->download(tile_place(schedule_, piece.step, piece.window), to);
        return view_bytes(to);
    });
    work_.completed(piece.step, piece.window, to);
}

void FileSteps::write(const FilePiece& piece) {
    note_bytes(Stage::disk_write, piece.step, [&] {
        const FileStep& step = piece.step;
        const std::byte* const memory = static_cast<const std::byte*>(result_view(step, piece.window).data);
        const bool first_of_tile = piece.window.row == schedule_.tile_window(step.tile).row;
        files_.result->write(*write_queue_, schedule_.result_of(step.tile), piece.window, memory, tile_stride_);
        sum_ = strip_checksum(schedule_.result(), piece.window, memory, tile_stride_, first_of_tile ? 0 : sum_);
        if (step.last_of_tile && piece.last_of_strip) {
            work_.finished(step.tile, sum_);
            ++finished_tiles_;
        }
        return moved_bytes(schedule_.result(), piece.window);
    });
}

/// Rows of a tile in memory, stored the way the file is.
View FileSteps::result_view(const FileStep& step, const FileWindow& window) const {
    const FileWindow tile = schedule_.tile_window(step.tile);
    const FileLayout& layout = schedule_.result();
    const std::int64_t stride = tile_stride_ / layout.element_bytes;
    const std::int64_t cols = layout.packed ? layout.bytes_of(tile.cols) : tile.cols;
    const View whole(tiles_[at(step.tile_slot)].data(), files_.left->type(), tile.rows, cols,
                     layout.by_columns ? 1 : stride, layout.by_columns ? stride : 1);
    return block(whole, window.row - tile.row, 0, window.rows, cols);
}

TilePlace tile_place(const FileSchedule& schedule, const FileStep& step, const FileWindow& window) {
    const FileWindow tile = schedule.tile_window(step.tile);
    return {step.tile_slot, tile.rows, tile.cols, window.row - tile.row, window.rows};
}

ConstView TurnedBits::read(const MatrixFile& file, IoQueue& queue, const FileLayout& layout, const FileWindow& window,
                           BitOrder order, std::byte* memory) {
    FileLayout as_stored = transposed(layout);
    as_stored.block_bytes = 1;
    const std::int64_t at_once = band_.bytes() / turned_row_bytes(layout) / kRowsTurned * kRowsTurned;
    const std::int64_t stride = round_up(as_stored.bytes_of(window.cols), 64);
    const View bytes(memory, file.type(), window.rows, as_stored.bytes_of(window.cols), stride, 1);
    for (std::int64_t i = 0; window.cols % 8 != 0 && i < window.rows; ++i) {
        // Bits beyond the last column would be those of an earlier window, and the same window not the same bytes.
        *element_pointer(bytes, i, bytes.cols - 1) = std::byte{0};
    }
    const BitView whole = bits_of_bytes(bytes, window.cols);
    for (std::int64_t first = 0; first < window.cols; first += at_once) {
        const std::int64_t count = std::min(at_once, window.cols - first);
        const ConstView band =
            file.read(queue, as_stored, {window.col + first, count, window.row, window.rows}, band_.data());
        reverse_rows_of_bytes(band, band_.data());
        const BitView part{whole.words + first / kRowsTurned, window.rows, count, whole.stride, 0};
        bits::transpose(bits_of_bytes(band, window.rows), part);
    }
    if (order == BitOrder::highest_first) {
        reverse_rows_of_bytes(bytes, memory);
    }
    return bytes;
}

}  // namespace heptad
