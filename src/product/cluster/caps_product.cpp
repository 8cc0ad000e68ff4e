// Strassen's algorithm breadth first over 7^steps ranks (plan/search/cluster_caps.hpp):
//
//   DR   reads the own rows of every block
//   NR   sends the seven sums of A and of B where they are multiplied, once per step; later the results back
//   MM   one product of blocks
//   DW   writes the own rows of every block of C
//
// Sums spread a NaN, may overflow where the product does not, and lose digits where rows or columns are uneven: what is
// read is scaled as judge_for_caps() says, and so is what is written.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "algorithm/catalogue.hpp"
#include "base/complex_as_real.hpp"
#include "base/view_copy.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "plan/search/cluster_caps.hpp"
#include "product/cluster/rank_work.hpp"

namespace heptad {
namespace {

constexpr int kProducts = 7;

/// The rows of every block that a rank holds, blocks row by row, each without gaps.
struct Slices {
    std::int64_t side = 1;  // blocks in a row
    std::int64_t rows = 0, cols = 0;
    Matrix elements;  // side^2 * rows x cols

    Slices(Type type, std::int64_t s, std::int64_t r, std::int64_t c)
        : side(s), rows(r), cols(c), elements(type, s * s * r, c) {}
    View block(std::int64_t i, std::int64_t j) { return block(i * side + j); }
    /// What is summed: of complex numbers, the reals that they are made of.
    View reals(std::int64_t i, std::int64_t j) { return lines_as_reals(block(i, j), true); }
    View block(std::int64_t index) { return heptad::block(elements.view(), index * rows, 0, rows, cols); }
};

class CapsProduct {
public:
    CapsProduct(const RankWork& work, const Evenness& even)
        : work_(work),
          plan_(work.plan),
          shape_(caps_shape(plan_)),
          strassen_(find_algorithm("strassen").standard),
          even_(even),
          backend_(shared_pool(work.node.threads)) {}

    void run() {
        Slices a(plan_.type, shape_.side, shape_.rows_a, shape_.block_k);
        Slices b(plan_.type, shape_.side, shape_.rows_b, shape_.block_n);
        const HeldWindows held = held_by_caps(plan_, work_.ranks.rank());
        work_.trace.time(Stage::disk_read, [&] {
            read(work_.a, held.a, even_.scales() ? even_.of_a() : LineExponents{}, a);
            read(work_.b, held.b, even_.scales() ? even_.of_b() : LineExponents{}, b);
        });
        Slices c = multiply(0, shape_.ranks, std::move(a), std::move(b));
        work_.trace.time(Stage::disk_write, [&] { write(c); });
    }

private:
    void read(const WindowSource& source, const std::vector<Window>& windows, const LineExponents& lines,
              Slices& to) const {
        to.elements.clear();
        for (std::size_t index = 0; index < windows.size(); ++index) {
            const Window& window = windows[index];
            Matrix part(plan_.type, window.rows, window.cols);
            source.read(index, part.data());
            scale(part, lines.of_block(window.row, window.col));
            copy_view(part.view(), corner_of(to, index, window));
        }
    }

    void write(Slices& c) const {
        std::vector<std::int32_t> rows, cols;
        std::transform(even_.rows.begin(), even_.rows.end(), std::back_inserter(rows), std::negate());
        std::transform(even_.cols.begin(), even_.cols.end(), std::back_inserter(cols), std::negate());
        const LineExponents lines = even_.scales() ? LineExponents{rows.data(), cols.data()} : LineExponents{};
        const std::vector<Window> windows = results_of_caps(plan_, work_.ranks.rank());
        for (std::size_t index = 0; index < windows.size(); ++index) {
            const Window& window = windows[index];
            if (window.elements() == 0) {
                continue;
            }
            Matrix part(plan_.type, window.rows, window.cols);
            copy_view(corner_of(c, index, window), part.view());
            scale(part, lines.of_block(window.row, window.col));
            work_.result->write(window, part.data());
        }
    }

    static void scale(Matrix& part, const LineExponents& lines) {
        for (const View& numbers : parts_of(part.view())) {
            cpu::scale_lines(numbers, lines);
        }
    }

    /// A window at the start of a block.
    static View corner_of(Slices& slices, std::size_t index, const Window& window) {
        return block(slices.block(static_cast<std::int64_t>(index)), 0, 0, window.rows, window.cols);
    }

    /// On `size` ranks from `first` on.
    Slices multiply(std::int64_t first, std::int64_t size, Slices a, Slices b) {
        if (size == 1) {
            Slices c(plan_.type, 1, a.rows, b.cols);
            multiply_on_node(work_, a.elements, b.elements, 0, c.elements.view());
            work_.fraction_done = 0.9;
            return c;
        }
        const std::int64_t c_side = a.side, c_rows = a.rows, c_cols = b.cols;
        Slices sum_a = send_sums(first, size, a, strassen_.u);
        Slices sum_b = send_sums(first, size, b, strassen_.v);
        a.elements = Matrix();
        b.elements = Matrix();
        const std::int64_t part = size / kProducts, own = work_.ranks.rank() - first;
        Slices product = multiply(first + own / part * part, part, std::move(sum_a), std::move(sum_b));
        Slices c(plan_.type, c_side, c_rows, c_cols);
        c.elements.clear();
        add_results(first, size, product, c);
        return c;
    }

