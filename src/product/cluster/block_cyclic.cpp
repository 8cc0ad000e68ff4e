// Products of matrices that lie block-cyclically on a grid of processes (heptad/cluster.hpp).
//
// The product's own grid of ranks (plan/search/cluster_grid.hpp) is chosen whatever the layout. Rank (i, l, j) needs
// the windows A(i, l) and B(l, j); both sides of every message know which rows and columns of a window the sender
// holds, so messages are the elements alone, column by column.
#include <heptad/cluster.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/complex_as_real.hpp"
#include "base/errors_only.hpp"
#include "base/fail_if.hpp"
#include "base/matrix.hpp"
#include "base/types.hpp"
#include "base/view_copy.hpp"
#include "product/cluster/rank_work.hpp"
#include "product/memory/validate.hpp"

namespace heptad {
namespace {

/// Indices side by side, `local` being the place of the first among what their process holds.
struct Run {
    std::int64_t begin = 0, count = 0, local = 0;
};

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
    std::vector<Run> held(const IndexRange& range, std::int64_t process) const {
        std::vector<Run> runs;
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

std::int64_t first_block_rows(const BlockCyclicMatrix& matrix) {
    return matrix.first_row_block == 0 ? matrix.row_block : matrix.first_row_block;
}
std::int64_t first_block_cols(const BlockCyclicMatrix& matrix) {
    return matrix.first_col_block == 0 ? matrix.col_block : matrix.first_col_block;
}

/// A window of the whole matrix.
struct WindowRanges {
    IndexRange rows, cols;

    std::int64_t height() const { return rows.size(); }
    std::int64_t width() const { return cols.size(); }
};

/// The rows and columns of a window that one process holds. There they lie side by side.
struct HeldElements {
    std::vector<Run> rows, cols;

    static std::int64_t count(const std::vector<Run>& runs) {
        return std::accumulate(runs.begin(), runs.end(), std::int64_t{0},
                               [](std::int64_t sum, const Run& run) { return sum + run.count; });
    }
    std::int64_t height() const { return count(rows); }
    std::int64_t width() const { return count(cols); }
    /// visit(block, the same of what is held): all blocks that a view of the window has in common with it.
    template <class AnyView, class HeldView, class Visit>
    void for_each_block(const WindowRanges& window, const AnyView& all, const HeldView& held, Visit&& visit) const {
        std::int64_t col = 0;
        for (const Run& across : cols) {
            std::int64_t row = 0;
            for (const Run& down : rows) {
                visit(heptad::block(all, down.begin - window.rows.begin, across.begin - window.cols.begin, down.count,
                                    across.count),
                      heptad::block(held, row, col, down.count, across.count));
                row += down.count;
            }
            col += across.count;
        }
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

/// The processes of a grid one by one, and what they all find out together.
class Processes {
public:
    Processes(const ProcessGrid& grid, const RankExchange& exchange)
        : grid_(grid),
          exchange_(exchange),
          count_(grid.rows * grid.cols),
          own_(grid.my_row * grid.cols + grid.my_col) {}

    int count() const { return count_; }
    int own() const { return own_; }

    /// In round t everybody sends to the t-th one after it and receives from the t-th one before it.
    template <class Round>
    void in_rounds(Round&& round) const {
        for (int t = 0; t < count_; ++t) {
            round((own_ + t) % count_, (own_ - t + count_) % count_);
        }
    }
    /// Not for messages to itself.
    void exchange(int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
                  std::int64_t received_bytes) const {
        exchange_(rank_of(to), sent, sent_bytes, rank_of(from), received, received_bytes);
    }

    /// Carries out a step that sends nothing. What one process throws there, all throw: those that went on would wait
    /// for its messages for ever.
    template <class Step>
    void agree(Step&& step) const {
        std::array<char, 1024> told{};  // a code and a sentence, or nothing
        const auto tell = [&](ErrorCode code, std::string_view sentence) {
            told[0] = static_cast<char>(code);
            sentence.copy(told.data() + 1, told.size() - 2);
        };
        try {
            try {
                step();
            } catch (...) {
                rethrow_as_error();
            }
        } catch (const Error& error) {
            tell(error.code(), error.what());
        } catch (const std::exception& error) {
            tell(ErrorCode::internal, error.what());
        } catch (...) {
            tell(ErrorCode::internal, "an exception that is not a std::exception was thrown");
        }
        int first = count_;
        std::array<char, 1024> of_first{}, received{};
        in_rounds([&](int to, int from) {
            if (to == own_) {
                received = told;
            } else {
                exchange(to, told.data(), std::ssize(told), from, received.data(), std::ssize(received));
            }
            if (received[0] != 0 && from < first) {  // the same one everywhere
                first = from;
                of_first = received;
            }
        });
        if (first < count_) {
            const auto code = static_cast<ErrorCode>(static_cast<unsigned char>(of_first[0]));
            fail_if(code == ErrorCode::resource && count_ > 1, code, "process ({}, {}) of the grid: {}",
                    first / grid_.cols, first % grid_.cols, of_first.data() + 1);
            fail(code, "{}", of_first.data() + 1);
        }
    }

private:
    int rank_of(int process) const { return grid_.ranks[static_cast<std::size_t>(process)]; }

    const ProcessGrid& grid_;
    const RankExchange& exchange_;
    const int count_, own_;
};

/// A window of a matrix for every process. Who sends which elements to whom is found out beforehand, and there is
/// memory for every message: while messages are under way nothing can fail here alone.
class SpreadWindows {
public:
    /// `window_of`: of a process, as rows and columns of the whole matrix.
    template <class WindowOf>
    SpreadWindows(const BlockCyclicMatrix& matrix, const ProcessGrid& grid, const Processes& processes,
                  WindowOf&& window_of)
        : type_(matrix.type), own_(window_of(processes.own())) {
        const SpreadMatrix spread(matrix, grid);
        for (int process = 0; process < processes.count(); ++process) {
            there_.push_back(spread.held(own_, process));
            here_.push_back(spread.here(window_of(process)));
        }
    }

    /// Memory for the window of this process, column-major.
    Matrix window() const { return {type_, own_.height(), own_.width(), Order::column_major}; }

    void make_room_to_gather(const Processes& processes) { make_room(processes, false); }
    void make_room_to_give_back(const Processes& processes) { make_room(processes, true); }

    /// `whole` becomes the window of this process. Precondition: there is room to gather, which is freed.
    void gather(const Processes& processes, Matrix& whole) {
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
    static std::int64_t bytes_of(const View& view) { return matrix_bytes(view.type, view.rows, view.cols); }

    static void exchange(const Processes& processes, int to, const View& sent, int from, const View& received) {
        processes.exchange(to, sent.data, bytes_of(sent), from, received.data, bytes_of(received));
    }

    void make_room(const Processes& processes, bool for_itself) {
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
    void free_room() {
        of_there_ = Matrix();
        of_here_ = Matrix();
    }

    Type type_ = Type::f32;
    WindowRanges own_;
    std::vector<HeldElements> there_;  // of the own window, by every process
    std::vector<View> here_;           // of the windows of every process, by this one
    Matrix of_there_, of_here_;        // one message each
};

class BlockCyclicProduct {
public:
    BlockCyclicProduct(const ProblemSize& size, const BlockCyclicPart& a, const BlockCyclicPart& b,
                       const BlockCyclicPart& c, const ProcessGrid& grid, const Processes& processes, Factor beta,
                       bool whole_k)
        : size_(size),
          processes_(processes),
          // The rates of a usual cluster: with any of them all processes decide alike.
          ranks_(best_grid(size, c.matrix.type, processes.count(), {}, whole_k)),
          whole_k_(whole_k),
          a_(a.matrix, grid, processes, [&](int p) { return in_matrix(a, operand_window(p, true)); }),
          b_(b.matrix, grid, processes, [&](int p) { return in_matrix(b, operand_window(p, false)); }),
          c_(c.matrix, grid, processes, [&](int p) { return in_matrix(c, result_ranges(p)); }),
          c_here_(SpreadMatrix(c.matrix, grid).here(in_matrix(c, {{0, size.m}, {0, size.n}}))),
          a_block_(a_.window()),
          b_block_(b_.window()),
          partial_(c_.window()) {
        a_.make_room_to_gather(processes);
        b_.make_room_to_gather(processes);
        if (gathers_result(beta)) {
            c_.make_room_to_gather(processes);
        }
    }

    void run(Factor alpha, const BlockCyclicPart& a, const BlockCyclicPart& b, Factor beta, const Options& options,
             int threads) {
        a_.gather(processes_, a_block_);
        b_.gather(processes_, b_block_);
        if (gathers_result(beta)) {
            c_.gather(processes_, partial_);
        }
        processes_.agree([&] {
            if (is_busy(processes_.own())) {
                const ConstView left =
                    conjugated(a.transpose ? transposed(a_block_.view()) : a_block_.view(), a.conjugate);
                const ConstView right =
                    conjugated(b.transpose ? transposed(b_block_.view()) : b_block_.view(), b.conjugate);
                multiply_in_memory(alpha, left, right, whole_k_ ? beta : 0, partial_.view(), options,
                                   {.threads = threads});
            }
            a_block_ = Matrix();
            b_block_ = Matrix();
            c_.make_room_to_give_back(processes_);
        });
        return_result(beta, threads);
    }

private:
    /// C is part of what is rounded once.
    bool gathers_result(Factor beta) const { return whole_k_ && beta != 0.0; }
    bool is_busy(int process) const { return process < ranks_.ranks(); }

    /// What a process needs of op(A) or op(B); nothing if it is idle.
    WindowRanges operand_window(int process, bool left) const {
        if (!is_busy(process)) {
            return {};
        }
        const GridPlace place = place_in_grid(ranks_, process);
        const IndexRange inner = split_range(size_.k, ranks_.pk, place.l);
        return left ? WindowRanges{split_range(size_.m, ranks_.pm, place.i), inner}
                    : WindowRanges{inner, split_range(size_.n, ranks_.pn, place.j)};
    }
    WindowRanges result_ranges(int process) const {
        if (!is_busy(process)) {
            return {};
        }
        const GridPlace place = place_in_grid(ranks_, process);
        return {split_range(size_.m, ranks_.pm, place.i), split_range(size_.n, ranks_.pn, place.j)};
    }

    /// From a window of op(part) to one of the whole matrix as it lies.
    static WindowRanges in_matrix(const BlockCyclicPart& part, const WindowRanges& window) {
        const WindowRanges& w = window;
        const IndexRange rows = part.transpose ? w.cols : w.rows, cols = part.transpose ? w.rows : w.cols;
        return {{rows.begin + part.row, rows.end + part.row}, {cols.begin + part.col, cols.end + part.col}};
    }

    /// Everybody sends the holders of C what it computed of theirs, and puts what it gets to what is there. Who finds
    /// no memory or threads for that goes on with the messages and says so in the end.
    void return_result(Factor beta, int threads) {
        std::exception_ptr problem;
        const auto attempt = [&](auto&& step) {
            try {
                step();
            } catch (...) {
                problem = problem ? problem : std::current_exception();
            }
        };
        if (!whole_k_) {
            attempt([&] { scale_in_memory(beta, c_here_, threads); });
        }
        c_.give_back(processes_, partial_, [&](const View& from, const View& to) {
            attempt([&] { whole_k_ ? copy_view(from, to) : add_partial_sum(to, from, threads); });
        });
        processes_.agree([&] {
            if (problem) {
                std::rethrow_exception(problem);
            }
        });
    }

    const ProblemSize size_;
    const Processes& processes_;
    const ClusterGrid ranks_;
    const bool whole_k_;
    SpreadWindows a_, b_, c_;
    const View c_here_;
    Matrix a_block_, b_block_, partial_;
};

void require_inside(const char* name, const BlockCyclicPart& part, std::int64_t rows, std::int64_t cols) {
    const BlockCyclicMatrix& matrix = part.matrix;
    if (part.transpose) {
        std::swap(rows, cols);
    }
    fail_if(part.row < 0 || part.col < 0 || rows > matrix.rows - part.row || cols > matrix.cols - part.col,
            ErrorCode::input, "a part of {} x {} at ({}, {}) is not inside {}, which is {} x {}", rows, cols, part.row,
            part.col, name, matrix.rows, matrix.cols);
    for (const auto& [block_rows, block_cols] :
         {std::pair{matrix.row_block, matrix.col_block}, {first_block_rows(matrix), first_block_cols(matrix)}}) {
        fail_if(block_rows < 1 || block_cols < 1, ErrorCode::usage,
                "{} has blocks of {} x {}; they hold at least one element", name, block_rows, block_cols);
    }
}

}  // namespace

void multiply_block_cyclic(const ProblemSize& size, std::complex<double> alpha, const BlockCyclicPart& a,
                           const BlockCyclicPart& b, std::complex<double> beta, const BlockCyclicPart& c,
                           const ProcessGrid& grid, const RankExchange& exchange, const Options& options,
                           int threads) try {
    // Without this nobody knows whom to tell of anything else.
    fail_if(grid.ranks.size() != static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.cols),
            ErrorCode::usage, "a grid of {} x {} processes has {} ranks", grid.rows, grid.cols, grid.ranks.size());
    const Processes processes(grid, exchange);
    std::optional<BlockCyclicProduct> product;
    processes.agree([&] {
        const Type type = c.matrix.type;
        fail_if(type != a.matrix.type || type != b.matrix.type ||
                    (type != Type::f64 && type != Type::f32 && !is_integer(type) && !is_complex(type)),
                ErrorCode::usage,
                "block-cyclic products are of f64, f32, c128, c64, i32 or i64, all matrices alike, not {} * {} -> {}",
                type_name(a.matrix.type), type_name(b.matrix.type), type_name(type));
        fail_if(c.transpose || c.conjugate, ErrorCode::usage,
                "C cannot be transposed or conjugated; exchange A and B, or conjugate those instead");
        validate_factors(alpha, beta, type);
        require_inside("A", a, size.m, size.k);
        require_inside("B", b, size.k, size.n);
        require_inside("C", c, size.m, size.n);
        product.emplace(size, a, b, c, grid, processes, beta, takes_whole_k(options.accuracy, type));
    });
    product->run(alpha, a, b, beta, options, threads);
} catch (...) {
    rethrow_as_error();
}

}  // namespace heptad
