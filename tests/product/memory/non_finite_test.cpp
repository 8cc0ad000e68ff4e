// NaN, Inf and sums that would overflow: the result with forced levels is the classical product's, bit for bit, because
// the classical kernel makes it. What is not to be read may hold anything.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/thread_pool.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/guarded_matrix.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Random = std::mt19937;

int pick(Random& random, int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
}

struct Operands {
    GuardedMatrix a, b, c;
    Operands(Type type, std::int64_t m, std::int64_t k, std::int64_t n, Random& random)
        : a(type, m, k, Layout::rows), b(type, k, n, Layout::columns), c(type, m, n, Layout::rows_padded) {
        a.fill_random(random);
        b.fill_random(random);
        c.fill_random(random);
    }
};

Options forced(const std::string& algorithm, int levels, const std::string& leaf, const std::string& mode = "auto") {
    Options options;
    options.accuracy = Accuracy::fast;  // those levels, whatever the data is like
    options.algorithm = algorithm;
    options.levels = levels;
    options.leaf = leaf;
    options.mode = mode;
    return options;
}

/// Which entries are NaN, +Inf, -Inf or finite.
std::vector<int> kinds(const GuardedMatrix& c) {
    std::vector<int> result;
    for (std::int64_t i = 0; i < c.view().rows; ++i) {
        for (std::int64_t j = 0; j < c.view().cols; ++j) {
            const double x = c.get(i, j);
            result.push_back(std::isnan(x) ? 0 : !std::isinf(x) ? 1 : x > 0 ? 2 : 3);
        }
    }
    return result;
}

void put(GuardedMatrix& x, double value, Random& random) {
    x.set(pick(random, 0, static_cast<int>(x.view().rows) - 1), pick(random, 0, static_cast<int>(x.view().cols) - 1),
          value);
}

constexpr const char* kAlgorithms[] = {"winograd", "strassen", "2x3x3-15", "alternative-basis", "2x2x2-7-accurate"};

TEST(non_finite, nan_and_inf_sets_equal_the_classical_products) {
    Random random(1);
    constexpr double values[] = {kNan, kInf, -kInf};
    int compared = 0;
    for (const Type type : {Type::f32, Type::f64}) {
        for (const std::string& leaf : cpu::CpuBackend(shared_pool(1)).leaves(type)) {
            for (int i = 0; i < 60; ++i) {
                Operands x(type, pick(random, 12, 40), pick(random, 12, 40), pick(random, 12, 40), random);
                const int specials = i % 3 == 0 ? 1 : pick(random, 1, 5);
                for (int s = 0; s < specials; ++s) {
                    put(pick(random, 0, 1) == 0 ? x.a : x.b, values[pick(random, 0, 2)], random);
                }
                const double beta = pick(random, 0, 1);
                GuardedMatrix classical = x.c;
                const char* algorithm = kAlgorithms[pick(random, 0, 4)];
                const int levels = pick(random, 1, 3);
                const RunReport report = multiply_in_memory(1, x.a.view(), x.b.view(), beta, x.c.view(),
                                                            forced(algorithm, levels, leaf), {});
                multiply_in_memory(1, x.a.view(), x.b.view(), beta, classical.view(), forced("auto", 0, leaf), {});
                ASSERT_TRUE(report.fell_back) << algorithm << " " << levels;
                ASSERT_TRUE(x.c.equals_byte_for_byte(classical))
                    << type_name(type) << " " << leaf << " " << algorithm << " levels " << levels << " case " << i;
                ++compared;
            }
        }
    }
    EXPECT_GE(compared, 120);
}

TEST(non_finite, one_nan_in_a_stays_in_its_row_and_one_in_b_in_its_column) {
    Random random(2);
    for (const char* algorithm : kAlgorithms) {
        for (const char* mode : {"serial", "parallel"}) {
            Operands x(Type::f32, 24, 30, 28, random);
            x.a.set(5, 7, kNan);
            multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), forced(algorithm, 2, "auto", mode), {});
            for (std::int64_t i = 0; i < 24; ++i) {
                for (std::int64_t j = 0; j < 28; ++j) {
                    ASSERT_EQ(std::isnan(x.c.get(i, j)), i == 5) << algorithm << " " << mode;
                }
            }
            x.a.set(5, 7, 1);
            x.b.set(3, 9, kNan);
            multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), forced(algorithm, 2, "auto", mode), {});
            for (std::int64_t i = 0; i < 24; ++i) {
                for (std::int64_t j = 0; j < 28; ++j) {
                    ASSERT_EQ(std::isnan(x.c.get(i, j)), j == 9) << algorithm << " " << mode;
                }
            }
        }
    }
}

