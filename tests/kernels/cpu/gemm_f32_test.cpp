// Products of f32 against the classical bound, for every instruction set of the machine: some add up three bf16 for
// each number, which only numbers that are neither tiny nor huge allow.
#include "kernels/cpu/classical_bound.hpp"

#include <limits>

#include "base/thread_pool.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/instruction_sets.hpp"

namespace heptad::cpu {
namespace {

using test::expect_near_exact_product;
using test::GuardedMatrix;
using test::Layout;

class gemm_f32 : public test::OfAnySizes {
protected:
    /// Uniform exponents in [least, most] would hide what large sums do: here all numbers have one sign.
    void make_positive(GuardedMatrix& x) {
        for (std::int64_t i = 0; i < x.view().rows; ++i) {
            for (std::int64_t j = 0; j < x.view().cols; ++j) {
                x.set(i, j, std::abs(x.get(i, j)));
            }
        }
    }
};

TEST_P(gemm_f32, odd_sizes_strides_and_scalars_are_within_the_classical_bound) {
    constexpr Layout layouts[] = {Layout::rows, Layout::columns, Layout::general, Layout::rows_padded,
                                  Layout::reversed};
    std::size_t turn = 0;
    for (const std::int64_t m : {1, 31, 33, 70}) {
        for (const std::int64_t k : {97, 128, 129, 255, 257, 600}) {
            for (const std::int64_t n : {1, 32, 47, 99}) {
                ++turn;
                GuardedMatrix a(Type::f32, m, k, layouts[turn % 5]), b(Type::f32, k, n, layouts[turn / 5 % 5]),
                    c(Type::f32, m, n, layouts[turn / 2 % 5]);
                fill(a, -8, 8);
                fill(b, -8, 8);
                fill(c, -8, 8);
                if (turn % 4 == 0) {
                    make_positive(a);
                    make_positive(b);
                }
                const double alpha = turn % 2 == 0 ? 1 : -0.75, beta = turn % 3 == 0 ? 0 : 1.5;
                const GuardedMatrix before = c;
                gemm({alpha, a.view(), b.view(), beta, c.view()}, GetParam());
                expect_near_exact_product(a, b, alpha, before, beta, c, Type::f32);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

TEST_P(gemm_f32, times_the_identity_is_the_same_matrix) {
    constexpr std::int64_t side = 200;
    GuardedMatrix identity(Type::f32, side, side, Layout::rows);
    identity.fill(0);
    for (std::int64_t i = 0; i < side; ++i) {
        identity.set(i, i, 1);
    }
    // The first range is split into bf16 everywhere, the second nowhere, the third here and there.
    for (const auto& [least, most] : {std::pair{-80, 99}, std::pair{-149, 100}, std::pair{-103, -60}}) {
        GuardedMatrix x(Type::f32, side, side, Layout::rows), left = x, right = x;
        fill(x, least, most);
        gemm({1, identity.view(), x.view(), 0, left.view()}, GetParam());
        gemm({1, x.view(), identity.view(), 0, right.view()}, GetParam());
        EXPECT_TRUE(left.equals(x)) << least;
        EXPECT_TRUE(right.equals(x)) << least;
    }
}

TEST_P(gemm_f32, tiny_and_huge_numbers_are_within_the_classical_bound) {
    struct Range {
        int least_a, most_a, least_b, most_b;
    };
    // Subnormal factors, products and sums, ends of what is split, and such beside ordinary numbers.
    for (const Range r :
         {Range{-149, -127, 0, 6}, Range{0, 3, -149, -127}, Range{-70, -60, -70, -60}, Range{-126, -110, -20, 0},
          Range{-149, 10, -4, 4}, Range{-104, -100, 0, 20}, Range{-45, -30, -40, -30}, Range{-40, 90, -40, 20},
          Range{60, 126, -149, -100}, Range{-20, 118, -10, -2}}) {
        for (const std::int64_t k : {130, 300, 600}) {
            GuardedMatrix a(Type::f32, 35, k, Layout::rows), b(Type::f32, k, 37, Layout::rows),
                c(Type::f32, 35, 37, Layout::rows);
            fill(a, r.least_a, r.most_a);
            fill(b, r.least_b, r.most_b);
            gemm({1, a.view(), b.view(), 0, c.view()}, GetParam());
            expect_near_exact_product(a, b, 1, c, 0, c, Type::f32);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

/// Blocks of rows with tiny numbers take another way than those beside them; both must be right.
TEST_P(gemm_f32, rows_of_tiny_numbers_beside_ordinary_ones_are_within_the_classical_bound) {
    constexpr std::int64_t m = 600, k = 300, n = 70;
    GuardedMatrix a(Type::f32, m, k, Layout::rows), b(Type::f32, k, n, Layout::rows), c(Type::f32, m, n, Layout::rows);
    fill(a, -10, 10);
    fill(b, -10, 10);
    fill_row(a, 3, 0, k, -149, -120);
    fill_row(a, 590, k / 2, k, 90, 105);
    gemm({1, a.view(), b.view(), 0, c.view()}, GetParam());
    expect_near_exact_product(a, b, 1, c, 0, c, Type::f32);
}

TEST_P(gemm_f32, zeros_times_tiny_numbers_are_zeros) {
    constexpr std::int64_t side = 200;
    GuardedMatrix zeros(Type::f32, side, side, Layout::rows), tiny = zeros, product = zeros;
    zeros.fill(0);
    for (const int exponent : {-149, -134, -130, -126, -110, -90}) {
        fill(tiny, exponent, exponent + 3);
        for (const bool left : {true, false}) {
            product.fill(7);
            gemm({1, (left ? tiny : zeros).view(), (left ? zeros : tiny).view(), 0, product.view()}, GetParam());
            EXPECT_TRUE(product.equals(zeros)) << exponent;
        }
    }
}

TEST_P(gemm_f32, nan_and_infinity_stay_in_their_rows_and_columns) {
    constexpr std::int64_t side = 160;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    GuardedMatrix a(Type::f32, side, side, Layout::rows), b = a, c = a;
    fill(a, -3, 3);
    fill(b, -3, 3);
    a.set(5, 7, std::numeric_limits<double>::quiet_NaN());
    a.set(90, 0, infinity);
    b.set(11, 140, -infinity);
    gemm({1, a.view(), b.view(), 0, c.view()}, GetParam());
    for (std::int64_t i = 0; i < side; ++i) {
        for (std::int64_t j = 0; j < side; ++j) {
            double sum = 0;
            for (std::int64_t p = 0; p < side; ++p) {
                sum += a.get(i, p) * b.get(p, j);
            }
            const double is = c.get(i, j);
            ASSERT_TRUE(std::isnan(sum)   ? std::isnan(is)
                        : std::isinf(sum) ? is == sum
                                          : std::isfinite(is))
                << i << ", " << j << ": " << is << " for " << sum;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(every_set, gemm_f32, testing::ValuesIn(test::sets_with_tables_of_their_own()),
                         [](const auto& set) { return std::string(instruction_set_name(set.param)); });

TEST(gemm_f32_threads, give_the_same_bits_whatever_their_number) {
    for (const std::int64_t depth : {100, 128, 129, 500}) {
        constexpr std::int64_t side = 301;
        GuardedMatrix a(Type::f32, side, depth, Layout::rows), b(Type::f32, depth, side, Layout::rows),
            c(Type::f32, side, side, Layout::rows);
        std::mt19937 random(5);
        a.fill_random(random);
        b.fill_random(random);
        const auto thirds = [](GuardedMatrix& x) {  // small integers alone would be exact
            for (std::int64_t i = 0; i < x.view().rows; ++i) {
                for (std::int64_t j = 0; j < x.view().cols; ++j) {
                    x.set(i, j, x.get(i, j) / 3 + 0.1 * static_cast<double>(j % 7));
                }
            }
        };
        thirds(a);
        thirds(b);
        const auto product = [&](int threads) {
            const Product p{1, a.view(), b.view(), 0, c.view()};
            CpuBackend(shared_pool(threads)).multiply({&p, 1}, "heptad");
            return c;
        };
        const GuardedMatrix alone = product(1);
        for (const int threads : {2, 3, 5}) {
            EXPECT_TRUE(product(threads).equals_byte_for_byte(alone)) << threads << ", depth " << depth;
        }
    }
}

}  // namespace
}  // namespace heptad::cpu
