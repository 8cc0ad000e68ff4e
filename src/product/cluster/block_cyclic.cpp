// Products of matrices that lie block-cyclically on a grid of processes (heptad/cluster.hpp).
//
// The product's own grid of ranks (plan/search/cluster_grid.hpp) is chosen whatever the layout. Rank (i, l, j) needs
// the windows A(i, l) and B(l, j).
#include <heptad/cluster.hpp>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "base/complex_as_real.hpp"
#include "base/errors_only.hpp"
#include "base/fail_if.hpp"
#include "base/matrix.hpp"
#include "base/types.hpp"
#include "base/view_copy.hpp"
#include "product/cluster/processes.hpp"
#include "product/cluster/rank_work.hpp"
#include "product/cluster/spread_windows.hpp"
#include "product/memory/validate.hpp"

namespace heptad {
namespace {

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
          a_(a.matrix, grid, processes, of_each([&](int p) { return in_matrix(a, operand_window(p, true)); })),
          b_(b.matrix, grid, processes, of_each([&](int p) { return in_matrix(b, operand_window(p, false)); })),
          c_(c.matrix, grid, processes, of_each([&](int p) { return in_matrix(c, result_ranges(p)); })),
          c_here_(held_here(c.matrix, grid, in_matrix(c, {{0, size.m}, {0, size.n}}))),
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

    template <class WindowOf>
    std::vector<WindowRanges> of_each(WindowOf&& window_of) const {
        std::vector<WindowRanges> windows;
        for (int process = 0; process < processes_.count(); ++process) {
            windows.push_back(window_of(process));
        }
        return windows;
    }
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
        processes_.throw_alike(problem);
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
