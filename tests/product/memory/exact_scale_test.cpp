// Accuracy `exact` where nothing is multiplied: beta C rounded once, for every type, without workspace; and lines with
// a NaN or an infinity, whose other numbers are never multiplied, however many bits they span.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/complex_as_real.hpp"
#include "base/error.hpp"
#include "kernels/guarded_matrix.hpp"
#include "plan/search/planner.hpp"
#include "product/memory/batch.hpp"
#include "product/memory/product.hpp"
#include "run/residue/rounded_once.hpp"

namespace heptad::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
/// Bits enough for its product with a float, but for those far below a half.
constexpr long double kTenth = 0.1;

Options exact(const char* device) {
    Options options;
    options.accuracy = Accuracy::exact;
    options.device = device;
    return options;
}

/// Real numbers, or the parts of complex ones, that no rule gets right by chance.
std::vector<double> numbers_of(const View& reals) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < reals.rows; ++i) {
        for (std::int64_t j = 0; j < reals.cols; ++j) {
            const double x = std::sin(static_cast<double>(37 * i + j + 1)) * (j % 7 == 3 ? 1e-6 : 1);
            set_element(reals.type, element_pointer(reals, i, j),
                        i == 2 && j == 3   ? kInf
                        : i == 2 && j == 4 ? -0.0
                                           : x);
            numbers.push_back(get_element(reals.type, element_pointer(reals, i, j)));
        }
    }
    return numbers;
}

TEST(exact_scale, beta_c_is_rounded_once_whatever_is_empty) {
    constexpr std::int64_t m = 19, n = 23;
    for (const Type type : {Type::f32, Type::f64, Type::f16, Type::bf16, Type::tf32, Type::c64, Type::c128}) {
        const Type part = is_complex(type) ? part_type(type) : type;
        const std::int64_t pitch = (n + 2) * static_cast<std::int64_t>(element_bytes(type));
        for (const char* const device : {"cpu", "reference"}) {
            for (const auto& [alpha, k] : {std::pair{1.0, 0}, {0.0, 0}, {kInf, 0}, {kNaN, 0}, {0.0, 5}}) {
                for (const double beta : {0.1, -1e-3, 1.0, 0.0, 1e300, 1e-39, 1e-310, kInf}) {
                    std::vector<std::byte> memory(static_cast<std::size_t>(m * pitch));
                    const View c(memory.data(), type, m, n, n + 2, 1);
                    const View reals = is_complex(type) ? rows_as_reals(c) : c;
                    const std::vector<double> old = numbers_of(reals);
                    Options options = exact(device);
                    options.workspace_limit_bytes = k == 0 ? 0 : options.workspace_limit_bytes;
                    const std::vector<std::byte> operand(m * n * 16, std::byte{0xff});  // NaNs
                    multiply_in_memory(alpha, ConstView(operand.data(), type, m, k, k, 1),
                                       ConstView(operand.data(), type, k, n, n, 1), beta, c, options);
                    for (std::int64_t i = 0; i < m * reals.cols; ++i) {
                        const double x = old[static_cast<std::size_t>(i)];
                        const bool is_finite = std::isfinite(x) && std::isfinite(beta);
                        const double expected = beta == 0   ? 0
                                                : is_finite ? rounded_once(1, {}, 0, beta, x, part)
                                                            : beta * x;
                        const double made = get_element(part, element_pointer(reals, i / reals.cols, i % reals.cols));
                        ASSERT_TRUE(std::isnan(expected)
                                        ? std::isnan(made)
                                        : made == expected && std::signbit(made) == std::signbit(expected))
                            << type_name(type) << " " << device << " alpha " << alpha << " k " << k << " beta " << beta
                            << ": " << made << " for " << expected;
                    }
                }
            }
        }
    }
}

TEST(exact_scale, f32_is_not_multiplied_by_a_factor_that_was_rounded) {
    std::vector<float> c(1000), expected;
    for (std::size_t i = 0; i < c.size(); ++i) {
        c[i] = std::sin(static_cast<float>(i + 1));
        expected.push_back(static_cast<float>(kTenth * static_cast<long double>(c[i])));
    }
    scale_in_memory(0.1, View(c.data(), Type::f32, 1, 1000, 1000, 1), 1, Accuracy::exact);
    EXPECT_EQ(c, expected);
}

