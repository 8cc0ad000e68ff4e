#include "product/cluster/distribution.hpp"

#include <algorithm>
#include <iterator>

#include "base/matrix.hpp"
#include "io/checksum.hpp"

namespace heptad {
namespace {

constexpr std::size_t kWindowsInMemory = 2;  // between two stages

using SharedMatrix = std::shared_ptr<const Matrix>;  // being written and sent at once
using Windows = Channel<SharedMatrix>;

SharedMatrix read_window(const Distribution& to, const Window& window) {
    auto matrix = std::make_shared<Matrix>(to.plan.type, window.rows, window.cols);
    to.trace.time(Stage::disk_read, [&] { to.file->read(window, matrix->data()); });
    return matrix;
}

/// The checksum of all windows; see ScratchSource::sum().
std::uint64_t write_scratch(const Distribution& to, Windows& windows) {
    std::uint64_t sum = 0;
    for (std::size_t index = 0; index < to.scratch.count(); ++index) {
        const SharedMatrix matrix = windows.pop();
        to.trace.time(Stage::disk_write, [&] { to.scratch.write(index, matrix->data()); });
        sum = checksum(matrix->data(), matrix->size_bytes(), sum);
    }
    return sum;
}

void send_window(const Distribution& to, std::int64_t rank, const SharedMatrix& matrix) {
    to.trace.time(Stage::send, [&] { to.ranks.send(static_cast<int>(rank), matrix->data(), matrix->size_bytes()); });
}

/// Whose window goes when: one of each rank, then the next ones, so that all disks write at the same time.
struct Turn {
    std::int64_t rank = 0;
    Window window;
};

std::vector<Turn> turns_of(const std::function<std::vector<Window>(std::int64_t)>& windows_of, std::int64_t ranks) {
    std::vector<std::vector<Window>> all;
    std::size_t most = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        all.push_back(windows_of(rank));
        most = std::max(most, all.back().size());
    }
    std::vector<Turn> turns;
    for (std::size_t index = 0; index < most; ++index) {
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            const std::vector<Window>& windows = all[static_cast<std::size_t>(rank)];
            if (index < windows.size()) {
                turns.push_back({rank, windows[index]});
            }
        }
    }
    return turns;
}

/// The one stage that every rank has writes what `moves` pushes for its own scratch; at the root another one reads
/// `windows` for it. The checksum of what was written.
template <class Moves>
std::uint64_t with_scratch_written(const Distribution& to, const std::vector<Window>& windows, Moves&& moves) {
    std::uint64_t sum = 0;
    Windows read(to.failure, kWindowsInMemory), kept(to.failure, kWindowsInMemory);
    Stages stages(to.failure);
    stages.start([&] { sum = write_scratch(to, kept); });
    if (to.ranks.rank() == 0) {
        stages.start([&] {
            for (const Window& window : windows) {
                read.push(read_window(to, window));
            }
        });
    }
    stages.run_here_and_finish([&] { moves(read, kept); });
    return sum;
}

/// Receives a window, and at the same time passes the one before it on to `next` (-1: to nobody).
SharedMatrix receive_window(const Distribution& to, int from, const Window& window, int next,
                            const SharedMatrix& before) {
    auto matrix = std::make_shared<Matrix>(to.plan.type, window.rows, window.cols);
    to.trace.time(Stage::receive, [&] {
        to.ranks.exchange(before ? next : -1, before ? before->data() : nullptr, before ? before->size_bytes() : 0,
                          from, matrix->data(), matrix->size_bytes());
    });
    return matrix;
}

}  // namespace

std::uint64_t scatter_windows(const Distribution& distribution,
                              const std::function<std::vector<Window>(std::int64_t rank)>& windows_of) {
    const Distribution& to = distribution;
    if (to.ranks.rank() != 0) {
        return with_scratch_written(to, {}, [&](Windows&, Windows& kept) {
            for (const Window& window : windows_of(to.ranks.rank())) {
                kept.push(receive_window(to, 0, window, -1, nullptr));
            }
        });
    }
    const std::vector<Turn> turns = turns_of(windows_of, to.plan.rank->ranks);
    std::vector<Window> windows;
    std::transform(turns.begin(), turns.end(), std::back_inserter(windows),
                   [](const Turn& turn) { return turn.window; });
    return with_scratch_written(to, windows, [&](Windows& read, Windows& kept) {
        for (const Turn& turn : turns) {
            SharedMatrix matrix = read.pop();
            if (turn.rank == 0) {
                kept.push(std::move(matrix));
            } else {
                send_window(to, turn.rank, matrix);
            }
        }
    });
}

std::uint64_t broadcast_windows(const Distribution& distribution, const std::vector<Window>& windows, Broadcast how) {
    const Distribution& to = distribution;
    const int rank = to.ranks.rank(), ranks = to.ranks.size();
    const bool chain = how == Broadcast::pipelined;
    return with_scratch_written(to, windows, [&](Windows& read, Windows& kept) {
        const int receivers = how == Broadcast::linear ? ranks - 1 : std::min(ranks - 1, 1);
        const int next = chain && rank + 1 < ranks ? rank + 1 : -1;
        SharedMatrix before;
        for (const Window& window : windows) {
            if (rank == 0) {
                before = read.pop();
                for (int receiver = 1; receiver <= receivers; ++receiver) {
                    send_window(to, receiver, before);
                }
            } else {
                before = receive_window(to, chain ? rank - 1 : 0, window, next, before);
            }
            kept.push(before);
        }
        if (rank > 0 && next >= 0 && before) {
            send_window(to, next, before);
        }
    });
}

void collect_result(const ProductPlan& plan, Communicator& ranks, const WindowWriter* own, StageTrace& trace) {
    if (ranks.rank() != 0) {
        for (const Window& slice : slices(result_window(plan, ranks.rank()), plan.type)) {
            Matrix elements(plan.type, slice.rows, slice.cols);
            trace.time(Stage::disk_read, [&] { own->read(slice, elements.data()); });
            trace.time(Stage::send, [&] { ranks.send(0, elements.data(), elements.size_bytes()); });
        }
        return;
    }
    for (int rank = 1; rank < ranks.size(); ++rank) {
        for (const Window& slice : slices(result_window(plan, rank), plan.type)) {
            Matrix elements(plan.type, slice.rows, slice.cols);
            trace.time(Stage::receive, [&] { ranks.receive(rank, elements.data(), elements.size_bytes()); });
            trace.time(Stage::disk_write, [&] { own->write(slice, elements.data()); });
        }
    }
}

}  // namespace heptad
