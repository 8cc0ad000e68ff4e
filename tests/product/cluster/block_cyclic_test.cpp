// Products of block-cyclic matrices, every process a thread that hands messages to the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <complex>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <heptad/cluster.hpp>

#include "product/memory/product.hpp"

namespace heptad {
namespace {

/// Messages between threads, in the order in which they were sent.
class Mailboxes {
public:
    RankExchange of(int rank) {
        return [this, rank](int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
                            std::int64_t received_bytes) {
            const auto* const bytes = static_cast<const std::byte*>(sent);
            std::unique_lock lock(mutex_);
            boxes_[{rank, to}].emplace_back(bytes, bytes + sent_bytes);
            changed_.notify_all();
            auto& box = boxes_[{from, rank}];
            if (!changed_.wait_for(lock, kPatience, [&] { return !box.empty(); })) {
                throw std::runtime_error("nobody sends anything");
            }
            EXPECT_EQ(static_cast<std::int64_t>(box.front().size()), received_bytes);
            std::memcpy(received, box.front().data(), box.front().size());
            box.pop_front();
        };
    }

private:
    static constexpr std::chrono::seconds kPatience{20};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes_;
};

/// body(grid, exchange) on a thread for every process of a grid, whose ranks begin at `first_rank`.
template <class Body>
void on_every_process(int rows, int cols, int first_rank, const Body& body) {
    Mailboxes mailboxes;
    std::vector<std::thread> processes;
    for (int process = 0; process < rows * cols; ++process) {
        processes.emplace_back([&, process] {
            ProcessGrid grid{rows, cols, process / cols, process % cols, {}};
            for (int rank = 0; rank < rows * cols; ++rank) {
                grid.ranks.push_back(first_rank + rank);
            }
            body(grid, mailboxes.of(first_rank + process));
        });
    }
    for (std::thread& process : processes) {
        process.join();
    }
}

template <class Element>
using Dense = std::vector<Element>;  // column-major

using Complex = std::complex<float>;
template <class Element>
Element number(float real, float imaginary) {
    if constexpr (std::is_same_v<Element, Complex>) {
        return {real, imaginary};
    } else {
        return real;
    }
}

struct Layout {
    std::int64_t rows, cols, row_block, col_block;
    int first_row, first_col;
    std::int64_t first_row_block, first_col_block;

