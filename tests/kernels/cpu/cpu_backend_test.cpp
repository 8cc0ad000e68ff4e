// Every leaf of this machine against the reference backend, bit for bit on small integers; tiles; threads.
#include "kernels/cpu/cpu_backend.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "base/cancel_scope.hpp"
#include "base/types.hpp"
#include "kernels/cpu/cpu_backend_blas.hpp"
#include "kernels/cpu/cpu_backend_tiles.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace heptad::cpu {
namespace {

using test::all_layouts;
using test::GuardedMatrix;
using test::Layout;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

#if defined(HEPTAD_REDUCED_TESTS)
constexpr int kRandomProducts = 150;
#else
constexpr int kRandomProducts = 1500;
#endif

CpuBackend& backend() {
    static CpuBackend shared(shared_pool(4));
    return shared;
}

struct Case {
    Type type = Type::f32;
    std::int64_t m = 1, k = 1, n = 1;
    double alpha = 1, beta = 0;
    Layout a = Layout::rows, b = Layout::rows, c = Layout::rows;
};

std::string describe(const Case& x, const std::string& leaf) {
    return fmt::format("{} {} {}x{}x{} alpha {} beta {} layouts {} {} {}", leaf, type_name(x.type), x.m, x.k, x.n,
                       x.alpha, x.beta, static_cast<int>(x.a), static_cast<int>(x.b), static_cast<int>(x.c));
}

void expect_equals_reference(const Case& x, const std::string& leaf, std::mt19937& random) {
    GuardedMatrix a(x.type, x.m, x.k, x.a), b(x.type, x.k, x.n, x.b), c(x.type, x.m, x.n, x.c);
    a.fill_random(random);
    b.fill_random(random);
    const bool has_nan = x.type == Type::f32 || x.type == Type::f64;
    if (x.beta == 0 && has_nan) {
        c.fill(nan);
    } else {
        c.fill_random(random);
    }
    const GuardedMatrix a_before = a, b_before = b;
    GuardedMatrix expected = c;
    const Product product{x.alpha, a.view(), b.view(), x.beta, c.view()};
    const Product reference{x.alpha, a.view(), b.view(), x.beta, expected.view()};
    ReferenceBackend().multiply({&reference, 1}, "");
    backend().multiply({&product, 1}, leaf);
    ASSERT_TRUE(c.equals(expected)) << describe(x, leaf);
    ASSERT_TRUE(a.equals_byte_for_byte(a_before) && b.equals_byte_for_byte(b_before)) << describe(x, leaf);
}

template <class T, std::size_t Count>
const T& any_of(const T (&choices)[Count], std::mt19937& random) {
    return choices[random() % Count];
}

std::vector<std::pair<Type, std::string>> leaves_of_blas_types_and_integers() {
    std::vector<std::pair<Type, std::string>> all;
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::i64}) {
        for (const std::string& leaf : backend().leaves(type)) {
            all.emplace_back(type, leaf);
        }
    }
    return all;
}

TEST(cpu_backend, random_products_of_every_leaf_equal_reference_bit_for_bit) {
    std::mt19937 random(11);
    const std::int64_t sides[] = {1,  2,  3,  4,  5,  7,  8,  9,  13,  16,  17, 24,
                                  31, 33, 48, 63, 64, 65, 96, 97, 129, 160, 201};
    const double alphas[] = {1, 1, -1, 2, 0}, betas[] = {0, 0, 1, -1, 3};
    for (const auto& [type, leaf] : leaves_of_blas_types_and_integers()) {
        for (int i = 0; i < kRandomProducts; ++i) {
            Case x{type,
                   any_of(sides, random),
                   any_of(sides, random),
                   any_of(sides, random),
                   any_of(alphas, random),
                   any_of(betas, random),
                   any_of(all_layouts, random),
                   any_of(all_layouts, random),
                   any_of(all_layouts, random)};
            if (x.m * x.k * x.n > 200000 && i % 16 != 0) {
                x.k = 1 + x.k % 8;
            }
            ASSERT_NO_FATAL_FAILURE(expect_equals_reference(x, leaf, random));
        }
    }
}

