// Products of matrices that lie block-cyclically on a grid of processes (heptad/cluster.hpp).
//
// The product's own grid of ranks (plan/search/cluster_grid.hpp) is chosen whatever the layout. Rank (i, l, j) needs
// the windows A(i, l) and B(l, j); both sides of every message know which rows and columns of a window the sender
// holds, so messages are the elements alone, column by column.
#include <heptad/cluster.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
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
    /// Memory for them alone.
    Matrix block(Type type) const { return {type, count(rows), count(cols), Order::column_major}; }
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

class BlockCyclicProduct {
public:
    BlockCyclicProduct(const ProblemSize& size, const BlockCyclicPart& c, const ProcessGrid& grid,
                       const RankExchange& exchange, bool whole_k)
        : size_(size),
          grid_(grid),
          exchange_(exchange),
          processes_(grid.rows * grid.cols),
          own_(grid.my_row * grid.cols + grid.my_col),
          // The rates of a usual cluster: with any of them all processes decide alike.
          ranks_(best_grid(size, c.matrix.type, processes_, {}, whole_k)),
          whole_k_(whole_k) {}

    void run(Factor alpha, const BlockCyclicPart& a, const BlockCyclicPart& b, Factor beta, const BlockCyclicPart& c,
             const Options& options, int threads) {
        const Matrix a_block = gather(a, [&](int p) { return operand_window(p, true); });
        const Matrix b_block = gather(b, [&](int p) { return operand_window(p, false); });
        const ConstView left = conjugated(a.transpose ? transposed(a_block.view()) : a_block.view(), a.conjugate);
        const ConstView right = conjugated(b.transpose ? transposed(b_block.view()) : b_block.view(), b.conjugate);
        const auto multiply = [&](Factor factor_of_c, Matrix& to) {
            if (is_busy(own_)) {
                multiply_in_memory(alpha, left, right, factor_of_c, to.view(), options, {.threads = threads});
            }
        };
        const WindowRanges window = result_ranges(own_);
        Matrix partial;
        if (whole_k_) {  // C is part of what is rounded once
            partial = beta != 0.0 ? gather(c, [&](int p) { return result_ranges(p); })
                                  : Matrix(c.matrix.type, window.height(), window.width(), Order::column_major);
            agree([&] { multiply(beta, partial); });
            return return_result(c, partial, copy_view);
        }
        partial = Matrix(c.matrix.type, window.height(), window.width(), Order::column_major);
        multiply(0, partial);
        scale_in_memory(beta, SpreadMatrix(c.matrix, grid_).here({{c.row, c.row + size_.m}, {c.col, c.col + size_.n}}),
                        threads);
        return_result(c, partial, [&](const View& from, const View& to) { add_partial_sum(to, from, threads); });
    }

private:
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

    /// In round t everybody sends to the t-th one after it and receives from the t-th one before it.
    template <class Round>
    void in_rounds(Round&& round) const {
        for (int t = 0; t < processes_; ++t) {
            round((own_ + t) % processes_, (own_ - t + processes_) % processes_);
        }
    }
    int rank_of(int process) const { return grid_.ranks[static_cast<std::size_t>(process)]; }

    /// What goes to `to` becomes what comes from `from`; what a process gives itself needs no message.
    void pass(int to, Matrix& sent, int from, Matrix& received) const {
        if (to == own_) {
            received = std::move(sent);
        } else {
            exchange_(rank_of(to), sent.data(), sent.size_bytes(), rank_of(from), received.data(),
                      received.size_bytes());
        }
    }

    /// The window of the matrix that this process needs, as it lies there (not transposed), column-major.
    template <class WindowOf>
    Matrix gather(const BlockCyclicPart& part, WindowOf&& window_of) const {
        const SpreadMatrix spread(part.matrix, grid_);
        const Type type = part.matrix.type;
        const WindowRanges wanted = in_matrix(part, window_of(own_));
        Matrix whole(type, wanted.height(), wanted.width(), Order::column_major);
        in_rounds([&](int to, int from) {
            const View given = spread.here(in_matrix(part, window_of(to)));
            const HeldElements got = spread.held(wanted, from);
            Matrix sent(type, given.rows, given.cols, Order::column_major), received = got.block(type);
            copy_view(given, sent.view());
            pass(to, sent, from, received);
            got.for_each_block(wanted, whole.view(), received.view(),
                               [](const View& block, const View& held) { copy_view(held, block); });
        });
        return whole;
    }

    /// Where data cannot be multiplied as asked, some process alone knows, and all throw.
    template <class Step>
    void agree(Step&& step) const {
        std::array<char, 1024> told{};  // a code and a sentence, or nothing
        try {
            step();
        } catch (const Error& error) {
            told[0] = static_cast<char>(error.code());
            std::string_view(error.what()).copy(told.data() + 1, told.size() - 2);
        }
        int first = processes_;
        std::array<char, 1024> of_first{}, received{};
        in_rounds([&](int to, int from) {
            if (to == own_) {
                received = told;
            } else {
                exchange_(rank_of(to), told.data(), std::ssize(told), rank_of(from), received.data(), std::ssize(told));
            }
            if (received[0] != 0 && from < first) {  // the same one everywhere
                first = from;
                of_first = received;
            }
        });
        fail_if(first < processes_, static_cast<ErrorCode>(static_cast<unsigned char>(of_first[0])), "{}",
                of_first.data() + 1);
    }

    /// Everybody sends the holders of C what it computed of theirs, and puts what it gets to what is there.
    template <class Put>
    void return_result(const BlockCyclicPart& c, Matrix& partial, Put&& put) const {
        const SpreadMatrix spread(c.matrix, grid_);
        const WindowRanges own = in_matrix(c, result_ranges(own_));
        in_rounds([&](int to, int from) {
            const HeldElements given = spread.held(own, to);
            const View sums = spread.here(in_matrix(c, result_ranges(from)));
            Matrix sent = given.block(c.matrix.type);
            Matrix received(c.matrix.type, sums.rows, sums.cols, Order::column_major);
            given.for_each_block(own, partial.view(), sent.view(),
                                 [](const View& block, const View& held) { copy_view(block, held); });
            pass(to, sent, from, received);
            put(received.view(), sums);
        });
    }

    const ProblemSize size_;
    const ProcessGrid& grid_;
    const RankExchange& exchange_;
    const int processes_, own_;
    const ClusterGrid ranks_;
    const bool whole_k_;
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
    const Type type = c.matrix.type;
    fail_if(type != a.matrix.type || type != b.matrix.type ||
                (type != Type::f64 && type != Type::f32 && !is_integer(type) && !is_complex(type)),
            ErrorCode::usage,
            "block-cyclic products are of f64, f32, c128, c64, i32 or i64, all matrices alike, not {} * {} -> {}",
            type_name(a.matrix.type), type_name(b.matrix.type), type_name(type));
    fail_if(c.transpose || c.conjugate, ErrorCode::usage,
            "C cannot be transposed or conjugated; exchange A and B, or conjugate those instead");
    validate_factors(alpha, beta, type);
    fail_if(grid.ranks.size() != static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.cols),
            ErrorCode::usage, "a grid of {} x {} processes has {} ranks", grid.rows, grid.cols, grid.ranks.size());
    require_inside("A", a, size.m, size.k);
    require_inside("B", b, size.k, size.n);
    require_inside("C", c, size.m, size.n);
    BlockCyclicProduct(size, c, grid, exchange, takes_whole_k(options.accuracy, type))
        .run(alpha, a, b, beta, c, options, threads);
} catch (...) {
    rethrow_as_error();
}

}  // namespace heptad