    static bool is_held(std::int64_t index, std::int64_t first_block, std::int64_t block, int first, int processes,
                        int own) {
        const std::int64_t number = index < first_block ? 0 : (index - first_block) / block + 1;
        return (number + first) % processes == own;
    }
    bool holds_row(const ProcessGrid& grid, std::int64_t row) const {
        return is_held(row, first_row_block, row_block, first_row, grid.rows, grid.my_row);
    }
    std::int64_t height(const ProcessGrid& grid) const {
        std::int64_t held = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            held += holds_row(grid, row) ? 1 : 0;
        }
        return held;
    }
    /// Copies between the dense matrix and what a process holds; by the definition, element by element.
    template <class Visit>
    void visit(const ProcessGrid& grid, Visit&& visit_element) const {
        std::int64_t local_col = 0;
        for (std::int64_t col = 0; col < cols; ++col) {
            if (!is_held(col, first_col_block, col_block, first_col, grid.cols, grid.my_col)) {
                continue;
            }
            std::int64_t local_row = 0;
            for (std::int64_t row = 0; row < rows; ++row) {
                if (holds_row(grid, row)) {
                    visit_element(static_cast<std::size_t>(col * rows + row),
                                  static_cast<std::size_t>(local_col * (height(grid) + 1) + local_row));
                    ++local_row;
                }
            }
            ++local_col;
        }
    }
    template <class Element>
    BlockCyclicMatrix matrix(Dense<Element>& local, const ProcessGrid& grid) const {
        return {
            local.data(),     TypeOf<Element>::value, rows,           cols, row_block, col_block, first_row, first_col,
            height(grid) + 1, first_row_block,        first_col_block};
    }
};

template <class Element>
Dense<Element> numbered(std::int64_t count, int seed) {
    Dense<Element> dense(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < dense.size(); ++i) {
        const auto small = [&](std::size_t step) {
            return static_cast<float>(static_cast<int>((i * step + static_cast<std::size_t>(seed) * 31) % 17) - 8);
        };
        dense[i] = number<Element>(small(7919), small(6007));
    }
    return dense;
}

/// C(2.., 1..) = alpha * A^T(.., 3..) * B(1.., ..) + beta * C(2.., 1..) with m = 9, k = 13, n = 7; of complex numbers
/// the conjugate of A^T and complex factors.
template <class Element>
void expect_product_on(int rows, int cols, bool other_first_blocks) {
    const auto with = [&](Layout layout, std::int64_t first_rows, std::int64_t first_cols) {
        layout.first_row_block = other_first_blocks ? first_rows : layout.row_block;
        layout.first_col_block = other_first_blocks ? first_cols : layout.col_block;
        return layout;
    };
    const Layout la = with({20, 14, 3, 2, rows - 1, 0, 0, 0}, 1, 5), lb = with({15, 8, 4, 3, 0, cols - 1, 0, 0}, 9, 2),
                 lc = with({12, 9, 2, 5, 0, 0, 0, 0}, 3, 1);
    constexpr bool kIsComplex = std::is_same_v<Element, Complex>;
    const auto alpha = number<Element>(2, 1), beta = number<Element>(-1, 2);
    const auto a = numbered<Element>(20 * 14, 1), b = numbered<Element>(15 * 8, 2), c = numbered<Element>(12 * 9, 3);
    Dense<Element> expected = c;
    for (std::int64_t i = 0; i < 9; ++i) {
        for (std::int64_t j = 0; j < 7; ++j) {
            Element sum = 0;
            for (std::int64_t h = 0; h < 13; ++h) {
                Element left = a[static_cast<std::size_t>((i + 3) * 20 + h)];
                if constexpr (kIsComplex) {
                    left = std::conj(left);
                }
                sum += left * b[static_cast<std::size_t>(j * 15 + h + 1)];
            }
            Element& element = expected[static_cast<std::size_t>((j + 1) * 12 + i + 2)];
            element = alpha * sum + beta * element;
        }
    }
    Dense<Element> result(c.size());
    std::mutex mutex;
    on_every_process(rows, cols, 100, [&](const ProcessGrid& grid, const RankExchange& exchange) {
        Dense<Element> local_a(600), local_b(600), local_c(600);
        la.visit(grid, [&](std::size_t at, std::size_t local) { local_a[local] = a[at]; });
        lb.visit(grid, [&](std::size_t at, std::size_t local) { local_b[local] = b[at]; });
        lc.visit(grid, [&](std::size_t at, std::size_t local) { local_c[local] = c[at]; });
        multiply_block_cyclic({9, 13, 7}, alpha, {la.matrix(local_a, grid), 0, 3, true, kIsComplex},
                              {lb.matrix(local_b, grid), 1, 0, false}, beta, {lc.matrix(local_c, grid), 2, 1, false},
                              grid, exchange, {}, 1);
        const std::lock_guard lock(mutex);
        lc.visit(grid, [&](std::size_t at, std::size_t local) { result[at] = local_c[local]; });
    });
    EXPECT_EQ(result, expected) << rows << " x " << cols;
}

TEST(block_cyclic, parts_and_transposes_equal_the_definition_on_every_grid) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {2, 1}, {1, 3}, {2, 2}, {2, 3}, {3, 3}}) {
        expect_product_on<float>(rows, cols, false);
        expect_product_on<Complex>(rows, cols, false);
    }
}

TEST(block_cyclic, first_blocks_may_be_smaller_or_larger_than_the_others) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {2, 1}, {1, 3}, {2, 2}, {2, 3}, {3, 3}}) {
        expect_product_on<float>(rows, cols, true);
        expect_product_on<Complex>(rows, cols, true);
    }
}

BlockCyclicPart whole(const BlockCyclicMatrix& matrix) {
    return {matrix, 0, 0, false};
}

Dense<double> with_all_digits(std::int64_t count, unsigned seed) {
    Dense<double> dense(static_cast<std::size_t>(count));
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::generate(dense.begin(), dense.end(), [&] { return uniform(random); });
    return dense;
}

