// Accuracy exact over 1 to 5 cores as devices: the bits of a product in one place, whatever is cut, with what C holds
// as part of the one rounding; or a refusal with C as it was.
#include <gtest/gtest.h>

#include <limits>

#include "product/device/over_devices.hpp"
#include "product/memory/product_cases.hpp"

namespace heptad::test {
namespace {

GuardedMatrix uniform(Type type, std::int64_t rows, std::int64_t cols, unsigned seed) {
    GuardedMatrix matrix(type, rows, cols, Layout::rows_padded);
    Random random(seed);
    std::uniform_real_distribution<double> entries(-1, 1);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            matrix.set(i, j, entries(random));
        }
    }
    return matrix;
}

TEST(ExactOverDevices, products_have_the_bits_of_one_place_whatever_is_cut) {
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16}) {
        GuardedMatrix a = uniform(type, 93, 110, 1), b = uniform(type, 110, 83, 2);
        a.set(17, 5, std::numeric_limits<double>::quiet_NaN());
        b.set(9, 80, -std::numeric_limits<double>::infinity());
        for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {0.7, -1.3}, {1.0, 1.0}, {0.0, 0.3}}) {
            const GuardedMatrix c0 = uniform(type, 93, 83, 3);
            Options options;
            options.accuracy = Accuracy::exact;
            GuardedMatrix expected = c0;
            multiply_in_memory(alpha, a.view(), b.view(), beta, expected.view(), options, {});
            for (const int devices : {1, 2, 5}) {
                for (const std::int64_t memory : {std::int64_t{1} << 40, std::int64_t{400'000}}) {
                    options.device = fmt::format("cpu:{}", devices);
                    options.host.device_memory_bytes = memory;
                    GuardedMatrix c = c0;
                    multiply_over_devices(alpha, a.view(), b.view(), beta, c.view(), options, {});
                    EXPECT_TRUE(c.equals_byte_for_byte(expected))
                        << type_name(type) << " " << alpha << " " << beta << " over " << devices << ", " << memory;
                }
            }
        }
    }
}

TEST(ExactOverDevices, a_plan_without_products_rounds_beta_c_once) {
    const GuardedMatrix a = uniform(Type::f32, 50, 40, 1), b = uniform(Type::f32, 40, 30, 2);
    const GuardedMatrix c0 = uniform(Type::f32, 50, 30, 3);
    Options options;
    options.accuracy = Accuracy::exact;
    GuardedMatrix expected = c0, c = c0;
    multiply_in_memory(0, a.view(), b.view(), 0.1, expected.view(), options, {});
    options.device = "cpu:2";
    options.accumulate = true;
    const ProductPlan plan = make_plan_over_devices({50, 40, 30}, Type::f32, Type::f32, options, {}).plan;
    multiply_over_devices(0, a.view(), b.view(), 0.1, c.view(), plan, {});
    EXPECT_TRUE(c.equals_byte_for_byte(expected));
}

TEST(ExactOverDevices, plans_leave_k_whole_parse_back_and_give_the_same_bits) {
    const GuardedMatrix a = uniform(Type::f32, 150, 110, 1), b = uniform(Type::f32, 110, 130, 2);
    const GuardedMatrix c0 = uniform(Type::f32, 150, 130, 3);
    Options options;
    options.accuracy = Accuracy::exact;
    GuardedMatrix expected = c0;
    multiply_in_memory(0.7, a.view(), b.view(), -1.3, expected.view(), options, {});
    options.device = "cpu:3";
    options.accumulate = true;
    options.host.device_memory_bytes = 700'000;
    const ProductPlan plan = make_plan_over_devices({150, 110, 130}, Type::f32, Type::f32, options, {}).plan;
    EXPECT_EQ(plan.host->block_k, 112);
    EXPECT_LT(plan.host->block_m * plan.host->block_n, 150 * 130) << to_string(plan);
    EXPECT_EQ(parse_plan(to_string(plan)), plan);
    GuardedMatrix c = c0;
    multiply_over_devices(0.7, a.view(), b.view(), -1.3, c.view(), parse_plan(to_string(plan)), {});
    EXPECT_TRUE(c.equals_byte_for_byte(expected));
    ProductPlan cut = plan;
    cut.host->block_k = 56;
    EXPECT_THROW(check_plan_over_devices(cut), Error);
    options.host.levels = 1;
    EXPECT_THROW(make_plan_over_devices({150, 110, 130}, Type::f32, Type::f32, options, {}), Error);
}

TEST(ExactOverDevices, a_product_of_too_many_bits_is_refused_before_c_is_changed) {
    GuardedMatrix a = uniform(Type::f64, 150, 40, 1);
    const GuardedMatrix b = uniform(Type::f64, 40, 130, 2);
    a.set(149, 0, 1e-90);
    a.set(149, 1, 1e90);
    const GuardedMatrix c0 = uniform(Type::f64, 150, 130, 3);
    GuardedMatrix c = c0;
    Options options;
    options.accuracy = Accuracy::exact;
    options.device = "cpu:2";
    options.host.device_memory_bytes = 700'000;
    try {
        multiply_over_devices(1, a.view(), b.view(), 1, c.view(), options, {});
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
    }
    EXPECT_TRUE(c.equals_byte_for_byte(c0));
}

}  // namespace
}  // namespace heptad::test
