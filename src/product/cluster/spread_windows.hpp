// Windows of a matrix that lies block-cyclically on a grid of processes: from those that hold its elements to one
// process each, and back.
//
// Both sides of every message know which rows and columns of a window the sender holds, so messages are the elements
// alone, column by column.
#pragma once

#include <heptad/cluster.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/matrix.hpp"
#include "base/view_copy.hpp"
#include "plan/search/cluster_grid.hpp"
#include "product/cluster/processes.hpp"

namespace heptad {

std::int64_t first_block_rows(const BlockCyclicMatrix& matrix);
std::int64_t first_block_cols(const BlockCyclicMatrix& matrix);

/// A window of the whole matrix.
struct WindowRanges {
    IndexRange rows, cols;

    std::int64_t height() const { return rows.size(); }
    std::int64_t width() const { return cols.size(); }
};

/// The elements of a window that this process holds.
View held_here(const BlockCyclicMatrix& matrix, const ProcessGrid& grid, const WindowRanges& window);

/// Indices side by side, `local` being the place of the first among what their process holds.
struct HeldRun {
    std::int64_t begin = 0, count = 0, local = 0;
};

/// The rows and columns of a window that one process holds. There they lie side by side.
struct HeldElements {
    std::vector<HeldRun> rows, cols;

    static std::int64_t count(const std::vector<HeldRun>& runs) {
        return std::accumulate(runs.begin(), runs.end(), std::int64_t{0},
                               [](std::int64_t sum, const HeldRun& run) { return sum + run.count; });
    }
    std::int64_t height() const { return count(rows); }
    std::int64_t width() const { return count(cols); }
    /// visit(block, the same of what is held): all blocks that a view of the window has in common with it.
    template <class AnyView, class HeldView, class Visit>
    void for_each_block(const WindowRanges& window, const AnyView& all, const HeldView& held, Visit&& visit) const {
        std::int64_t col = 0;
        for (const HeldRun& across : cols) {
            std::int64_t row = 0;
            for (const HeldRun& down : rows) {
                visit(heptad::block(all, down.begin - window.rows.begin, across.begin - window.cols.begin, down.count,
                                    across.count),
                      heptad::block(held, row, col, down.count, across.count));
                row += down.count;
            }
            col += across.count;
        }
    }
};

/// A window of a matrix for every process. Who sends which elements to whom is found out beforehand, and there is
/// memory for every message: while messages are under way nothing can fail here alone.
class SpreadWindows {
public:
    /// `windows`: of every process, as rows and columns of the whole matrix.
    SpreadWindows(const BlockCyclicMatrix& matrix, const ProcessGrid& grid, const Processes& processes,
                  const std::vector<WindowRanges>& windows);

    /// Memory for the window of this process, column-major.
    Matrix window() const { return {type_, own_.height(), own_.width(), Order::column_major}; }

    void make_room_to_gather(const Processes& processes) { make_room(processes, false); }
    void make_room_to_give_back(const Processes& processes) { make_room(processes, true); }

    /// `whole` becomes the window of this process. Precondition: there is room to gather, which is freed.
    void gather(const Processes& processes, Matrix& whole);

    /// Every process gets what all have computed of the elements it holds: put(from, to), which does not throw.
    /// Precondition: there is room to give back, which is freed.
    template <class Put>
    void give_back(const Processes& processes, Matrix& whole, Put&& put) {
        processes.in_rounds([&](int to, int from) {
            const HeldElements& given = there_[static_cast<std::size_t>(to)];
            const View& place = here_[static_cast<std::size_t>(from)];
            const View sent = dense(of_there_, given.height(), given.width());
            given.for_each_block(own_, whole.view(), sent,
                                 [](const View& block, const View& held) { copy_view(block, held); });
            View received = sent;
            if (to != processes.own()) {
                received = dense(of_here_, place.rows, place.cols);
                exchange(processes, to, sent, from, received);
            }
            put(received, place);
        });
        free_room();
    }

private:
    static View dense(Matrix& memory, std::int64_t rows, std::int64_t cols) {
        return {memory.data(), memory.type(), rows, cols, 1, std::max<std::int64_t>(rows, 1)};
    }
    static void exchange(const Processes& processes, int to, const View& sent, int from, const View& received);
    void make_room(const Processes& processes, bool for_itself);
    void free_room();

    Type type_ = Type::f32;
    WindowRanges own_;
    std::vector<HeldElements> there_;  // of the own window, by every process
    std::vector<View> here_;           // of the windows of every process, by this one
    Matrix of_there_, of_here_;        // one message each
};

}  // namespace heptad