TEST(non_finite, nan_and_inf_in_c_stay_where_they_are) {
    Random random(3);
    for (const char* algorithm : kAlgorithms) {
        for (const char* mode : {"serial", "parallel"}) {
            for (const double beta : {1.0, -2.0}) {
                for (const double special : {kNan, kInf}) {
                    Operands x(Type::f64, 26, 25, 27, random);
                    x.c.set(4, 20, special);
                    GuardedMatrix classical = x.c;
                    multiply_in_memory(1, x.a.view(), x.b.view(), beta, x.c.view(),
                                       forced(algorithm, 2, "heptad", mode), {});
                    multiply_in_memory(1, x.a.view(), x.b.view(), beta, classical.view(), forced("auto", 0, "heptad"),
                                       {});
                    ASSERT_EQ(kinds(x.c), kinds(classical)) << algorithm << " " << mode << " beta " << beta;
                }
            }
        }
    }
}

TEST(non_finite, values_whose_sums_overflow_give_the_classical_result) {
    Random random(4);
    for (const char* algorithm : kAlgorithms) {
        for (int levels = 1; levels <= 3; ++levels) {
            for (const double large : {3e38, 1e38, 1e37}) {
                Operands x(Type::f32, 24, 27, 25, random);
                for (std::int64_t i = 0; i < 24; ++i) {
                    for (std::int64_t q = 0; q < 27; ++q) {
                        x.a.set(i, q, pick(random, 0, 1) == 0 ? large : -large);
                    }
                }
                x.b.fill(0);
                for (std::int64_t q = 0; q < 25; ++q) {
                    x.b.set(q, q, 0.5);  // C is half of A: nothing overflows in the classical product
                }
                GuardedMatrix classical = x.c;
                multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), forced(algorithm, levels, "heptad"), {});
                multiply_in_memory(1, x.a.view(), x.b.view(), 0, classical.view(), forced("auto", 0, "heptad"), {});
                ASSERT_EQ(kinds(x.c), kinds(classical)) << algorithm << " " << levels << " " << large;
                for (std::int64_t i = 0; i < 24; ++i) {
                    for (std::int64_t j = 0; j < 25; ++j) {
                        ASSERT_EQ(x.c.get(i, j), 0.5 * x.a.get(i, j)) << algorithm << " " << levels << " " << large;
                    }
                }
            }
        }
    }
}

TEST(non_finite, a_large_c_does_not_overflow_on_the_way) {
    Random random(5);
    for (const char* algorithm : kAlgorithms) {
        for (const char* mode : {"serial", "parallel"}) {
            Operands x(Type::f32, 24, 27, 25, random);
            x.a.fill(1e18);
            x.b.fill(1e18);
            x.c.fill(-3e38);
            multiply_in_memory(1, x.a.view(), x.b.view(), 1, x.c.view(), forced(algorithm, 2, "heptad", mode), {});
            for (const int kind : kinds(x.c)) {
                ASSERT_EQ(kind, 1) << algorithm << " " << mode;
            }
        }
    }
}

TEST(non_finite, beta_zero_ignores_nan_in_c) {
    Random random(6);
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16}) {
        for (const char* algorithm : kAlgorithms) {
            for (const char* mode : {"serial", "parallel"}) {
                for (int levels = 0; levels <= 3; ++levels) {
                    Operands x(type, pick(random, 1, 40), pick(random, 0, 40), pick(random, 1, 40), random);
                    x.c.fill(kNan);
                    multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(),
                                       forced(algorithm, levels, "auto", mode), {});
                    for (const int kind : kinds(x.c)) {
                        ASSERT_EQ(kind, 1) << type_name(type) << " " << algorithm << " " << mode << " " << levels;
                    }
                }
            }
        }
    }
}

TEST(non_finite, alpha_zero_ignores_nan_in_a_and_b) {
    Random random(7);
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16}) {
        for (const double beta : {0.0, 1.0, 2.0}) {
            for (int levels = 0; levels <= 2; ++levels) {
                Operands x(type, 20, 21, 22, random);
                x.a.fill(kNan);
                x.b.fill(kInf);
                GuardedMatrix expected = x.c;
                for (std::int64_t i = 0; i < 20; ++i) {
                    for (std::int64_t j = 0; j < 22; ++j) {
                        expected.set(i, j, beta * x.c.get(i, j));
                    }
                }
                multiply_in_memory(0, x.a.view(), x.b.view(), beta, x.c.view(), forced("winograd", levels, "auto"), {});
                ASSERT_TRUE(x.c.equals(expected)) << type_name(type) << " beta " << beta << " levels " << levels;
            }
        }
    }
}

TEST(non_finite, a_scalar_that_is_not_finite_gives_the_classical_result) {
    Random random(8);
    for (const double alpha : {kNan, kInf, 1e300}) {
        Operands x(Type::f32, 20, 21, 22, random);
        GuardedMatrix classical = x.c;
        multiply_in_memory(alpha, x.a.view(), x.b.view(), 0, x.c.view(), forced("winograd", 2, "heptad"), {});
        multiply_in_memory(alpha, x.a.view(), x.b.view(), 0, classical.view(), forced("auto", 0, "heptad"), {});
        EXPECT_EQ(kinds(x.c), kinds(classical)) << alpha;
    }
}

}  // namespace
}  // namespace heptad::test