TEST(cpu_backend, products_cut_into_many_tiles_equal_reference_bit_for_bit) {
    std::mt19937 random(12);
    for (const auto& [type, leaf] : leaves_of_blas_types_and_integers()) {
        ASSERT_NO_FATAL_FAILURE(expect_equals_reference({type, 601, 7, 1003, 1, 0}, leaf, random));
        ASSERT_NO_FATAL_FAILURE(expect_equals_reference(
            {type, 1003, 9, 299, -1, 2, Layout::columns, Layout::rows, Layout::columns_padded}, leaf, random));
        ASSERT_NO_FATAL_FAILURE(expect_equals_reference({type, 3, 40, 4001, 1, 1}, leaf, random));
        ASSERT_NO_FATAL_FAILURE(expect_equals_reference({type, 4001, 40, 1, 1, 0}, leaf, random));
    }
}

TEST(cpu_backend, types_without_a_vendor_equal_reference_bit_for_bit) {
    std::mt19937 random(13);
    for (const Type type : {Type::tf32, Type::bf16, Type::f16, Type::gf2, Type::boolean}) {
        ASSERT_EQ(backend().leaves(type), std::vector<std::string>{"heptad"});
        for (const Layout layout : all_layouts) {
            ASSERT_NO_FATAL_FAILURE(
                expect_equals_reference({type, 67, 9, 131, 1, 1, layout, Layout::columns, layout}, "", random));
            ASSERT_NO_FATAL_FAILURE(expect_equals_reference({type, 5, 130, 70, 1, 0, layout}, "heptad", random));
        }
    }
}

TEST(cpu_backend, k_zero_or_alpha_zero_scales_c_and_reads_neither_a_nor_b) {
    for (const auto& [type, leaf] : leaves_of_blas_types_and_integers()) {
        for (const std::int64_t side : {5, 400}) {
            for (const double beta : {0.0, 2.0}) {
                for (const std::int64_t k : {std::int64_t{0}, side}) {
                    GuardedMatrix c(type, side, side, Layout::rows_padded);
                    c.fill(3);
                    // Null operands: touching them would crash.
                    const Product product{0, ConstView(nullptr, type, side, k, k, 1),
                                          ConstView(nullptr, type, k, side, side, 1), beta, c.view()};
                    if (is_integer(type) && k != 0) {
                        continue;  // the kernel's business, tested there
                    }
                    backend().multiply({&product, 1}, leaf);
                    EXPECT_EQ(c.get(0, 0), 3 * beta);
                    EXPECT_EQ(c.get(side - 1, side - 1), 3 * beta);
                }
            }
        }
    }
}

TEST(cpu_backend, nan_and_infinity_in_a_reach_the_rows_they_belong_to) {
    for (const auto& [type, leaf] : leaves_of_blas_types_and_integers()) {
        if (is_integer(type)) {
            continue;
        }
        GuardedMatrix a(type, 90, 50, Layout::rows), b(type, 50, 70, Layout::rows), c(type, 90, 70, Layout::rows);
        a.fill(1);
        b.fill(1);
        a.set(17, 3, nan);
        a.set(80, 3, std::numeric_limits<double>::infinity());
        const Product product{1, a.view(), b.view(), 0, c.view()};
        backend().multiply({&product, 1}, leaf);
        for (std::int64_t j = 0; j < 70; ++j) {
            ASSERT_TRUE(std::isnan(c.get(17, j))) << leaf;
            ASSERT_TRUE(std::isinf(c.get(80, j))) << leaf;
            ASSERT_EQ(c.get(18, j), 50) << leaf;
        }
    }
}