TEST(exact_scale, plans_and_batches_of_nothing_take_no_workspace) {
    for (const Type type : {Type::f32, Type::f64, Type::bf16, Type::c64}) {
        for (const auto& [m, k, n] : {std::tuple{300, 0, 200}, {0, 50, 200}, {300, 50, 0}}) {
            const ProductPlan plan = plan_product(m, k, n, type, exact("cpu"), {});
            EXPECT_EQ(plan.workspace_bytes, 0) << to_string(plan);
            EXPECT_EQ(parse_plan(to_string(plan)), plan);
            check_plan(plan);
        }
    }
    std::vector<float> c{1, 2, 3, 4, 5, 6, 7, 8};
    ProductBatch batch;
    batch.a = ConstView(c.data(), Type::f32, 2, 0, 1, 1);
    batch.b = ConstView(c.data(), Type::f32, 0, 2, 2, 1);
    batch.c = View(c.data(), Type::f32, 2, 2, 2, 1);
    batch.beta = 0.1;
    batch.stride_c = 4;
    batch.count = 2;
    Options options = exact("cpu");
    options.workspace_limit_bytes = 0;
    multiply_batch_in_memory(batch, options, {});
    EXPECT_EQ(c[2], static_cast<float>(3 * kTenth));
    EXPECT_EQ(c[7], static_cast<float>(8 * kTenth));
}

TEST(exact_scale, lines_that_are_not_finite_may_span_any_number_of_bits) {
    constexpr std::int64_t m = 40, k = 30, n = 50;
    for (const Type type : {Type::f32, Type::f64, Type::bf16}) {
        GuardedMatrix a(type, m, k, Layout::rows), b(type, k, n, Layout::rows), c0(type, m, n, Layout::rows);
        std::mt19937 random(3);
        a.fill_random(random, 9);
        b.fill_random(random, 9);
        c0.fill_random(random, 9);
        GuardedMatrix wide_a = a, wide_b = b;
        const auto widen = [&](GuardedMatrix& x, std::int64_t line, bool is_row, double not_finite) {
            for (std::int64_t p = 0; p < k; ++p) {
                x.set(is_row ? line : p, is_row ? p : line,
                      p == 11 ? not_finite : std::ldexp(1, 7 * static_cast<int>(p) - 100));
            }
        };
        widen(wide_b, 20, false, 1);
        for (const char* const device : {"cpu", "reference"}) {
            GuardedMatrix c = c0;
            EXPECT_THROW(multiply_in_memory(1, a.view(), wide_b.view(), 0.3, c.view(), exact(device)), Error);
        }
        widen(wide_a, 5, true, kNaN);
        widen(wide_a, 33, true, kInf);
        widen(wide_b, 20, false, -kInf);
        for (const auto& [device, algorithm] :
             {std::pair{"cpu", "auto"}, {"cpu", "strassen"}, {"reference", "auto"}, {"reference", "winograd"}}) {
            Options options = exact(device);
            options.algorithm = algorithm;
            options.levels = options.algorithm == "auto" ? -1 : 1;
            GuardedMatrix c = c0, expected = c0;
            multiply_in_memory(3, wide_a.view(), wide_b.view(), 0.3, c.view(), options);
            multiply_in_memory(3, a.view(), b.view(), 0.3, expected.view(), options);
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    double classical = 0;
                    for (std::int64_t p = 0; p < k; ++p) {
                        classical += wide_a.get(i, p) * wide_b.get(p, j);
                    }
                    const double right = i != 5 && i != 33 && j != 20 ? expected.get(i, j) : classical;
                    ASSERT_TRUE(c.get(i, j) == right || (std::isnan(right) && std::isnan(c.get(i, j))))
                        << type_name(type) << " " << device << " " << i << " " << j << ": " << c.get(i, j);
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test
