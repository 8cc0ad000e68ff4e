// Errors of products over |A||B| on a sample: none where C is exact, the one that was put in where it was, and a growth
// that is the one over the other.
#include "tune/plan_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/types.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/runner.hpp"
#include "tune/tune_timing.hpp"

namespace heptad {
namespace {

template <class T>
struct Square {
    explicit Square(std::int64_t side) : n(side), values(static_cast<std::size_t>(side * side)) {}
    View view(Type type) { return {values.data(), type, n, n, n, 1}; }
    T& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * n + j)]; }
    std::int64_t n;
    std::vector<T> values;
};

TEST(plan_errors, exact_products_have_none_and_one_wrong_entry_is_found) {
    constexpr std::int64_t n = 24;  // all of it is sampled
    Square<double> a(n), b(n), c(n);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            a.at(i, j) = static_cast<double>((i * 7 + j * 3) % 5 - 2);
            b.at(i, j) = static_cast<double>((i * 2 + j * 5) % 7 - 3);
        }
    }
    double magnitude = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t p = 0; p < n; ++p) {
                c.at(i, j) += a.at(i, p) * b.at(p, j);
                magnitude += i == 3 && j == 20 ? std::fabs(a.at(i, p) * b.at(p, j)) : 0;
            }
        }
    }
    const PlanErrors errors(a.view(Type::f64), b.view(Type::f64), copy_host_window, shared_pool(1));
    EXPECT_EQ(errors.of(c.view(Type::f64)), 0);
    c.at(3, 20) += 0.5;
    EXPECT_NEAR(errors.of(c.view(Type::f64)), 0.5 / magnitude, 1e-15);
}

TEST(plan_errors, more_levels_grow_them_more) {
    constexpr std::int64_t n = 768;  // columns are sampled
    cpu::CpuBackend backend(shared_pool(1));
    for (const Type type : {Type::f32, Type::f64}) {
        const Operands operands(type, n);
        const Product product = operands.product({n, n, n});
        const PlanErrors errors(product.a, product.b, copy_host_window, shared_pool(1));
        Problem problem{n, n, n, type, 1, {}};
        problem.options.accuracy = Accuracy::fast;
        const auto error_with = [&](int levels) {
            const ProductPlan plan = plan_with_shape(
                problem, Machine{}, {std::vector<std::string>(static_cast<std::size_t>(levels), "winograd"), "heptad"});
            const Operands::Memory workspace =
                Operands::huge_pages(static_cast<std::size_t>(std::max<std::int64_t>(1, plan.workspace_bytes)));
            run_plan(plan, backend, 1, product.a, product.b, 0, product.c, workspace.get());
            return errors.of(product.c);
        };
        const double classical = error_with(0), two = error_with(2), four = error_with(4);
        EXPECT_GT(classical, 0);
        EXPECT_LT(classical, 20 * unit_roundoff(type));
        EXPECT_GT(error_growth(two, classical, type), 1);
        EXPECT_GT(error_growth(four, classical, type), error_growth(two, classical, type));
        EXPECT_LT(error_growth(four, classical, type), 200);
    }
}

TEST(plan_errors, growth_over_a_product_without_errors_is_finite) {
    EXPECT_EQ(error_growth(0, 0, Type::f32), 1);
    EXPECT_TRUE(std::isfinite(error_growth(1e-3, 0, Type::f32)));
    EXPECT_NEAR(error_growth(6e-7, 2e-7, Type::f32), 3, 1e-9);
}

}  // namespace
}  // namespace heptad
