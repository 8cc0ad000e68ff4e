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
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "algorithm/catalogue.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "plan/search/cluster_caps.hpp"
#include "product/cluster/partial_sum.hpp"
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
    std::int64_t block_elements() const { return rows * cols; }
    std::int64_t block_bytes() const {
        return block_elements() * static_cast<std::int64_t>(element_bytes(elements.type()));
    }
    std::byte* block(std::int64_t i, std::int64_t j) {
        return static_cast<std::byte*>(elements.data()) + (i * side + j) * block_bytes();
    }
};

class CapsProduct {
public:
    CapsProduct(const RankWork& work, const Evenness& even)
        : work_(work),
          plan_(work.plan),
          shape_(caps_shape(plan_)),
          strassen_(find_algorithm("strassen").standard),
          even_(even) {}

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
        const auto size = static_cast<std::int64_t>(element_bytes(plan_.type));
        for (std::size_t index = 0; index < windows.size(); ++index) {
            const Window& window = windows[index];
            Matrix part(plan_.type, window.rows, window.cols);
            source.read(index, part.data());
            cpu::scale_lines(part.view(), lines.of_block(window.row, window.col));
            std::byte* const block =
                static_cast<std::byte*>(to.elements.data()) + static_cast<std::int64_t>(index) * to.block_bytes();
            for (std::int64_t row = 0; row < window.rows && window.cols > 0; ++row) {
                std::memcpy(block + row * to.cols * size,
                            static_cast<const std::byte*>(part.data()) + row * window.cols * size,
                            static_cast<std::size_t>(window.cols * size));
            }
        }
    }

    void write(Slices& c) const {
        const auto size = static_cast<std::int64_t>(element_bytes(plan_.type));
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
            const std::byte* const block =
                static_cast<const std::byte*>(c.elements.data()) + static_cast<std::int64_t>(index) * c.block_bytes();
            for (std::int64_t row = 0; row < window.rows; ++row) {
                std::memcpy(static_cast<std::byte*>(part.data()) + row * window.cols * size,
                            block + row * c.cols * size, static_cast<std::size_t>(window.cols * size));
            }
            cpu::scale_lines(part.view(), lines.of_block(window.row, window.col));
            work_.result->write(window, part.data());
        }
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
            sent.elements.clear();
            for (int quadrant = 0; quadrant < 4; ++quadrant) {
                const Rational& factor = coefficients(static_cast<int>(messages.sum), quadrant);
                for_each_block(half, [&](std::int64_t i, std::int64_t j) {
                    add(sent.block(i, j), x.block(quadrant / 2 * half + i, quadrant % 2 * half + j), x.block_elements(),
                        factor);
                });
            }
            exchange(first + messages.to, sent, first + messages.from, received);
            for_each_block(half, [&](std::int64_t i, std::int64_t j) {
                std::memcpy(own.block(i, j) + messages.place * received.block_bytes(), received.block(i, j),
                            static_cast<std::size_t>(received.block_bytes()));
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
                std::memcpy(sent.block(i, j), product.block(i, j) + messages.place * sent.block_bytes(),
                            static_cast<std::size_t>(sent.block_bytes()));
            });
            exchange(first + messages.from, sent, first + messages.to, received);
            for (int quadrant = 0; quadrant < 4; ++quadrant) {
                const Rational& factor = strassen_.w(static_cast<int>(messages.sum), quadrant);
                for_each_block(half, [&](std::int64_t i, std::int64_t j) {
                    add(c.block(quadrant / 2 * half + i, quadrant % 2 * half + j), received.block(i, j),
                        c.block_elements(), factor);
                });
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

    void add(std::byte* to, const std::byte* from, std::int64_t count, const Rational& factor) const {
        if (factor.numerator() != 0) {  // those of this algorithm are whole numbers
            add_multiple(plan_.type, to, from, count, static_cast<int>(factor.numerator()), work_.node.threads);
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
};

}  // namespace

void multiply_by_caps(const RankWork& work, const Evenness& even) {
    if (work.ranks.rank() < caps_shape(work.plan).ranks) {
        CapsProduct(work, even).run();
    }
}

}  // namespace heptad