    /// This rank's own sum, of the rows of seven ranks.
    Slices send_sums(std::int64_t first, std::int64_t size, Slices& x, const CoefficientMatrix& coefficients) {
        const std::int64_t half = x.side / 2;
        Slices own(plan_.type, half, x.rows * kProducts, x.cols);
        Slices sent(plan_.type, half, x.rows, x.cols), received(plan_.type, half, x.rows, x.cols);
        for (std::int64_t round = 0; round < kProducts; ++round) {
            const CapsRound messages = caps_round(size, work_.ranks.rank() - first, round);
            for_each_block(half, [&](std::int64_t i, std::int64_t j) {
                CombinePass sum{{sent.reals(i, j)}, {{0, {}}}};
                for_each_term(x, coefficients, messages, i, j, [&](const View& quadrant, double coefficient) {
                    sum.statements[0].terms.push_back({static_cast<int>(sum.slots.size()), coefficient});
                    sum.slots.push_back(quadrant);
                });
                backend_.combine(sum);
            });
            exchange(first + messages.to, sent, first + messages.from, received);
            for_each_block(half, [&](std::int64_t i, std::int64_t j) {
                copy_view(received.block(i, j), rows_of(own, messages, i, j));
            });
        }
        return own;
    }

    /// The rounds of send_sums the other way round: products go back to whose rows they are, and are added there.
    void add_results(std::int64_t first, std::int64_t size, Slices& product, Slices& c) {
        const std::int64_t half = c.side / 2;
        Slices sent(plan_.type, half, c.rows, c.cols), received(plan_.type, half, c.rows, c.cols);
        for (std::int64_t round = 0; round < kProducts; ++round) {
            const CapsRound messages = caps_round(size, work_.ranks.rank() - first, round);
            for_each_block(half, [&](std::int64_t i, std::int64_t j) {
                copy_view(rows_of(product, messages, i, j), sent.block(i, j));
            });
            exchange(first + messages.from, sent, first + messages.to, received);
            for_each_block(half, [&](std::int64_t i, std::int64_t j) {
                CombinePass sums{{received.reals(i, j)}, {}};
                for_each_term(c, strassen_.w, messages, i, j, [&](const View& quadrant, double coefficient) {
                    const auto slot = static_cast<int>(sums.slots.size());
                    sums.statements.push_back({slot, {{slot, 1}, {0, coefficient}}});
                    sums.slots.push_back(quadrant);
                });
                backend_.combine(sums);
            });
        }
    }

    /// The part of a block in an operand of seven ranks that one of them sends or gets in this round.
    static View rows_of(Slices& all, const CapsRound& messages, std::int64_t i, std::int64_t j) {
        const std::int64_t rows = all.rows / kProducts;
        return block(all.block(i, j), messages.place * rows, 0, rows, all.cols);
    }
    /// visit(block (i, j) of a quadrant, its coefficient) of those that this round's product has a part in.
    template <class Visit>
    static void for_each_term(Slices& x, const CoefficientMatrix& coefficients, const CapsRound& messages,
                              std::int64_t i, std::int64_t j, Visit&& visit) {
        const std::int64_t half = x.side / 2;
        for (int quadrant = 0; quadrant < 4; ++quadrant) {
            const Rational& coefficient = coefficients(static_cast<int>(messages.sum), quadrant);
            if (!coefficient.is_zero()) {
                visit(x.reals(quadrant / 2 * half + i, quadrant % 2 * half + j), coefficient.to_double());
            }
        }
    }

    template <class Visit>
    static void for_each_block(std::int64_t side, Visit&& visit) {
        for (std::int64_t i = 0; i < side; ++i) {
            for (std::int64_t j = 0; j < side; ++j) {
                visit(i, j);
            }
        }
    }

    void exchange(std::int64_t to, const Slices& sent, std::int64_t from, Slices& received) const {
        work_.trace.time(Stage::receive, [&] {
            work_.ranks.exchange(static_cast<int>(to), sent.elements.data(), sent.elements.size_bytes(),
                                 static_cast<int>(from), received.elements.data(), received.elements.size_bytes());
        });
    }

    const RankWork& work_;
    const ProductPlan& plan_;
    const CapsShape shape_;
    const Algorithm& strassen_;
    const Evenness& even_;
    cpu::CpuBackend backend_;
};

}  // namespace

void multiply_by_caps(const RankWork& work, const Evenness& even) {
    if (work.ranks.rank() < caps_shape(work.plan).ranks) {
        CapsProduct(work, even).run();
    }
}

}  // namespace heptad