/// C = 0.7 A B - 1.3 C, exactly, with m = 29, k = 41, n = 23; how many processes refused.
int multiply_exactly_on(int rows, int cols, const Dense<double>& a, const Dense<double>& b, Dense<double>& c) {
    const Layout la{29, 41, 3, 2, rows - 1, 0, 3, 2}, lb{41, 23, 4, 3, 0, cols - 1, 4, 3}, lc{29, 23, 2, 5, 0, 0, 2, 5};
    const Dense<double> before = c;
    std::mutex mutex;
    std::atomic<int> refused{0};
    on_every_process(rows, cols, 0, [&](const ProcessGrid& grid, const RankExchange& exchange) {
        Dense<double> local_a(3000), local_b(3000), local_c(3000);
        la.visit(grid, [&](std::size_t at, std::size_t local) { local_a[local] = a[at]; });
        lb.visit(grid, [&](std::size_t at, std::size_t local) { local_b[local] = b[at]; });
        lc.visit(grid, [&](std::size_t at, std::size_t local) { local_c[local] = before[at]; });
        Options options;
        options.accuracy = Accuracy::exact;
        try {
            multiply_block_cyclic({29, 41, 23}, 0.7, whole(la.matrix(local_a, grid)), whole(lb.matrix(local_b, grid)),
                                  -1.3, whole(lc.matrix(local_c, grid)), grid, exchange, options, 1);
        } catch (const Error& error) {
            refused += error.code() == ErrorCode::input &&
                               std::string(error.what()).starts_with("an exact product of these matrices takes")
                           ? 1
                           : 0;
        }
        const std::lock_guard lock(mutex);
        lc.visit(grid, [&](std::size_t at, std::size_t local) { c[at] = local_c[local]; });
    });
    return refused;
}

TEST(block_cyclic, exact_products_have_the_bits_of_one_place_or_are_refused_by_all_with_c_as_it_was) {
    Dense<double> a = with_all_digits(29 * 41, 1);
    const Dense<double> b = with_all_digits(41 * 23, 2), c0 = with_all_digits(29 * 23, 3);
    Dense<double> expected = c0;
    Options options;
    options.accuracy = Accuracy::exact;
    const auto view = [](auto& dense, std::int64_t rows, std::int64_t cols) {
        return View(dense.data(), Type::f64, rows, cols, 1, rows);
    };
    Dense<double> right = b;
    multiply_in_memory(0.7, view(a, 29, 41), view(right, 41, 23), -1.3, view(expected, 29, 23), options, {});
    const std::pair<int, int> grids[] = {{1, 1}, {2, 1}, {1, 3}, {2, 2}, {2, 3}, {7, 1}};
    for (const auto& [rows, cols] : grids) {
        Dense<double> c = c0;
        EXPECT_EQ(multiply_exactly_on(rows, cols, a, b, c), 0);
        EXPECT_EQ(std::memcmp(c.data(), expected.data(), c.size() * sizeof(double)), 0) << rows << " x " << cols;
    }
    a[28] = 1e-90;  // in the last row
    a[28 + 29] = 1e90;
    for (const auto& [rows, cols] : grids) {
        Dense<double> c = c0;
        EXPECT_EQ(multiply_exactly_on(rows, cols, a, b, c), rows * cols);
        EXPECT_EQ(c, c0) << rows << " x " << cols;
    }
}

/// What all processes of a grid throw where `with_fault` changes the call of the first one; and that C is as it was.
template <class Fault>
std::multiset<std::string> sentences_on(int rows, int cols, Fault&& with_fault) {
    const Layout la{29, 41, 3, 2, rows - 1, 0, 3, 2}, lb{41, 23, 4, 3, 0, cols - 1, 4, 3}, lc{29, 23, 2, 5, 0, 0, 2, 5};
    std::mutex mutex;
    std::multiset<std::string> sentences;
    on_every_process(rows, cols, 0, [&](const ProcessGrid& grid, const RankExchange& exchange) {
        Dense<double> local_a(3000, 1), local_b(3000, 1), local_c(3000, 7);
        BlockCyclicPart a = whole(la.matrix(local_a, grid)), b = whole(lb.matrix(local_b, grid)),
                        c = whole(lc.matrix(local_c, grid));
        Options options;
        if (grid.my_row == 0 && grid.my_col == 0) {
            with_fault(a, c, options);
        }
        std::string sentence = "none";
        try {
            multiply_block_cyclic({29, 41, 23}, 1, a, b, 0.5, c, grid, exchange, options, 1);
        } catch (const std::exception& error) {
            sentence = error.what();
        }
        EXPECT_EQ(local_c, Dense<double>(3000, 7));
        const std::lock_guard lock(mutex);
        sentences.insert(sentence);
    });
    return sentences;
}