TEST(cpu_backend, batch_of_mixed_shapes_equals_reference) {
    std::mt19937 random(14);
    for (const auto& [type, leaf] : leaves_of_blas_types_and_integers()) {
        std::vector<GuardedMatrix> matrices;
        matrices.reserve(100);
        std::vector<Product> batch, reference;
        const std::int64_t shapes[][3] = {{300, 20, 310}, {1, 1, 1},   {0, 5, 3},
                                          {70, 0, 70},    {7, 300, 7}, {128, 128, 128}};
        for (const auto& [m, k, n] : shapes) {
            matrices.emplace_back(type, m, k, Layout::rows).fill_random(random);
            const View a = matrices.back().view();
            matrices.emplace_back(type, k, n, Layout::columns).fill_random(random);
            const View b = matrices.back().view();
            matrices.emplace_back(type, m, n, Layout::rows).fill_random(random);
            const View c = matrices.back().view();
            matrices.emplace_back(matrices.back());
            batch.push_back({1, a, b, 1, c});
            reference.push_back({1, a, b, 1, matrices.back().view()});
        }
        backend().multiply(batch, leaf);
        ReferenceBackend().multiply(reference, "");
        for (std::size_t i = 0; i < batch.size(); ++i) {
            EXPECT_TRUE(matrices[4 * i + 2].equals(matrices[4 * i + 3])) << leaf << " product " << i;
        }
    }
}

TEST(cpu_backend, products_from_eight_threads_at_once_are_right_whatever_leaf_each_uses) {
    const auto leaves = leaves_of_blas_types_and_integers();
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            std::mt19937 random(100 + t);
            for (std::size_t i = 0; i < 2 * leaves.size(); ++i) {
                const auto& [type, leaf] = leaves[(i + t) % leaves.size()];
                const std::int64_t side = i % 2 == 0 ? 30 : 110;
                GuardedMatrix a(type, side, side, Layout::rows), b(type, side, side, Layout::rows);
                GuardedMatrix c(type, side, side, Layout::rows), expected(type, side, side, Layout::rows);
                a.fill_random(random);
                b.fill_random(random);
                const Product product{1, a.view(), b.view(), 0, c.view()};
                const Product reference{1, a.view(), b.view(), 0, expected.view()};
                backend().multiply({&product, 1}, leaf);
                ReferenceBackend().multiply({&reference, 1}, "");
                wrong += c.equals(expected) ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST(cpu_backend, same_product_twice_gives_the_same_bits) {
    std::mt19937 random(15);
    std::uniform_real_distribution<double> values(-1, 1);
    for (const auto& [type, leaf] : leaves_of_blas_types_and_integers()) {
        GuardedMatrix a(type, 270, 150, Layout::rows), b(type, 150, 530, Layout::rows), c(type, 270, 530, Layout::rows);
        for (GuardedMatrix* matrix : {&a, &b}) {
            for (std::int64_t i = 0; i < matrix->view().rows; ++i) {
                for (std::int64_t j = 0; j < matrix->view().cols; ++j) {
                    matrix->set(i, j, is_integer(type) ? 1e9 * values(random) : values(random));
                }
            }
        }
        GuardedMatrix again = c;
        const Product first{0.3, a.view(), b.view(), 0, c.view()}, second{0.3, a.view(), b.view(), 0, again.view()};
        backend().multiply({&first, 1}, leaf);
        backend().multiply({&second, 1}, leaf);
        EXPECT_TRUE(c.equals_byte_for_byte(again)) << leaf;
    }
}

TEST(cpu_backend, unknown_leaf_and_vendor_leaf_of_an_exact_type_are_usage_errors) {
    GuardedMatrix a(Type::i32, 2, 2, Layout::rows), b = a, c = a;
    const Product product{1, a.view(), b.view(), 0, c.view()};
    EXPECT_THROW(backend().multiply({&product, 1}, "atlas"), Error);
    EXPECT_EQ(CpuBackend::leaf_id(""), 0);
    for (const std::string& leaf : backend().leaves(Type::f32)) {
        EXPECT_GT(CpuBackend::leaf_id(leaf), 0);
        if (leaf != "heptad") {
            EXPECT_THROW(backend().multiply({&product, 1}, leaf), Error) << leaf;
        }
    }
}

TEST(cpu_backend, combine_scan_and_copy_of_large_blocks_equal_reference) {
    std::mt19937 random(16);
    ReferenceBackend reference;
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::i64, Type::gf2}) {
        for (const Layout layout : {Layout::rows_padded, Layout::columns, Layout::general}) {
            std::vector<GuardedMatrix> slots, expected;
            for (int s = 0; s < 4; ++s) {
                slots.emplace_back(type, 301, 403, layout).fill_random(random);
                expected.push_back(slots.back());
            }
            CombinePass pass, reference_pass;
            pass.statements = {{2, {{0, 1}, {1, -1}}}, {3, {{2, 1}, {0, 1}, {3, 1}}}};
            reference_pass.statements = pass.statements;
            for (std::size_t s = 0; s < 4; ++s) {
                pass.slots.push_back(slots[s].view());
                reference_pass.slots.push_back(expected[s].view());
            }
            backend().combine(pass);
            reference.combine(reference_pass);
            for (std::size_t s = 0; s < 4; ++s) {
                EXPECT_TRUE(slots[s].equals(expected[s])) << type_name(type) << " slot " << s;
            }
            EXPECT_EQ(backend().scan(slots[3].view()).max_abs, reference.scan(slots[3].view()).max_abs);
            GuardedMatrix copy(type, 301, 403, Layout::columns_padded);
            GuardedMatrix expected_copy = copy;
            backend().copy(slots[3].view(), copy.view());
            reference.copy(slots[3].view(), expected_copy.view());
            EXPECT_TRUE(copy.equals(expected_copy)) << type_name(type);
        }
    }
}

