// Products of bf16 by instructions of their own, which take tiny numbers for zero, for every instruction set of the
// machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/thread_pool.hpp"
#include "kernels/cpu/classical_bound.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cpu_features.hpp"

namespace heptad::cpu {
namespace {

using test::expect_near_exact_product;
using test::GuardedMatrix;
using test::Layout;

class gemm_bf16 : public test::OfAnySizes {};

TEST_P(gemm_bf16, odd_sizes_strides_and_scalars_are_within_the_classical_bound) {
    constexpr Layout layouts[] = {Layout::rows, Layout::columns, Layout::general, Layout::rows_padded};
    std::size_t turn = 0;
    for (const std::int64_t m : {1, 17, 33, 70}) {
        for (const std::int64_t k : {1, 31, 32, 33, 65, 515, 1100}) {
            for (const std::int64_t n : {1, 15, 47, 67}) {
                ++turn;
                const Type type = turn % 3 == 0 ? Type::f32 : Type::bf16;
                GuardedMatrix a(Type::bf16, m, k, layouts[turn % 4]), b(Type::bf16, k, n, layouts[turn / 4 % 4]),
                    c(type, m, n, layouts[turn / 2 % 4]);
                fill(a, -8, 8);
                fill(b, -8, 8);
                fill(c, -8, 8);
                const double alpha = turn % 2 == 0 ? 1 : -0.75, beta = turn % 5 == 0 ? 0 : 1.5;
                const GuardedMatrix before = c;
                gemm({alpha, a.view(), b.view(), beta, c.view()}, GetParam());
                expect_near_exact_product(a, b, alpha, before, beta, c, type);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

TEST_P(gemm_bf16, tiny_numbers_are_not_taken_for_zero) {
    struct Range {
        int least_a, most_a, least_b, most_b;
    };
    // Subnormal factors, products and sums below 2^-126, and such beside ordinary ones.
    for (const Range r : {Range{-133, -127, 0, 6}, Range{0, 3, -133, -127}, Range{-70, -60, -70, -60},
                          Range{-126, -110, -20, 0}, Range{-133, 10, -4, 4}, Range{-60, 0, -60, 0}}) {
        for (const std::int64_t k : {32, 45, 1100}) {
            for (const Type type : {Type::bf16, Type::f32}) {
                GuardedMatrix a(Type::bf16, 35, k, Layout::rows), b(Type::bf16, k, 37, Layout::rows),
                    c(type, 35, 37, Layout::rows);
                fill(a, r.least_a, r.most_a);
                fill(b, r.least_b, r.most_b);
                gemm({1, a.view(), b.view(), 0, c.view()}, GetParam());
                expect_near_exact_product(a, b, 1, c, 0, c, type);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

TEST_P(gemm_bf16, tiny_sums_outlast_what_is_added_to_them_later) {
    constexpr std::int64_t k = 1300;
    GuardedMatrix a(Type::bf16, 35, k, Layout::rows), b(Type::bf16, k, 37, Layout::rows),
        c(Type::f32, 35, 37, Layout::rows);
    a.fill(0);
    for (std::int64_t i = 0; i < 35; ++i) {
        fill_row(a, i, 0, 10, -133, -127);
    }
    fill(b, -4, 0);
    gemm({1, a.view(), b.view(), 0, c.view()}, GetParam());
    expect_near_exact_product(a, b, 1, c, 0, c, Type::f32);
}

/// Rows whose first, middle or last entries are tiny, beside ordinary ones.
TEST_P(gemm_bf16, an_element_does_not_depend_on_tiny_numbers_beside_it) {
    constexpr std::int64_t m = 70, n = 75;
    for (const std::int64_t k : {40, 700, 1300}) {
        GuardedMatrix a(Type::bf16, m, k, Layout::rows), b(Type::bf16, k, n, Layout::rows),
            whole(Type::f32, m, n, Layout::rows);
        fill(a, -10, 10);
        fill(b, -30, 10);
        fill_row(a, 3, 0, k / 3, -133, -120);
        fill_row(a, 20, k / 3, 2 * k / 3, -100, -90);
        fill_row(a, 65, 2 * k / 3, k, -133, -127);
        GuardedMatrix tiled = whole;
        gemm({1, a.view(), b.view(), 0, whole.view()}, GetParam());
        for (std::int64_t i = 0; i < m; i += 7) {
            for (std::int64_t j = 0; j < n; j += 19) {
                const std::int64_t rows = std::min<std::int64_t>(7, m - i), cols = std::min<std::int64_t>(19, n - j);
                gemm({1, block(a.view(), i, 0, rows, k), block(b.view(), 0, j, k, cols), 0,
                      block(tiled.view(), i, j, rows, cols)},
                     GetParam());
            }
        }
        EXPECT_TRUE(tiled.equals_byte_for_byte(whole)) << k;
    }
}

TEST_P(gemm_bf16, both_tiles_give_the_same_bits_where_no_number_is_tiny) {
    const Bf16Kernels* const kernels = bf16_kernels_of(GetParam());
    if (kernels == nullptr) {
        GTEST_SKIP() << "no instructions for bf16, or not allowed here";
    }
    const auto entries = [&](int width, std::int64_t chunks) {
        std::vector<std::uint16_t> numbers(static_cast<std::size_t>(width * chunks * Bf16Kernels::chunk));
        std::uniform_int_distribution<unsigned> bits(0, 0xffff), exponent(71, 160);  // from 2^-56
        for (std::uint16_t& x : numbers) {
            x = static_cast<std::uint16_t>((bits(random_) & 0x807fU) | exponent(random_) << 7);
        }
        return numbers;
    };
    const TileUse use(*kernels);
    const std::int64_t stride = kernels->tile_cols + 5;
    for (const std::int64_t chunks : {1, 2, 7}) {
        for (int round = 0; round < 50; ++round) {
            const auto a = entries(kernels->tile_rows, chunks), b = entries(kernels->tile_cols, chunks);
            std::vector<float> fast(static_cast<std::size_t>(kernels->tile_rows * stride), 7), careful = fast;
            kernels->tile(chunks, a.data(), b.data(), round % 2 == 1, fast.data(), stride);
            kernels->tile_of_any_numbers(chunks, a.data(), b.data(), round % 2 == 1, careful.data(), stride);
            ASSERT_EQ(std::memcmp(fast.data(), careful.data(), fast.size() * sizeof(float)), 0);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(every_set, gemm_bf16, testing::ValuesIn(available_instruction_sets()),
                         [](const auto& set) { return std::string(instruction_set_name(set.param)); });

TEST(gemm_bf16_threads, give_the_same_bits_whatever_their_number) {
    constexpr std::int64_t side = 301;
    GuardedMatrix a(Type::bf16, side, side, Layout::rows), b = a, c = a;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> entries(-1, 1);
    for (std::int64_t i = 0; i < side; ++i) {
        for (std::int64_t j = 0; j < side; ++j) {
            a.set(i, j, std::ldexp(entries(random), i % 50 == 7 ? -125 : 0));
            b.set(i, j, entries(random));
        }
    }
    const auto product = [&](int threads) {
        const Product p{1, a.view(), b.view(), 0, c.view()};
        CpuBackend(shared_pool(threads)).multiply({&p, 1}, "");
        return c;
    };
    const GuardedMatrix alone = product(1);
    for (const int threads : {2, 3, 5}) {
        EXPECT_TRUE(product(threads).equals_byte_for_byte(alone)) << threads;
    }
}

}  // namespace
}  // namespace heptad::cpu
