// Levels over bf16, f16 and tf32 on a device: sums in f16, powers of two taken out of A and B, the classical product
// where f16 cannot hold what comes up.
#include <gtest/gtest.h>

#include <cmath>

#include "plan/predict/error_bound.hpp"
#include "plan/search/level_layout.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {
namespace {

Options with_levels(int levels, const std::string& algorithm = "winograd") {
    Options options;
    options.device = "cuda";
    options.levels = levels;
    options.algorithm = algorithm;
    options.accuracy = Accuracy::balanced;
    return options;
}

GuardedMatrix product_there(double alpha, GuardedMatrix& a, GuardedMatrix& b, const Options& options) {
    GuardedMatrix c(a.view().type, a.view().rows, b.view().cols, Layout::rows);
    const cuda::Stream stream(0);
    DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    ProductPlan plan =
        plan_device_product(a.view().rows, a.view().cols, b.view().cols, a.view().type, options, context);
    if (plan.type == Type::tf32 && options.levels > 0) {  // only where a plan is told so
        plan.scaled_sums = true;
        plan.workspace_bytes = plan_workspace_bytes(plan);
        plan.error_bound = error_bound(plan);
    }
    EXPECT_EQ(plan.scaled_sums, options.levels > 0);
    multiply_on_device(alpha, da.view(), db.view(), 0, dc.view(), plan, 0, context);
    dc.fetch();
    stream.synchronize();
    return c;
}

void fill_uniform(GuardedMatrix& x, std::mt19937& random, double scale) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::int64_t i = 0; i < x.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.view().cols; ++j) {
            x.set(i, j, scale * uniform(random));
        }
    }
}

double largest_error(const GuardedMatrix& a, const GuardedMatrix& b, const GuardedMatrix& c, double alpha) {
    double largest = 0;
    for (std::int64_t i = 0; i < c.view().rows; i += 3) {
        for (std::int64_t j = 0; j < c.view().cols; ++j) {
            double sum = 0;
            for (std::int64_t q = 0; q < a.view().cols; ++q) {
                sum += a.get(i, q) * b.get(q, j);
            }
            largest = std::max(largest, std::abs(c.get(i, j) - alpha * sum));
        }
    }
    return largest;
}

TEST(scaled_sums_on_device, two_levels_are_nearly_as_accurate_as_none) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(31);
    for (const Type type : {Type::bf16, Type::f16, Type::tf32}) {
        GuardedMatrix a(type, 256, 256, Layout::rows), b(type, 256, 256, Layout::rows);
        fill_uniform(a, random, 1);
        fill_uniform(b, random, 1);
        const double classical = largest_error(a, b, product_there(1, a, b, with_levels(0)), 1);
        const double fast = largest_error(a, b, product_there(1, a, b, with_levels(2)), 1);
        EXPECT_GT(classical, 0);
        EXPECT_LT(fast, (type == Type::bf16 ? 4 : 16) * classical) << type_name(type);
    }
}

TEST(scaled_sums_on_device, magnitudes_that_f16_does_not_have_are_scaled_away) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(32);
    struct Magnitudes {
        Type type;
        double a, b, alpha;
    };
    for (const Magnitudes& m :
         {Magnitudes{Type::tf32, 0x1p80, 0x1p-90, 1}, Magnitudes{Type::tf32, 0x1p-100, 0x1p90, -2},
          Magnitudes{Type::bf16, 0x1p80, 0x1p-90, 1}, Magnitudes{Type::bf16, 0x1p-100, 0x1p90, -2},
          Magnitudes{Type::bf16, 0x1p-60, 0x1p-60, 0x1p40}, Magnitudes{Type::f16, 0x1p14, 0x1p-13, 0.5},
          Magnitudes{Type::f16, 0x1p-10, 0x1p10, 3}}) {
        for (const char* algorithm : {"winograd", "strassen", "winograd*winograd"}) {
            GuardedMatrix a(m.type, 100, 96, Layout::rows), b(m.type, 96, 68, Layout::rows);
            fill_uniform(a, random, m.a);
            fill_uniform(b, random, m.b);
            const double unit = m.a * m.b * std::abs(m.alpha);
            const double classical = largest_error(a, b, product_there(m.alpha, a, b, with_levels(0)), m.alpha) / unit;
            const double fast =
                largest_error(a, b, product_there(m.alpha, a, b, with_levels(1, algorithm)), m.alpha) / unit;
            EXPECT_LT(fast, 40 * classical) << type_name(m.type) << " " << m.a << " " << m.b << " " << algorithm;
        }
    }
}

