// P0's plans on a CUDA device, at small sizes and with every level forced, against the definition in integers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/device_machine.hpp"
#include "papers/p0/p0_plan.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {
namespace {

ProductPlan device_plan(std::int64_t n, Type type, const std::string& algorithm, int levels,
                        const std::string& leaf = "auto") {
    Options options;
    options.device = "cuda";
    options.leaf = leaf;
    return p0_plan(n, type, algorithm, p0_thresholds(n, levels), options, default_device_machine());
}

/// Operands go there, and everything comes back: guards and inputs too.
void multiply_there(GuardedMatrix& a, GuardedMatrix& b, GuardedMatrix& c, const ProductPlan& plan) {
    const cuda::Stream stream(0);
    DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    multiply_on_device(1, da.view(), db.view(), 0, dc.view(), plan, 0, context);
    da.fetch();
    db.fetch();
    dc.fetch();
    stream.synchronize();
}

/// Small integers: every sum of every level is exact in f32 too.
std::vector<std::int64_t> exact_product(const GuardedMatrix& a, const GuardedMatrix& b) {
    const std::int64_t n = a.view().rows;
    std::vector<std::int64_t> right(static_cast<std::size_t>(n * n)), result(right.size());
    for (std::int64_t i = 0; i < n * n; ++i) {
        right[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(b.get(i / n, i % n));
    }
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t q = 0; q < n; ++q) {
            const auto left = static_cast<std::int64_t>(a.get(i, q));
            for (std::int64_t j = 0; j < n; ++j) {
                result[static_cast<std::size_t>(i * n + j)] += left * right[static_cast<std::size_t>(q * n + j)];
            }
        }
    }
    return result;
}

class P0OnDevice : public testing::TestWithParam<std::tuple<Type, std::string>> {};

TEST_P(P0OnDevice, levels_1_to_4_equal_the_definition_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const auto& [type, algorithm] = GetParam();
    std::mt19937 random(21);
    for (const std::int64_t n : {16, 32, 33, 64, 100, 127, 128, 150, 200}) {
        for (const Layout layout : {Layout::rows, Layout::rows_padded, Layout::columns}) {
            GuardedMatrix a(type, n, n, layout), b(type, n, n, layout), c(type, n, n, layout);
            a.fill_random(random);
            b.fill_random(random);
            const std::vector<std::int64_t> expected = exact_product(a, b);
            const GuardedMatrix old_a = a, old_b = b;
            for (int levels = 1; levels <= 4; ++levels) {
                for (const char* leaf : {"auto", "heptad"}) {
                    const ProductPlan plan = device_plan(n, type, algorithm, levels, leaf);
                    ASSERT_EQ(plan.levels.size(), static_cast<std::size_t>(levels));
                    GuardedMatrix result = c, wanted = c;
                    multiply_there(a, b, result, plan);
                    for (std::int64_t i = 0; i < n * n; ++i) {
                        wanted.set(i / n, i % n, static_cast<double>(expected[static_cast<std::size_t>(i)]));
                    }
                    ASSERT_TRUE(result.equals(wanted)) << to_string(plan);
                    ASSERT_TRUE(a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b)) << to_string(plan);
                }
            }
        }
    }
}

std::string case_name(const testing::TestParamInfo<P0OnDevice::ParamType>& of) {
    return std::string(type_name(std::get<0>(of.param))) + "_" + std::get<1>(of.param);
}

INSTANTIATE_TEST_SUITE_P(device, P0OnDevice,
                         testing::Combine(testing::Values(Type::f32, Type::i32),
                                          testing::Values(std::string("strassen"), std::string("winograd"))),
                         case_name);

TEST(p0_device, non_finite_entries_spread_as_in_the_classical_product) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(22);
    for (const char* algorithm : {"strassen", "winograd"}) {
        for (int levels = 1; levels <= 3; ++levels) {
            for (const double strange :
                 {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
                GuardedMatrix a(Type::f32, 36, 36, Layout::rows), b(Type::f32, 36, 36, Layout::rows),
                    c(Type::f32, 36, 36, Layout::rows);
                a.fill_random(random, 2);
                b.fill_random(random, 2);
                b.set(11, 5, strange);
                GuardedMatrix fast = c, classical = c;
                multiply_there(a, b, fast, device_plan(36, Type::f32, algorithm, levels));
                multiply_there(a, b, classical, device_plan(36, Type::f32, algorithm, 0));
                int strange_entries = 0;
                for (std::int64_t i = 0; i < 36; ++i) {
                    for (std::int64_t j = 0; j < 36; ++j) {
                        const double x = fast.get(i, j), y = classical.get(i, j);
                        ASSERT_TRUE((std::isnan(x) && std::isnan(y)) || x == y) << i << ", " << j << ": " << x;
                        strange_entries += std::isfinite(x) ? 0 : 1;
                    }
                }
                EXPECT_GT(strange_entries, 0);
                EXPECT_LE(strange_entries, 36);
            }
        }
    }
}

TEST(p0_device, the_same_product_has_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(23);
    std::uniform_real_distribution<double> uniform(-1, 1);
    GuardedMatrix a(Type::f32, 160, 160, Layout::rows), b(Type::f32, 160, 160, Layout::rows),
        c(Type::f32, 160, 160, Layout::rows);
    for (GuardedMatrix* x : {&a, &b}) {
        for (std::int64_t i = 0; i < 160 * 160; ++i) {
            x->set(i / 160, i % 160, uniform(random));
        }
    }
    for (const char* algorithm : {"strassen", "winograd"}) {
        const ProductPlan plan = device_plan(160, Type::f32, algorithm, 3);
        GuardedMatrix first = c;
        multiply_there(a, b, first, plan);
        for (int again = 0; again < 3; ++again) {
            GuardedMatrix result = c;
            multiply_there(a, b, result, plan);
            EXPECT_TRUE(result.equals_byte_for_byte(first)) << algorithm;
        }
    }
}

}  // namespace
}  // namespace heptad::test
