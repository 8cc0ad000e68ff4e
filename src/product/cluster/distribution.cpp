#include "product/cluster/distribution.hpp"

#include <algorithm>

#include "base/matrix.hpp"
#include "io/checksum.hpp"

namespace heptad {
namespace {

constexpr std::size_t kWindowsInMemory = 2;                        // between two stages
constexpr std::int64_t kCollected_bytes = std::int64_t{16} << 20;  // of C at a time

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

std::uint64_t scatter_from_root(const Distribution& to, const std::vector<Turn>& turns) {
    std::uint64_t sum = 0;
    Windows read(to.failure, kWindowsInMemory), kept(to.failure, kWindowsInMemory);
    Stages stages(to.failure);
    stages.start([&] {
        for (const Turn& turn : turns) {
            read.push(read_window(to, turn.window));
        }
    });
    stages.start([&] { sum = write_scratch(to, kept); });
    stages.run_here_and_finish([&] {
        for (const Turn& turn : turns) {
            SharedMatrix matrix = read.pop();
            if (turn.rank == 0) {
                kept.push(std::move(matrix));
            } else {
                send_window(to, turn.rank, matrix);
            }
        }
    });
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

/// Rows of a part of C that are sent at a time.
std::vector<Window> slices(const Window& part, Type type) {
    const std::int64_t row_bytes =
        std::max<std::int64_t>(1, part.cols * static_cast<std::int64_t>(element_bytes(type)));
    const std::int64_t height = std::max<std::int64_t>(1, kCollected_bytes / row_bytes);
    std::vector<Window> result;
    for (std::int64_t row = 0; row < part.rows; row += height) {
        result.push_back({part.row + row, part.col, std::min(height, part.rows - row), part.cols});
    }
    return result;
}

}  // namespace

std::uint64_t scatter_windows(const Distribution& distribution,
                              const std::function<std::vector<Window>(std::int64_t rank)>& windows_of) {
    if (distribution.ranks.rank() == 0) {
        return scatter_from_root(distribution, turns_of(windows_of, distribution.plan.rank->ranks));
    }
    std::uint64_t sum = 0;
    Windows received(distribution.failure, kWindowsInMemory);
    Stages stages(distribution.failure);
    stages.start([&] { sum = write_scratch(distribution, received); });
    stages.run_here_and_finish([&] {
        for (const Window& window : windows_of(distribution.ranks.rank())) {
            received.push(receive_window(distribution, 0, window, -1, nullptr));
        }
    });
    return sum;
}

std::uint64_t broadcast_windows(const Distribution& distribution, const std::vector<Window>& windows, Broadcast how) {
    const Distribution& to = distribution;
    std::uint64_t sum = 0;
    const int rank = to.ranks.rank(), ranks = to.ranks.size();
    Windows read(to.failure, kWindowsInMemory), kept(to.failure, kWindowsInMemory);
    Stages stages(to.failure);
    stages.start([&] { sum = write_scratch(to, kept); });
    if (rank == 0) {
        stages.start([&] {
            for (const Window& window : windows) {
                read.push(read_window(to, window));
            }
        });
        stages.run_here_and_finish([&] {
            const int receivers = how == Broadcast::linear ? ranks - 1 : std::min(ranks - 1, 1);
            for (std::size_t index = 0; index < windows.size(); ++index) {
                SharedMatrix matrix = read.pop();
                for (int receiver = 1; receiver <= receivers; ++receiver) {
                    send_window(to, receiver, matrix);
                }
                kept.push(std::move(matrix));
            }
        });
        return sum;
    }
    stages.run_here_and_finish([&] {
        const bool chain = how == Broadcast::pipelined;
        const int next = chain && rank + 1 < ranks ? rank + 1 : -1;
        SharedMatrix before;
        for (const Window& window : windows) {
            before = receive_window(to, chain ? rank - 1 : 0, window, next, before);
            kept.push(before);
        }
        if (next >= 0 && before) {
            send_window(to, next, before);
        }
    });
    return sum;
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
