// Products that may overwrite A and B: right to the last bit, in the workspace told, from operands as they were where
// the input is not finite; and operands that are never touched without leave.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "kernels/guarded_matrix.hpp"
#include "plan/search/planner.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr int kProducts = 100;
#else
constexpr int kProducts = 4000;
#endif

using Random = std::mt19937;

int pick(Random& random, int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
}

struct Operands {
    GuardedMatrix a, b, c;
    Operands(Type type, std::int64_t m, std::int64_t k, std::int64_t n, Random& random)
        : a(type, m, k, all_layouts[static_cast<std::size_t>(pick(random, 0, std::size(all_layouts) - 1))]),
          b(type, k, n, all_layouts[static_cast<std::size_t>(pick(random, 0, std::size(all_layouts) - 1))]),
          c(type, m, n, all_layouts[static_cast<std::size_t>(pick(random, 0, std::size(all_layouts) - 1))]) {
        a.fill_random(random, 2);
        b.fill_random(random, 2);
        c.fill_random(random, 2);
    }
};

/// What lies around and between the elements.
bool same_guards(GuardedMatrix x, GuardedMatrix y) {
    x.fill(0);
    y.fill(0);
    return x.equals_byte_for_byte(y);
}

GuardedMatrix by_definition(double alpha, const GuardedMatrix& a, const GuardedMatrix& b, double beta,
                            const GuardedMatrix& old) {
    GuardedMatrix c = old;
    for (std::int64_t i = 0; i < c.view().rows; ++i) {
        for (std::int64_t j = 0; j < c.view().cols; ++j) {
            double sum = 0;
            for (std::int64_t q = 0; q < a.view().cols; ++q) {
                sum += a.get(i, q) * b.get(q, j);
            }
            c.set(i, j, alpha * sum + (beta == 0 ? 0 : beta * old.get(i, j)));
        }
    }
    return c;
}

/// Sizes of a few units of four, square or not, with fringes now and then.
std::int64_t pick_size(Random& random) {
    return 8 * pick(random, 1, 3) + (pick(random, 0, 2) == 0 ? pick(random, 0, 7) : 0);
}

TEST(overwrite_inputs, results_are_exact_in_the_workspace_told_and_operands_stay_without_leave) {
    Random random(1);
    constexpr Type types[] = {Type::f32, Type::f64, Type::i32, Type::i64};
    constexpr const char* algorithms[] = {"winograd", "alternative-basis", "strassen"};
    constexpr const char* modes[] = {"auto", "auto", "serial", "parallel"};
    int overwritten = 0, square = 0;
    for (int i = 0; i < kProducts; ++i) {
        const std::int64_t m = pick_size(random);
        const bool is_square = pick(random, 0, 1) == 0;
        const std::int64_t k = is_square ? m : pick_size(random), n = is_square ? m : pick_size(random);
        Operands x(types[pick(random, 0, 2)], m, k, n, random);
        Options options;
        options.accuracy = Accuracy::fast;  // those levels, whatever the data is like
        options.device = pick(random, 0, 3) == 0 ? "reference" : "cpu";
        options.algorithm = algorithms[pick(random, 0, 2)];
        options.mode = modes[pick(random, 0, 3)];
        options.levels = pick(random, 1, 3);
        options.overwrite_inputs = pick(random, 0, 3) > 0;
        constexpr std::int64_t limits[] = {0, 64, 640, 1600, 6400, std::numeric_limits<std::int64_t>::max()};
        options.workspace_limit_bytes = limits[pick(random, 0, 5)];
        const double alpha = pick(random, 1, 2), beta = pick(random, 0, 2);
        options.accumulate = beta != 0;
        ProductContext context;
        context.threads = pick(random, 1, 2);
        const ProductPlan plan = plan_product(m, k, n, x.a.view().type, options, context);
        ASSERT_LE(plan.workspace_bytes, options.workspace_limit_bytes);
        ASSERT_EQ(parse_plan(to_string(plan)), plan);
        ASSERT_NO_THROW(check_plan(plan)) << to_string(plan);
        const GuardedMatrix old_a = x.a, old_b = x.b, expected = by_definition(alpha, x.a, x.b, beta, x.c);
        const RunReport report = multiply_in_memory(alpha, x.a.view(), x.b.view(), beta, x.c.view(), options, context);
        ASSERT_TRUE(x.c.equals(expected)) << to_string(plan);
        ASSERT_LE(report.workspace_used_bytes, plan.workspace_bytes) << to_string(plan);
        ASSERT_FALSE(report.fell_back);
        const bool kept = x.a.equals_byte_for_byte(old_a) && x.b.equals_byte_for_byte(old_b);
        ASSERT_TRUE(kept || plan.overwrite_inputs) << to_string(plan);
        ASSERT_TRUE(options.overwrite_inputs || !plan.overwrite_inputs) << to_string(plan);
        ASSERT_TRUE(same_guards(x.a, old_a) && same_guards(x.b, old_b)) << to_string(plan);
        overwritten += kept ? 0 : 1;
        square += !kept && is_square ? 1 : 0;
    }
    EXPECT_GT(square * 20, kProducts);
    EXPECT_GT((overwritten - square) * 20, kProducts) << "of blocks that are not square";
}

