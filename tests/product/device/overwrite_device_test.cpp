// Products on a device that may overwrite A and B: right to the last bit, in the workspace told, and answered from the
// operands as they were where the input is not finite; A and B stay untouched without leave.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "algorithm/schedule.hpp"
#include "base/error.hpp"
#include "io/device_machine.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {
namespace {

using Random = std::mt19937;

int pick(Random& random, int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
}

GuardedMatrix by_definition(const GuardedMatrix& a, const GuardedMatrix& b, double beta, const GuardedMatrix& old) {
    GuardedMatrix c = old;
    for (std::int64_t i = 0; i < c.view().rows; ++i) {
        for (std::int64_t j = 0; j < c.view().cols; ++j) {
            double sum = beta == 0 ? 0 : beta * old.get(i, j);
            for (std::int64_t q = 0; q < a.view().cols; ++q) {
                sum += a.get(i, q) * b.get(q, j);
            }
            c.set(i, j, sum);
        }
    }
    return c;
}

Layout pick_layout(Random& random) {
    constexpr Layout layouts[] = {Layout::rows, Layout::rows_padded, Layout::columns, Layout::columns_padded};
    return layouts[pick(random, 0, 3)];
}

TEST(overwrite_on_device, limited_workspace_gives_exact_results_and_operands_stay_without_leave) {
    HEPTAD_NEEDS_DEVICE();
    Random random(1);
    const cuda::Stream stream(0);
    constexpr Type types[] = {Type::f32, Type::f64, Type::i32};
    constexpr const char* algorithms[] = {"winograd", "alternative-basis"};
    int overwritten = 0;
    constexpr int kProducts = 1500;
    for (int i = 0; i < kProducts; ++i) {
        const Type type = types[pick(random, 0, 2)];
        const bool square = pick(random, 0, 2) > 0;
        const auto size = [&] {
            return std::int64_t{8} * pick(random, 1, 8) + (pick(random, 0, 1) == 0 ? 0 : pick(random, 0, 7));
        };
        const std::int64_t m = size(), k = square ? m : size(), n = square ? m : size();
        GuardedMatrix a(type, m, k, pick_layout(random)), b(type, k, n, pick_layout(random)),
            c(type, m, n, pick_layout(random));
        a.fill_random(random, 1);
        b.fill_random(random, 1);
        c.fill_random(random, 1);
        Options options;
        options.device = "cuda";
        options.accuracy = Accuracy::fast;
        options.algorithm = algorithms[pick(random, 0, 1)];
        options.levels = pick(random, 1, 3);
        options.overwrite_inputs = pick(random, 0, 3) > 0;
        const std::int64_t matrix = m * n * static_cast<std::int64_t>(element_bytes(type));
        const std::int64_t limits[] = {matrix * 3 / 8 + 640, matrix + 1024, 3 * matrix,
                                       std::numeric_limits<std::int64_t>::max()};
        options.workspace_limit_bytes = limits[pick(random, 0, 3)];
        const double beta = pick(random, 0, 3) == 0 ? 2 : 0;
        options.accumulate = beta != 0;
        const ProductPlan plan = plan_device_product(m, k, n, type, options, {});
        ASSERT_LE(plan.workspace_bytes, options.workspace_limit_bytes);
        const GuardedMatrix old_a = a, old_b = b, expected = by_definition(a, b, beta, c);
        DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
        ProductContext context;
        context.stream = stream.handle();
        const RunReport report = multiply_on_device(1, da.view(), db.view(), beta, dc.view(), options, context);
        da.fetch();
        db.fetch();
        dc.fetch();
        stream.synchronize();
        ASSERT_TRUE(c.equals(expected)) << to_string(plan);
        ASSERT_LE(report.workspace_used_bytes, plan.workspace_bytes) << to_string(plan);
        const bool kept = a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b);
        ASSERT_TRUE(kept || plan.overwrite_inputs) << to_string(plan);
        ASSERT_TRUE(options.overwrite_inputs || !plan.overwrite_inputs);
        overwritten += kept ? 0 : 1;
    }
    EXPECT_GT(overwritten * 10, kProducts);
}

