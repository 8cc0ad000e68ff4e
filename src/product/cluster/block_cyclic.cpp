// Products of matrices that lie block-cyclically on a grid of processes (heptad/cluster.hpp).
//
// The product's own grid of ranks (plan/search/cluster_grid.hpp) is chosen whatever the layout. Rank (i, l, j) needs
// the windows A(i, l) and B(l, j); both sides of every message know which rows and columns of a window the sender
// holds, so messages are the elements alone, column by column.
#include <heptad/cluster.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/complex_as_real.hpp"
#include "base/error.hpp"
#include "base/errors_only.hpp"
#include "base/matrix.hpp"
#include "base/types.hpp"
#include "base/view.hpp"
#include "plan/search/cluster_plan.hpp"
#include "product/memory/product.hpp"

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

/// The rows and columns of a window that one process holds.
struct HeldElements {
    std::vector<Run> rows, cols;

    static std::int64_t count(const std::vector<Run>& runs) {
        return std::accumulate(runs.begin(), runs.end(), std::int64_t{0},
                               [](std::int64_t sum, const Run& run) { return sum + run.count; });
    }
    std::int64_t count() const { return count(rows) * count(cols); }
    /// visit(rows side by side, their column, its place here, how many elements came before)
    template <class Visit>
    void for_each_run(Visit&& visit) const {
        std::int64_t before = 0;
        for (const Run& across : cols) {
            for (std::int64_t j = 0; j < across.count; ++j) {
                for (const Run& down : rows) {
                    visit(down, across.begin + j, across.local + j, before);
                    before += down.count;
                }
            }
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

    /// Of the window with rows .. and cols .. of the whole matrix, process (p / cols, p % cols) has:
    HeldElements held(const IndexRange& rows, const IndexRange& cols, int process) const {
        return {down_.held(rows, process / grid_.cols), across_.held(cols, process % grid_.cols)};
    }
    /// An element of this process, by its place here.
    std::byte* element(std::int64_t local_row, std::int64_t local_col) const {
        return static_cast<std::byte*>(matrix_.data) + (local_col * matrix_.leading + local_row) * element_size();
    }
    std::int64_t element_size() const { return static_cast<std::int64_t>(element_bytes(matrix_.type)); }
    Type type() const { return matrix_.type; }

private:
    const BlockCyclicMatrix& matrix_;
    const ProcessGrid& grid_;
    const Dealing down_, across_;
};

struct WindowRanges {
    IndexRange rows, cols;
};

class BlockCyclicProduct {
public:
    BlockCyclicProduct(const ProblemSize& size, const BlockCyclicPart& c, const ProcessGrid& grid,
                       const RankExchange& exchange)
        : size_(size),
          grid_(grid),
          exchange_(exchange),
          processes_(grid.rows * grid.cols),
          own_(grid.my_row * grid.cols + grid.my_col),
          // The rates of a usual cluster: with any of them all processes decide alike.
          ranks_(best_grid(size, c.matrix.type, processes_, {})) {}

    void run(Factor alpha, const BlockCyclicPart& a, const BlockCyclicPart& b, Factor beta, const BlockCyclicPart& c,
             const Options& options, int threads) {
        const Matrix a_block = gather(a, [&](int p) { return operand_window(p, true); });
        const Matrix b_block = gather(b, [&](int p) { return operand_window(p, false); });
        Matrix partial;
        if (is_busy(own_)) {
            const WindowRanges window = result_ranges(own_);
            partial = Matrix(c.matrix.type, window.rows.size(), window.cols.size(), Order::column_major);
            ProductContext context;
            context.threads = threads;
            const ConstView left = a.transpose ? transposed(a_block.view()) : a_block.view();
            const ConstView right = b.transpose ? transposed(b_block.view()) : b_block.view();
            multiply_in_memory(alpha, conjugated(left, a.conjugate), conjugated(right, b.conjugate), 0, partial.view(),
                               options, context);
        }
        scale(c, beta);
        return_result(c, partial);
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

    void pass(int to, const std::vector<std::byte>& sent, int from, std::vector<std::byte>& received) const {
        exchange_(rank_of(to), sent.data(), static_cast<std::int64_t>(sent.size()), rank_of(from), received.data(),
                  static_cast<std::int64_t>(received.size()));
    }

    /// The window of the matrix that this process needs, as it lies there (not transposed), column-major.
    template <class WindowOf>
    Matrix gather(const BlockCyclicPart& part, WindowOf&& window_of) const {
        const SpreadMatrix spread(part.matrix, grid_);
        const std::int64_t size = spread.element_size();
        const WindowRanges wanted = in_matrix(part, window_of(own_));
        Matrix block(part.matrix.type, wanted.rows.size(), wanted.cols.size(), Order::column_major);
        const View view = block.view();
        const auto place = [&](const Run& rows, std::int64_t col) {
            return element_pointer(view, rows.begin - wanted.rows.begin, col - wanted.cols.begin);
        };
        in_rounds([&](int to, int from) {
            const HeldElements got = spread.held(wanted.rows, wanted.cols, from);
            if (from == own_) {
                got.for_each_run([&](const Run& rows, std::int64_t col, std::int64_t local_col, std::int64_t) {
                    std::copy_n(spread.element(rows.local, local_col), rows.count * size, place(rows, col));
                });
                return;
            }
            const WindowRanges theirs = in_matrix(part, window_of(to));
            const HeldElements given = spread.held(theirs.rows, theirs.cols, own_);
            std::vector<std::byte> sent(static_cast<std::size_t>(given.count() * size));
            std::vector<std::byte> received(static_cast<std::size_t>(got.count() * size));
            given.for_each_run([&](const Run& rows, std::int64_t, std::int64_t local_col, std::int64_t before) {
                std::copy_n(spread.element(rows.local, local_col), rows.count * size, sent.data() + before * size);
            });
            pass(to, sent, from, received);
            got.for_each_run([&](const Run& rows, std::int64_t col, std::int64_t, std::int64_t before) {
                std::copy_n(received.data() + before * size, rows.count * size, place(rows, col));
            });
        });
        return block;
    }

    /// Calls use() with a value of the type that elements are added in.
    template <class Use>
    static void with_element(Type type, Use&& use) {
        switch (type) {
            case Type::f64:
                return use(double{});
            case Type::f32:
                return use(float{});
            case Type::c128:
                return use(std::complex<double>{});
            case Type::c64:
                return use(std::complex<float>{});
            case Type::i64:
                return use(std::uint64_t{});  // mod 2^64
            default:
                return use(std::uint32_t{});  // i32, mod 2^32
        }
    }

    template <class Element>
    static Element factor_as(const Factor& factor) {
        if constexpr (std::is_integral_v<Element>) {
            return static_cast<Element>(static_cast<std::int64_t>(factor.real()));
        } else if constexpr (std::is_floating_point_v<Element>) {
            return static_cast<Element>(factor.real());
        } else {
            return Element(factor);
        }
    }

    /// beta * C on the elements of the part that this process holds.
    void scale(const BlockCyclicPart& c, Factor beta) const {
        if (beta == 1.0) {
            return;
        }
        const SpreadMatrix spread(c.matrix, grid_);
        const HeldElements held = spread.held({c.row, c.row + size_.m}, {c.col, c.col + size_.n}, own_);
        with_element(c.matrix.type, [&](auto sample) {
            using Element = decltype(sample);
            const Element factor = factor_as<Element>(beta);
            held.for_each_run([&](const Run& rows, std::int64_t, std::int64_t local_col, std::int64_t) {
                auto* const elements = reinterpret_cast<Element*>(spread.element(rows.local, local_col));
                std::transform(elements, elements + rows.count, elements, [&](Element old) {
                    return beta == 0.0 ? Element(0) : static_cast<Element>(factor * old);
                });
            });
        });
    }

    /// Everybody sends the holders of C what it computed of theirs, and adds what it gets.
    void return_result(const BlockCyclicPart& c, const Matrix& partial) const {
        const SpreadMatrix spread(c.matrix, grid_);
        const std::int64_t size = spread.element_size();
        const WindowRanges own = in_matrix(c, result_ranges(own_));
        const auto computed = [&](const Run& rows, std::int64_t col) -> const std::byte* {
            return element_pointer(partial.view(), rows.begin - own.rows.begin, col - own.cols.begin);
        };
        const auto add = [&](const Run& rows, std::int64_t local_col, const std::byte* elements) {
            with_element(c.matrix.type, [&](auto sample) {
                const auto* const added = reinterpret_cast<const decltype(sample)*>(elements);
                auto* const sums = reinterpret_cast<decltype(sample)*>(spread.element(rows.local, local_col));
                std::transform(sums, sums + rows.count, added, sums, std::plus<>());
            });
        };
        in_rounds([&](int to, int from) {
            const HeldElements given = spread.held(own.rows, own.cols, to);
            if (to == own_) {
                given.for_each_run([&](const Run& rows, std::int64_t col, std::int64_t local_col, std::int64_t) {
                    add(rows, local_col, computed(rows, col));
                });
                return;
            }
            const WindowRanges theirs = in_matrix(c, result_ranges(from));
            const HeldElements got = spread.held(theirs.rows, theirs.cols, own_);
            std::vector<std::byte> sent(static_cast<std::size_t>(given.count() * size));
            std::vector<std::byte> received(static_cast<std::size_t>(got.count() * size));
            given.for_each_run([&](const Run& rows, std::int64_t col, std::int64_t, std::int64_t before) {
                std::copy_n(computed(rows, col), rows.count * size, sent.data() + before * size);
            });
            pass(to, sent, from, received);
            got.for_each_run([&](const Run& rows, std::int64_t, std::int64_t local_col, std::int64_t before) {
                add(rows, local_col, received.data() + before * size);
            });
        });
    }

    const ProblemSize size_;
    const ProcessGrid& grid_;
    const RankExchange& exchange_;
    const int processes_, own_;
    const ClusterGrid ranks_;
};

void require_inside(const char* name, const BlockCyclicPart& part, std::int64_t rows, std::int64_t cols) {
    const BlockCyclicMatrix& matrix = part.matrix;
    if (part.transpose) {
        std::swap(rows, cols);
    }
    if (part.row < 0 || part.col < 0 || rows > matrix.rows - part.row || cols > matrix.cols - part.col) {
        fail(ErrorCode::input, "a part of {} x {} at ({}, {}) is not inside {}, which is {} x {}", rows, cols, part.row,
             part.col, name, matrix.rows, matrix.cols);
    }
    for (const auto& [block_rows, block_cols] :
         {std::pair{matrix.row_block, matrix.col_block}, {first_block_rows(matrix), first_block_cols(matrix)}}) {
        if (block_rows < 1 || block_cols < 1) {
            fail(ErrorCode::usage, "{} has blocks of {} x {}; they hold at least one element", name, block_rows,
                 block_cols);
        }
    }
}

}  // namespace

void multiply_block_cyclic(const ProblemSize& size, std::complex<double> alpha, const BlockCyclicPart& a,
                           const BlockCyclicPart& b, std::complex<double> beta, const BlockCyclicPart& c,
                           const ProcessGrid& grid, const RankExchange& exchange, const Options& options,
                           int threads) try {
    const Type type = c.matrix.type;
    if (type != a.matrix.type || type != b.matrix.type ||
        (type != Type::f64 && type != Type::f32 && !is_integer(type) && !is_complex(type))) {
        fail(ErrorCode::usage,
             "block-cyclic products are of f64, f32, c128, c64, i32 or i64, all matrices alike, not {} * {} -> {}",
             type_name(a.matrix.type), type_name(b.matrix.type), type_name(type));
    }
    if (c.transpose || c.conjugate) {
        fail(ErrorCode::usage, "C cannot be transposed or conjugated; exchange A and B, or conjugate those instead");
    }
    if ((alpha.imag() != 0 || beta.imag() != 0) && !is_complex(type)) {
        fail(ErrorCode::usage, "complex factors are for matrices of c64 and c128, not of {}", type_name(type));
    }
    if (grid.ranks.size() != static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.cols)) {
        fail(ErrorCode::usage, "a grid of {} x {} processes has {} ranks", grid.rows, grid.cols, grid.ranks.size());
    }
    require_inside("A", a, size.m, size.k);
    require_inside("B", b, size.k, size.n);
    require_inside("C", c, size.m, size.n);
    BlockCyclicProduct(size, c, grid, exchange).run(alpha, a, b, beta, c, options, threads);
} catch (...) {
    rethrow_as_error();
}

}  // namespace heptad
