#include "product/cluster/spread_windows.hpp"

#include "base/types.hpp"

namespace heptad {

std::int64_t first_block_rows(const BlockCyclicMatrix& matrix) {
    return matrix.first_row_block == 0 ? matrix.row_block : matrix.first_row_block;
}
std::int64_t first_block_cols(const BlockCyclicMatrix& matrix) {
    return matrix.first_col_block == 0 ? matrix.col_block : matrix.first_col_block;
}

namespace {

/// One dimension of a block-cyclic layout.
struct Dealing {
    std::int64_t first_block = 1, block = 1;
    std::int64_t first = 0;  // process of the first block
    std::int64_t processes = 1;

    std::int64_t number(std::int64_t index) const {
        return index < first_block ? 0 : 1 + (index - first_block) / block;
    }
    std::int64_t end_of(std::int64_t numbered) const { return first_block + numbered * block; }
    std::int64_t owner(std::int64_t index) const { return (number(index) + first) % processes; }
    /// Its place among what the owner holds.
    std::int64_t local(std::int64_t index) const {
        const std::int64_t in = number(index);
        if (in == 0) {
            return index;
        }
        const std::int64_t before = in / processes * block + (in % processes == 0 ? first_block - block : 0);
        return before + index - end_of(in - 1);
    }
    /// The indices of a range that a process holds, ascending.
    std::vector<HeldRun> held(const IndexRange& range, std::int64_t process) const {
        std::vector<HeldRun> runs;
        for (std::int64_t index = range.begin; index < range.end;) {
            const std::int64_t end = std::min(range.end, end_of(number(index)));
            if (owner(index) == process) {
                runs.push_back({index, end - index, local(index)});
            }
            index = end;
        }
        return runs;
    }
};

class SpreadMatrix {
public:
    SpreadMatrix(const BlockCyclicMatrix& matrix, const ProcessGrid& grid)
        : matrix_(matrix),
          grid_(grid),
          down_{first_block_rows(matrix), matrix.row_block, matrix.first_process_row, grid.rows},
          across_{first_block_cols(matrix), matrix.col_block, matrix.first_process_col, grid.cols} {}

    /// Of a window, process (p / cols, p % cols) has:
    HeldElements held(const WindowRanges& window, int process) const {
        return {down_.held(window.rows, process / grid_.cols), across_.held(window.cols, process % grid_.cols)};
    }
    /// The elements of a window that this process holds.
    View here(const WindowRanges& window) const {
        const auto [rows, cols] = held(window, grid_.my_row * grid_.cols + grid_.my_col);
        if (rows.empty() || cols.empty()) {
            return {nullptr, matrix_.type, 0, 0, 1, 1};
        }
        const View all(matrix_.data, matrix_.type, matrix_.leading, matrix_.cols, 1, matrix_.leading);
        return block(all, rows.front().local, cols.front().local, HeldElements::count(rows), HeldElements::count(cols));
    }

private:
    const BlockCyclicMatrix& matrix_;
    const ProcessGrid& grid_;
    const Dealing down_, across_;
};

}  // namespace

View held_here(const BlockCyclicMatrix& matrix, const ProcessGrid& grid, const WindowRanges& window) {
    return SpreadMatrix(matrix, grid).here(window);
}

SpreadWindows::SpreadWindows(const BlockCyclicMatrix& matrix, const ProcessGrid& grid, const Processes& processes,
                             const std::vector<WindowRanges>& windows)
    : type_(matrix.type), own_(windows[static_cast<std::size_t>(processes.own())]) {
    const SpreadMatrix spread(matrix, grid);
    for (int process = 0; process < processes.count(); ++process) {
        there_.push_back(spread.held(own_, process));
        here_.push_back(spread.here(windows[static_cast<std::size_t>(process)]));
    }
}

void SpreadWindows::gather(const Processes& processes, Matrix& whole) {
    processes.in_rounds([&](int to, int from) {
        const View& given = here_[static_cast<std::size_t>(to)];
        const HeldElements& got = there_[static_cast<std::size_t>(from)];
        View received = given;  // what a process gives itself needs no message
        if (to != processes.own()) {
            const View sent = dense(of_here_, given.rows, given.cols);
            copy_view(given, sent);
            received = dense(of_there_, got.height(), got.width());
            exchange(processes, to, sent, from, received);
        }
        got.for_each_block(own_, whole.view(), received,
                           [](const View& block, const View& held) { copy_view(held, block); });
    });
    free_room();
}

void SpreadWindows::exchange(const Processes& processes, int to, const View& sent, int from, const View& received) {
    const auto bytes_of = [](const View& view) { return matrix_bytes(view.type, view.rows, view.cols); };
    processes.exchange(to, sent.data, bytes_of(sent), from, received.data, bytes_of(received));
}

void SpreadWindows::make_room(const Processes& processes, bool for_itself) {
    std::int64_t most_there = 0, most_here = 0;
    for (int process = 0; process < processes.count(); ++process) {
        const auto at = static_cast<std::size_t>(process);
        if (process != processes.own() || for_itself) {
            most_there = std::max(most_there, there_[at].height() * there_[at].width());
        }
        if (process != processes.own()) {
            most_here = std::max(most_here, here_[at].rows * here_[at].cols);
        }
    }
    of_there_ = Matrix(type_, most_there, 1, Order::column_major);
    of_here_ = Matrix(type_, most_here, 1, Order::column_major);
}

void SpreadWindows::free_room() {
    of_there_ = Matrix();
    of_here_ = Matrix();
}

}  // namespace heptad