/// Levels that all name one schedule.
ProductPlan named_plan(const std::string& name, std::int64_t n, Type type, int levels) {
    Problem problem{n, n, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.overwrite_inputs = true;
    return plan_with_levels(problem, default_device_machine(),
                            std::vector<LevelPlan>(static_cast<std::size_t>(levels),
                                                   {find_schedule(name).algorithm, LevelMode::serial, name}));
}

TEST(overwrite_on_device, every_overwriting_schedule_answers_nan_and_inf_as_the_classical_product) {
    HEPTAD_NEEDS_DEVICE();
    Random random(2);
    const cuda::Stream stream(0);
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (const char* name : {"p1-algorithm-1", "boyer-in-place-overwrite", "boyer-accumulate-overwrite"}) {
        for (const int levels : {1, 2, 3}) {
            for (const double special : {0.0, std::numeric_limits<double>::quiet_NaN(), kInf, -kInf, 3e38}) {
                for (const bool in_a : {true, false}) {
                    constexpr std::int64_t kSide = 36;  // with fringes
                    const ProductPlan plan = named_plan(name, kSide, Type::f32, levels);
                    ASSERT_TRUE(plan.overwrite_inputs);
                    GuardedMatrix a(Type::f32, kSide, kSide, Layout::rows), b(Type::f32, kSide, kSide, Layout::rows),
                        c(Type::f32, kSide, kSide, Layout::rows);
                    a.fill_random(random, 2);
                    b.fill_random(random, 2);
                    if (special != 0) {
                        (in_a ? a : b).set(pick(random, 0, 31), pick(random, 0, 31), special);
                    }
                    const GuardedMatrix expected = by_definition(a, b, 0, c);
                    DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
                    ProductContext context;
                    context.stream = stream.handle();
                    multiply_on_device(1, da.view(), db.view(), 0, dc.view(), plan, 0, context);
                    dc.fetch();
                    stream.synchronize();
                    for (std::int64_t i = 0; i < kSide; ++i) {
                        for (std::int64_t j = 0; j < kSide; ++j) {
                            const auto wanted = static_cast<double>(static_cast<float>(expected.get(i, j)));
                            const double found = c.get(i, j);
                            ASSERT_TRUE((std::isnan(found) && std::isnan(wanted)) || found == wanted ||
                                        std::abs(found - wanted) <= 1e-6 * std::abs(wanted))
                                << name << " " << levels << " " << special << ": " << found << " " << wanted;
                        }
                    }
                }
            }
        }
    }
}

TEST(overwrite_on_device, operands_that_overlap_are_kept) {
    HEPTAD_NEEDS_DEVICE();
    Random random(3);
    const cuda::Stream stream(0);
    GuardedMatrix a(Type::f32, 64, 64, Layout::rows), c(Type::f32, 64, 64, Layout::rows);
    a.fill_random(random, 2);
    const GuardedMatrix old_a = a, expected = by_definition(a, a, 0, c);
    DeviceMatrixCopy da(a, stream.handle()), dc(c, stream.handle());
    Options options;
    options.device = "cuda";
    options.algorithm = "alternative-basis";
    options.levels = 2;
    options.overwrite_inputs = true;
    ProductContext context;
    context.stream = stream.handle();
    multiply_on_device(1, da.view(), da.view(), 0, dc.view(), options, context);
    da.fetch();
    dc.fetch();
    stream.synchronize();
    EXPECT_TRUE(c.equals(expected));
    EXPECT_TRUE(a.equals_byte_for_byte(old_a));
    const ProductPlan plan = named_plan("p1-algorithm-1", 64, Type::f32, 1);
    EXPECT_THROW(multiply_on_device(1, da.view(), da.view(), 0, dc.view(), plan, 0, context), Error);
}

TEST(overwrite_on_device, operands_in_host_memory_are_never_written) {
    HEPTAD_NEEDS_DEVICE();
    Random random(4);
    GuardedMatrix a(Type::i32, 64, 64, Layout::rows), b(Type::i32, 64, 64, Layout::rows),
        c(Type::i32, 64, 64, Layout::rows);
    a.fill_random(random, 2);
    b.fill_random(random, 2);
    const GuardedMatrix old_a = a, old_b = b, expected = by_definition(a, b, 0, c);
    Options options;
    options.device = "cuda";
    options.algorithm = "alternative-basis";
    options.levels = 2;
    options.overwrite_inputs = true;
    multiply_on_device(1, a.view(), b.view(), 0, c.view(), options, {});
    EXPECT_TRUE(c.equals(expected));
    EXPECT_TRUE(a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b));
}

}  // namespace
}  // namespace heptad::test