TEST(overwrite_inputs, square_winograd_needs_no_workspace_at_all) {
    Random random(2);
    for (const int levels : {1, 2, 3}) {
        Options options;
        options.algorithm = "winograd";
        options.levels = levels;
        options.workspace_limit_bytes = 0;
        EXPECT_TRUE(plan_product(64, 64, 64, Type::i32, options, {}).levels.empty());
        options.overwrite_inputs = true;
        const ProductPlan plan = plan_product(64, 64, 64, Type::i32, options, {});
        EXPECT_EQ(plan.levels.size(), static_cast<std::size_t>(levels));
        EXPECT_EQ(plan.levels.front().schedule, "boyer-in-place-overwrite");
        EXPECT_EQ(plan.workspace_bytes, 0);
    }
    // P1's own needs two temporaries and a spare block per level, where changing bases by copies needs A and B again.
    Options options;
    options.algorithm = "alternative-basis";
    options.levels = 2;
    options.overwrite_inputs = true;
    const std::int64_t matrix = std::int64_t{64} * 64 * 4;
    const ProductPlan hoisted = plan_product(64, 64, 64, Type::i32, options, {});
    EXPECT_TRUE(hoisted.change_basis && hoisted.overwrite_inputs);
    options.overwrite_inputs = false;
    EXPECT_EQ(plan_product(64, 64, 64, Type::i32, options, {}).workspace_bytes, hoisted.workspace_bytes + 2 * matrix);
}

TEST(overwrite_inputs, errors_stay_within_the_bound_of_the_plan) {
    Random random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    constexpr std::int64_t kSide = 96;
    for (const char* schedule : {"p1-algorithm-1", "boyer-in-place-overwrite", "boyer-accumulate-overwrite"}) {
        for (const int levels : {1, 2, 3}) {
            Problem problem{kSide, kSide, kSide, Type::f32, 1, {}};
            problem.options.device = "reference";
            problem.options.overwrite_inputs = true;
            const ProductPlan plan = plan_with_levels(
                problem, Machine{},
                std::vector<LevelPlan>(static_cast<std::size_t>(levels),
                                       {std::string(schedule).starts_with("p1") ? "alternative-basis" : "winograd",
                                        LevelMode::serial, schedule}));
            ASSERT_EQ(plan.levels.front().schedule, schedule);
            Operands x(Type::f32, kSide, kSide, kSide, random);
            for (GuardedMatrix* operand : {&x.a, &x.b}) {
                for (std::int64_t i = 0; i < kSide; ++i) {
                    for (std::int64_t j = 0; j < kSide; ++j) {
                        operand->set(i, j, uniform(random));
                    }
                }
            }
            const GuardedMatrix old_a = x.a, old_b = x.b;
            multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), plan, {});
            double largest = 0;
            for (std::int64_t i = 0; i < kSide; ++i) {
                for (std::int64_t j = 0; j < kSide; ++j) {
                    double sum = 0;
                    for (std::int64_t q = 0; q < kSide; ++q) {
                        sum += old_a.get(i, q) * old_b.get(q, j);
                    }
                    largest = std::max(largest, std::abs(sum - x.c.get(i, j)));
                }
            }
            EXPECT_GT(largest, 0);
            EXPECT_LE(largest, plan.error_bound) << schedule << " " << levels;
        }
    }
}