/// Blocks of one sign each such that two levels of winograd multiply sums nine times as large as any entry.
void fill_with_signs(GuardedMatrix& x, bool left, double value) {
    const std::int64_t n = x.view().rows;
    const auto sign = [&](std::int64_t i, std::int64_t j) {
        return left ? (i == 0 && j == 0 ? -1.0 : 1.0) : (i == 0 && j == 1 ? -1.0 : 1.0);
    };
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            x.set(i, j, value * sign(i / (n / 2), j / (n / 2)) * sign(i / (n / 4) % 2, j / (n / 4) % 2));
        }
    }
}

TEST(scaled_sums_on_device, sums_that_f16_cannot_hold_are_answered_classically) {
    HEPTAD_NEEDS_DEVICE();
    const std::int64_t n = 4096;  // products of 1024 terms of 81: more than 65504
    for (const Type type : {Type::bf16, Type::f16}) {
        GuardedMatrix a(type, n, n, Layout::rows), b(type, n, n, Layout::rows);
        fill_with_signs(a, true, 0.9375);  // just below 1, so that scaling does not halve it
        fill_with_signs(b, false, 0.9375);
        const GuardedMatrix fast = product_there(1, a, b, with_levels(1, "winograd*winograd"));
        const GuardedMatrix classical = product_there(1, a, b, with_levels(0));
        for (std::int64_t i = 0; i < n; i += 97) {
            for (std::int64_t j = 0; j < n; j += 31) {
                ASSERT_TRUE(std::isfinite(classical.get(i, j)));
                ASSERT_EQ(fast.get(i, j), classical.get(i, j)) << type_name(type) << " " << i << ", " << j;
            }
        }
    }
}

TEST(scaled_sums_on_device, products_of_tf32_that_f16_cannot_hold_are_kept_in_f32) {
    HEPTAD_NEEDS_DEVICE();
    const std::int64_t n = 4096;  // products of 1024 terms of 81, as above
    GuardedMatrix a(Type::tf32, n, n, Layout::rows), b(Type::tf32, n, n, Layout::rows);
    fill_with_signs(a, true, 0.9375);
    fill_with_signs(b, false, 0.9375);
    const GuardedMatrix fast = product_there(1, a, b, with_levels(1, "winograd*winograd"));
    const GuardedMatrix classical = product_there(1, a, b, with_levels(0));
    for (std::int64_t i = 0; i < n; i += 97) {
        for (std::int64_t j = 0; j < n; j += 31) {
            ASSERT_NEAR(fast.get(i, j), classical.get(i, j), 0x1p-20 * 81 * 1024) << i << ", " << j;
        }
    }
}

TEST(scaled_sums_on_device, huge_entries_of_tf32_leave_all_bits_to_those_they_are_not_added_to) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(33);
    const std::int64_t n = 256;
    GuardedMatrix a(Type::tf32, n, n, Layout::rows), b(Type::tf32, n, n, Layout::rows);
    fill_uniform(a, random, 1);
    fill_uniform(b, random, 1);
    const double huge = 0x1p18;
    const std::int64_t row = 200, col = 210;
    a.set(row, 17, huge);
    b.set(9, col, -huge);
    const GuardedMatrix classical = product_there(1, a, b, with_levels(0));
    const GuardedMatrix fast = product_there(1, a, b, with_levels(1));
    double error = 0, classical_error = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            if (i % (n / 2) != row % (n / 2) && j % (n / 2) != col % (n / 2)) {
                double sum = 0;
                for (std::int64_t q = 0; q < n; ++q) {
                    sum += a.get(i, q) * b.get(q, j);
                }
                error = std::max(error, std::abs(fast.get(i, j) - sum));
                classical_error = std::max(classical_error, std::abs(classical.get(i, j) - sum));
            }
        }
    }
    EXPECT_GT(classical_error, 0);
    EXPECT_LT(error, 16 * classical_error);
}

TEST(scaled_sums_on_device, results_near_the_limit_of_f16_are_the_classical_ones) {
    HEPTAD_NEEDS_DEVICE();
    GuardedMatrix a(Type::f16, 64, 64, Layout::rows), b(Type::f16, 64, 64, Layout::rows);
    a.fill(32);
    b.fill(32);
    a.set(3, 5, 32.0 + 1.0 / 32);
    for (const double alpha : {0.9, 1.0}) {  // 58982, and 65536, which is infinite
        const GuardedMatrix fast = product_there(alpha, a, b, with_levels(2));
        const GuardedMatrix classical = product_there(alpha, a, b, with_levels(0));
        EXPECT_EQ(std::isfinite(fast.get(0, 0)), alpha < 1);
        EXPECT_TRUE(fast.equals_byte_for_byte(classical)) << alpha;
    }
}

}  // namespace
}  // namespace heptad::test
