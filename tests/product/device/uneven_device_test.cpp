// Rows and columns that are spread unevenly, on a device: `balanced` answers with the classical product in every mode,
// for every way in which A and B are laid out, without anybody waiting; and even data goes the fast way.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_product.hpp"
#include "product/memory/product_cases.hpp"

namespace heptad::test {
namespace {

class UnevenOnDevice : public ::testing::Test {
protected:
    void SetUp() override {
        if (!cuda::report().available) {
            GTEST_SKIP() << cuda::report().problem;
        }
    }
};

enum class Uneven { nowhere, row_of_a, last_row_of_a, col_of_b, inner, zero_row };
constexpr Uneven kUneven[] = {Uneven::row_of_a, Uneven::last_row_of_a, Uneven::col_of_b, Uneven::inner,
                              Uneven::zero_row};

struct Operands {
    GuardedMatrix a, b, c;
};

Operands operands(Type type, const ProblemSize& size, Layout layout_a, Layout layout_b, Uneven uneven) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(0.5, 1);
    Operands x{GuardedMatrix(type, size.m, size.k, layout_a), GuardedMatrix(type, size.k, size.n, layout_b),
               GuardedMatrix(type, size.m, size.n, Layout::rows)};
    // Odd rows and columns at the end are no part of the levels.
    const std::int64_t row = uneven == Uneven::last_row_of_a ? size.m / 4 * 4 - 1 : 3;
    const double small = uneven == Uneven::zero_row ? 0 : 0x1p-9;
    const bool scales_row = uneven == Uneven::row_of_a || uneven == Uneven::last_row_of_a || uneven == Uneven::zero_row;
    for (std::int64_t i = 0; i < size.m; ++i) {
        for (std::int64_t j = 0; j < size.k; ++j) {
            const double sign = (i * 31 + j * 17) % 3 == 0 ? -1 : 1;
            x.a.set(i, j,
                    sign * uniform(random) * (scales_row && i == row ? small : 1) *
                        (uneven == Uneven::inner && j == size.k / 2 ? 512 : 1));
        }
    }
    for (std::int64_t i = 0; i < size.k; ++i) {
        for (std::int64_t j = 0; j < size.n; ++j) {
            const double sign = (i * 13 + j * 29) % 3 == 0 ? -1 : 1;
            x.b.set(i, j,
                    sign * uniform(random) * (uneven == Uneven::col_of_b && j == size.n / 4 * 4 - 1 ? small : 1) *
                        (uneven == Uneven::inner && i == size.k / 2 ? 1.0 / 512 : 1));
        }
    }
    x.c.fill(7);
    return x;
}

/// Largest error over |A||B|, of the rows that are looked at.
double worst_error(Operands& x, const ProblemSize& size) {
    double worst = 0;
    for (const std::int64_t i : {std::int64_t{0}, std::int64_t{3}, size.m / 2, size.m / 4 * 4 - 1, size.m - 1}) {
        for (std::int64_t j = 0; j < size.n; ++j) {
            double sum = 0, magnitude = 0;
            for (std::int64_t l = 0; l < size.k; ++l) {
                const double product = x.a.get(i, l) * x.b.get(l, j);
                sum += product;
                magnitude += std::abs(product);
            }
            const double error = std::abs(x.c.get(i, j) - sum);
            const double here = error == 0 ? 0 : error / magnitude;
            worst = here <= worst ? worst : here;
        }
    }
    return worst;
}

struct Way {
    int levels;
    const char* mode;
};

std::vector<Way> ways(Type type) {
    std::vector<Way> all = {{1, "parallel"}, {2, "parallel"}, {1, "serial"}};
    if (type == Type::f32 || type == Type::f64) {
        all.push_back({1, "fused"});
        all.push_back({2, "fused"});
    }
    return all;
}

Options options_of(const Way& way, Accuracy accuracy) {
    Options options;
    options.device = "cuda";
    options.accuracy = accuracy;
    options.levels = way.levels;
    options.mode = way.mode;
    return options;
}

RunReport multiply(Operands& x, const Way& way, Accuracy accuracy, double beta = 0) {
    const Options options = options_of(way, accuracy);
    return multiply_on_device(1, x.a.view(), x.b.view(), beta, x.c.view(), options, {});
}

TEST_F(UnevenOnDevice, balanced_is_as_exact_as_the_classical_product_and_says_so) {
    const ProblemSize sizes[] = {{256, 256, 256}, {268, 516, 260}, {101, 203, 307}};
    int levels_seen = 0;  // f16 has none in some modes
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16}) {
        for (const ProblemSize& size : sizes) {
            for (const Way& way : ways(type)) {
                for (const Uneven uneven : kUneven) {
                    for (const auto& [a, b] : {std::pair{Layout::rows, Layout::rows},
                                               {Layout::columns, Layout::rows},
                                               {Layout::columns, Layout::columns}}) {
                        Operands x = operands(type, size, a, b, uneven);
                        const RunReport report = multiply(x, way, Accuracy::balanced);
                        const double bound = static_cast<double>(size.k) * (type == Type::f64 ? 0x1p-53 : 0x1p-24) +
                                             (type == Type::f32 || type == Type::f64 ? 0 : 2 * unit_roundoff(type));
                        const bool has_levels =
                            !plan_device_product(size.m, size.k, size.n, type, options_of(way, Accuracy::balanced), {})
                                 .levels.empty();
                        levels_seen += has_levels ? 1 : 0;
                        ASSERT_EQ(report.fell_back && report.uneven, has_levels)
                            << type_name(type) << " " << size.m << " " << way.levels << " " << way.mode << " "
                            << static_cast<int>(uneven);
                        ASSERT_LE(worst_error(x, size), bound) << type_name(type) << " " << way.mode;
                    }
                }
            }
        }
    }
    EXPECT_GT(levels_seen, 600);
}

TEST_F(UnevenOnDevice, even_data_goes_the_fast_way_and_fast_takes_any) {
    for (const Type type : {Type::f32, Type::f64, Type::bf16}) {
        for (const Way& way : ways(type)) {
            const ProblemSize size{384, 256, 320};
            Operands even = operands(type, size, Layout::rows, Layout::rows, Uneven::nowhere);
            const RunReport report = multiply(even, way, Accuracy::balanced);
            EXPECT_FALSE(report.fell_back || report.uneven) << type_name(type) << " " << way.levels << " " << way.mode;
            EXPECT_LE(worst_error(even, size), 64 * unit_roundoff(type));
            Operands uneven = operands(type, size, Layout::rows, Layout::rows, Uneven::row_of_a);
            EXPECT_FALSE(multiply(uneven, way, Accuracy::fast).fell_back) << way.mode;
        }
    }
}

TEST_F(UnevenOnDevice, c_is_added_to_once_whoever_answers) {
    for (const Way& way : ways(Type::f32)) {
        const ProblemSize size{256, 256, 256};
        Operands with = operands(Type::f32, size, Layout::rows, Layout::rows, Uneven::col_of_b), without = with;
        multiply(without, way, Accuracy::balanced);
        EXPECT_TRUE(multiply(with, way, Accuracy::balanced, 2).fell_back) << way.mode;
        for (std::int64_t i = 0; i < size.m; ++i) {
            for (std::int64_t j = 0; j < size.n; ++j) {
                ASSERT_NEAR(with.c.get(i, j), without.c.get(i, j) + 14, 1e-3) << way.mode;
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test