TEST(cpu_backend, scan_finds_one_nan_in_a_large_matrix) {
    GuardedMatrix a(Type::f32, 700, 900, Layout::rows_padded);
    a.fill(2);
    EXPECT_EQ(backend().scan(a.view()).max_abs, 2);
    a.set(699, 899, nan);
    EXPECT_TRUE(std::isnan(backend().scan(a.view()).max_abs));
}

TEST(cpu_backend_tiles, tiles_cover_c_exactly_once) {
    for (const std::int64_t m : {1, 31, 64, 257, 1000, 2049}) {
        for (const std::int64_t n : {1, 50, 512, 777, 3001}) {
            for (const int threads : {1, 2, 7}) {
                const std::vector<Product> batch{{1, ConstView(nullptr, Type::f32, m, 300, 300, 1),
                                                  ConstView(nullptr, Type::f32, 300, n, n, 1), 0,
                                                  View(nullptr, Type::f32, m, n, n, 1)}};
                const TileGrid grid = tile_grid(m, 300, n, threads, 1);
                std::int64_t elements = 0;
                for (std::int64_t i = 0; i < grid.count(); ++i) {
                    const std::int64_t row = i / grid.col_tiles * grid.rows, col = i % grid.col_tiles * grid.cols;
                    ASSERT_LT(row, m);
                    ASSERT_LT(col, n);
                    elements += std::min(grid.rows, m - row) * std::min(grid.cols, n - col);
                }
                EXPECT_EQ(elements, m * n);
                EXPECT_EQ(BatchTiles(batch, threads).count(), grid.count());
            }
        }
    }
}

TEST(cpu_backend_tiles, large_products_give_every_thread_several_tiles) {
    EXPECT_EQ(tile_grid(4096, 4096, 4096, 1, 1).count(), 1);
    EXPECT_GE(tile_grid(4096, 4096, 4096, 2, 1).count(), 4);
    EXPECT_EQ(tile_grid(4096, 4096, 4096, 2, 1).count() % 2, 0);
    EXPECT_GE(tile_grid(16, 2048, 4096, 4, 1).count(), 4);
    EXPECT_EQ(tile_grid(512, 512, 512, 2, 1.0 / 49).count(), 1);
    EXPECT_EQ(tile_grid(8, 8, 8, 16, 1).count(), 1);
    EXPECT_GE(tile_grid(256, 256, 256, 2, 1).count(), 2);
}