TEST(overwrite_inputs, the_planner_takes_it_where_the_limit_leaves_nothing_faster) {
    Options options;
    options.accuracy = Accuracy::fast;
    options.workspace_limit_bytes = 1 << 20;
    const ProductPlan keeping = plan_product(8192, 8192, 8192, Type::f32, options, {});
    EXPECT_FALSE(keeping.overwrite_inputs);
    options.overwrite_inputs = true;
    const ProductPlan plan = plan_product(8192, 8192, 8192, Type::f32, options, {});
    EXPECT_TRUE(plan.overwrite_inputs) << to_string(plan);
    EXPECT_LT(plan.predicted_s, keeping.predicted_s);
    options.workspace_limit_bytes = std::numeric_limits<std::int64_t>::max();
    EXPECT_FALSE(plan_product(8192, 8192, 8192, Type::f32, options, {}).overwrite_inputs);
}

TEST(overwrite_inputs, what_is_not_finite_is_answered_from_the_operands_as_they_were) {
    Random random(3);
    constexpr double specials[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(), 3e38};
    for (int i = 0; i < 100; ++i) {
        const std::int64_t m = pick_size(random), k = pick(random, 0, 1) == 0 ? m : pick_size(random);
        Operands x(Type::f32, m, k, m, random);
        GuardedMatrix& with_special = pick(random, 0, 1) == 0 ? x.a : x.b;
        const double special = specials[pick(random, 0, 3)];
        for (std::int64_t j = 0; j < (special == 3e38 ? with_special.view().cols : 1); ++j) {
            with_special.set(pick(random, 0, 7), j, special);
        }
        Options options;
        options.algorithm = pick(random, 0, 1) == 0 ? "winograd" : "alternative-basis";
        options.levels = pick(random, 1, 2);
        options.leaf = "heptad";
        options.overwrite_inputs = true;
        options.workspace_limit_bytes = pick(random, 0, 1) == 0 ? 1600 : 0;
        const double beta = pick(random, 0, 1);
        GuardedMatrix classical = x.c;
        Options zero;
        zero.levels = 0;
        zero.leaf = "heptad";
        multiply_in_memory(1, x.a.view(), x.b.view(), beta, classical.view(), zero, {});
        multiply_in_memory(1, x.a.view(), x.b.view(), beta, x.c.view(), options, {});
        ASSERT_TRUE(x.c.equals_byte_for_byte(classical)) << options.algorithm << " " << special << " case " << i;
    }
}

TEST(overwrite_inputs, operands_that_overlap_are_never_overwritten) {
    Random random(4);
    Operands x(Type::i32, 32, 32, 32, random);
    const GuardedMatrix old_a = x.a;
    const GuardedMatrix expected = by_definition(1, x.a, x.a, 0, x.c);
    Options options;
    options.algorithm = "winograd";
    options.levels = 2;
    options.overwrite_inputs = true;
    options.workspace_limit_bytes = 0;
    multiply_in_memory(1, x.a.view(), x.a.view(), 0, x.c.view(), options, {});
    EXPECT_TRUE(x.c.equals(expected));
    EXPECT_TRUE(x.a.equals_byte_for_byte(old_a));
    const ProductPlan plan = plan_product(32, 32, 32, Type::i32, options, {});
    ASSERT_TRUE(plan.overwrite_inputs);
    EXPECT_THROW(multiply_in_memory(1, x.a.view(), x.a.view(), 0, x.c.view(), plan, {}), Error);
    const ConstView repeated(x.a.view().data, Type::i32, 32, 32, 0, 1);
    EXPECT_THROW(multiply_in_memory(1, repeated, x.b.view(), 0, x.c.view(), plan, {}), Error);
    EXPECT_TRUE(x.a.equals_byte_for_byte(old_a));
}

TEST(overwrite_inputs, a_plan_that_does_not_say_so_is_refused) {
    Options options;
    options.algorithm = "winograd";
    options.levels = 1;
    options.overwrite_inputs = true;
    options.workspace_limit_bytes = 0;
    ProductPlan plan = plan_product(32, 32, 32, Type::i32, options, {});
    ASSERT_TRUE(plan.overwrite_inputs);
    plan.overwrite_inputs = false;
    EXPECT_THROW(check_plan(plan), Error);
    ProductPlan keeping = plan_product(32, 32, 32, Type::i32, Options{}, {});
    keeping.overwrite_inputs = true;
    EXPECT_THROW(check_plan(keeping), Error);
}

}  // namespace
}  // namespace heptad::test