TEST(block_cyclic, what_one_process_alone_finds_wrong_all_throw_with_c_as_it_was) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {2, 1}, {2, 3}}) {
        const auto all = static_cast<std::size_t>(rows * cols);
        const auto expect_all_say = [&](const std::string& part, const auto& with_fault) {
            const std::multiset<std::string> sentences = sentences_on(rows, cols, with_fault);
            EXPECT_EQ(sentences.count(*sentences.begin()), all) << *sentences.begin() << "; " << *sentences.rbegin();
            EXPECT_NE(sentences.begin()->find(part), std::string::npos) << *sentences.begin();
        };
        expect_all_say("there is no leaf 'none'",
                       [](auto&, auto&, Options& options) { options.leaf = "none"; });  // when it multiplies
        expect_all_say("is not inside A", [](BlockCyclicPart& a, auto&, auto&) { a.row = 1; });
        expect_all_say("C cannot be transposed", [](auto&, BlockCyclicPart& c, auto&) { c.transpose = true; });
    }
}

TEST(block_cyclic, beta_zero_ignores_nan_in_c) {
    std::vector<double> a{1, 2, 3, 4}, b{1, 0, 0, 1}, c(4, std::numeric_limits<double>::quiet_NaN());
    const auto matrix = [](std::vector<double>& data) {
        return BlockCyclicMatrix{data.data(), Type::f64, 2, 2, 1, 1, 0, 0, 2};
    };
    const ProcessGrid alone{1, 1, 0, 0, {0}};
    multiply_block_cyclic({2, 2, 2}, 1, whole(matrix(a)), whole(matrix(b)), 0, whole(matrix(c)), alone, {});
    EXPECT_EQ(c, a);
}

TEST(block_cyclic, what_cannot_be_meant_is_refused) {
    std::vector<double> data(4);
    const BlockCyclicMatrix fine{data.data(), Type::f64, 2, 2, 1, 1, 0, 0, 2};
    BlockCyclicMatrix other = fine;
    const ProcessGrid alone{1, 1, 0, 0, {0}}, wrong{2, 1, 0, 0, {0}};
    EXPECT_THROW(multiply_block_cyclic({3, 2, 2}, 1, whole(fine), whole(fine), 0, whole(fine), alone, {}), Error);
    EXPECT_THROW(
        multiply_block_cyclic({2, 2, 2}, 1, BlockCyclicPart{fine, 1, 0, false}, whole(fine), 0, whole(fine), alone, {}),
        Error);
    EXPECT_THROW(
        multiply_block_cyclic({2, 2, 2}, 1, whole(fine), whole(fine), 0, BlockCyclicPart{fine, 0, 0, true}, alone, {}),
        Error);
    EXPECT_THROW(multiply_block_cyclic({2, 2, 2}, 1, whole(fine), whole(fine), 0, whole(fine), wrong, {}), Error);
    other.type = Type::f32;
    EXPECT_THROW(multiply_block_cyclic({2, 2, 2}, 1, whole(other), whole(fine), 0, whole(fine), alone, {}), Error);
    other = fine;
    other.first_col_block = -1;
    EXPECT_THROW(multiply_block_cyclic({2, 2, 2}, 1, whole(other), whole(fine), 0, whole(fine), alone, {}), Error);
    other = fine;
    other.row_block = 0;
    EXPECT_THROW(multiply_block_cyclic({2, 2, 2}, 1, whole(other), whole(fine), 0, whole(fine), alone, {}), Error);
}

}  // namespace
}  // namespace heptad