TEST(cpu_backend_tiles, products_of_a_batch_stay_whole_and_the_last_ones_even_out_the_end) {
    const auto alike = [](std::size_t count, std::int64_t n) {
        return std::vector<Product>(
            count, {1, ConstView(nullptr, Type::f32, n, n, n, 1), ConstView(nullptr, Type::f32, n, n, n, 1), 0,
                    View(nullptr, Type::f32, n, n, n, 1)});
    };
    const auto whole = [](const std::vector<Product>& batch, int threads) {
        const BatchTiles tiles(batch, threads);
        std::int64_t elements = 0;
        int count = 0;
        for (std::int64_t i = 0; i < tiles.count(); ++i) {
            const Product tile = tiles.tile(i);
            elements += tile.c.rows * tile.c.cols;
            const bool is_whole = tile.c.rows == batch.front().c.rows && tile.c.cols == batch.front().c.cols;
            EXPECT_TRUE(!is_whole || count == i) << "whole products come first";
            count += is_whole ? 1 : 0;
        }
        std::int64_t all = 0;
        for (const Product& product : batch) {
            all += product.c.rows * product.c.cols;
        }
        EXPECT_EQ(elements, all);
        return count;
    };
    EXPECT_EQ(whole(alike(7, 1024), 2), 6);
    EXPECT_EQ(whole(alike(7, 1024), 4), 4);
    EXPECT_EQ(whole(alike(7, 1024), 7), 0);
    EXPECT_EQ(whole(alike(7, 1024), 16), 0);
    EXPECT_EQ(whole(alike(2, 1024), 2), 0);
    EXPECT_EQ(whole(alike(7, 1024), 1), 7);
    std::vector<Product> mixed = alike(7, 1024);
    mixed.back() = alike(1, 512).front();
    EXPECT_EQ(whole(mixed, 2), 0);
}

TEST(cpu_backend, a_batch_that_is_cancelled_starts_no_other_leaf) {
    const CancelToken token;
    token.cancel();
    const GuardedMatrix a(Type::f64, 96, 80, Layout::rows), b(Type::f64, 80, 96, Layout::rows);
    for (const std::string& leaf : backend().leaves(Type::f64)) {
        GuardedMatrix c(Type::f64, 96, 96, Layout::rows);
        c.fill(7);
        const GuardedMatrix before = c;
        const Product products[] = {{1, a.view(), b.view(), 0, c.view()}, {1, a.view(), b.view(), 1, c.view()}};
        try {
            const CancelScope heeded(&token);
            backend().multiply(products, leaf);
            ADD_FAILURE() << leaf;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled) << leaf;
        }
        EXPECT_TRUE(c.equals_byte_for_byte(before)) << leaf;
        EXPECT_EQ(CancelScope::here(), nullptr);
    }
}

TEST(cpu_backend_blas, strides_that_are_never_used_are_made_up_and_overlapping_rows_refused) {
    const auto operand = [](std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride) {
        return blas_operand(ConstView(nullptr, Type::f32, rows, cols, row_stride, col_stride));
    };
    EXPECT_EQ(operand(1, 8, 0, 1).leading, 8);
    EXPECT_EQ(operand(8, 1, 3, 0).leading, 3);
    EXPECT_TRUE(operand(1, 8, -7, 5).by_columns);
    EXPECT_EQ(operand(1, 8, -7, 5).leading, 5);
    EXPECT_FALSE(operand(4, 8, 7, 1).fits);   // rows overlap
    EXPECT_FALSE(operand(4, 8, -9, 1).fits);  // rows run backwards
    EXPECT_FALSE(operand(4, 8, 20, 2).fits);
    EXPECT_FALSE(operand(4, 8, std::int64_t{1} << 31, 1).fits);
    EXPECT_FALSE(operand(std::int64_t{1} << 31, 1, 1, 1).fits);
}

}  // namespace
}  // namespace heptad::cpu
