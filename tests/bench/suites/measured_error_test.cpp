#include "bench/suites/measured_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "check/double_double.hpp"
#include "check/naive_product.hpp"

namespace heptad {
namespace {

TEST(DoubleDouble, sum_of_products_keeps_what_double_loses) {
    check::DoubleDouble large;
    check::add_product(large, 1e16, 1);
    check::add_product(large, 1 + 0x1p-52, 1);
    check::add_product(large, -1e16, 1);
    EXPECT_EQ(large.value(), 1 + 0x1p-52);
    check::DoubleDouble square;
    check::add_product(square, 1 + 0x1p-52, 1 + 0x1p-52);  // 1 + 2^-51 + 2^-104
    check::add_product(square, -1, 1 + 0x1p-51);
    EXPECT_EQ(square.value(), 0x1p-104);
    check::DoubleDouble pair;
    check::add_product(pair, 3, 1, 0x1p-80);
    check::add_product(pair, -3, 1);
    EXPECT_EQ(pair.value(), 3 * 0x1p-80);
}

TEST(MeasureError, exact_results_have_no_error) {
    std::mt19937_64 random(1);
    TestMatrix<float> a(Type::f32, 20, 30), b(Type::f32, 30, 10);
    for (auto* const m : {&a, &b}) {
        for (float& x : m->data) {
            x = static_cast<float>(static_cast<int>(random() % 17) - 8);
        }
    }
    const ErrorMeasure e = measure_error(a, b, naive_floats<float>(a, b));
    EXPECT_EQ(e.max_abs, 0);
    EXPECT_EQ(e.rms, 0);
    EXPECT_EQ(e.normalised, 0);
    EXPECT_EQ(e.relative_to_product, 0);
    EXPECT_EQ(e.rows_measured, 20);
}

TEST(MeasureError, known_shift_is_measured_in_every_form) {
    TestMatrix<double> a(Type::f64, 4, 1), b(Type::f64, 1, 4);
    std::fill(a.data.begin(), a.data.end(), 2);
    std::fill(b.data.begin(), b.data.end(), -4);
    auto c = naive_floats<double>(a, b);
    c(1, 2) += 0x1p-10;
    const ErrorMeasure e = measure_error(a, b, c);
    EXPECT_DOUBLE_EQ(e.max_abs, 0x1p-10);
    EXPECT_DOUBLE_EQ(e.rms, 0x1p-12);
    EXPECT_DOUBLE_EQ(e.normalised, 0x1p-13);
    EXPECT_DOUBLE_EQ(e.relative_to_product, 0x1p-13);
}

TEST(MeasureError, errors_of_plain_loops_are_within_the_textbook_bound_and_not_zero) {
    std::mt19937_64 random(2);
    for (const double low : {-1.0, 0.0}) {
        const auto a = random_floats<double>(Type::f64, 50, 80, random, low);
        const auto b = random_floats<double>(Type::f64, 80, 40, random, low, true);
        const ErrorMeasure d = measure_error(a, b, naive_floats<double>(a, b));
        EXPECT_GT(d.max_abs, 0);
        EXPECT_LE(d.relative_to_product, 80 * 0x1p-53);
        EXPECT_LE(d.normalised, 80 * 80 * 0x1p-53);
        const auto x = random_floats<float>(Type::f32, 50, 80, random, low);
        const auto y = random_floats<float>(Type::f32, 80, 40, random, low);
        const ErrorMeasure f = measure_error(x, y, naive_floats<float>(x, y));
        EXPECT_GT(f.rms, 0);
        EXPECT_LE(f.rms, f.max_abs);
        EXPECT_LE(f.relative_to_product, 80 * 0x1p-24);
    }
}

TEST(MeasureError, alpha_beta_and_c0_are_part_of_the_exact_result) {
    std::mt19937_64 random(3);
    const auto a = random_floats<float>(Type::f32, 9, 8, random);
    const auto b = random_floats<float>(Type::f32, 8, 7, random);
    const auto c0 = random_floats<float>(Type::f32, 9, 7, random);
    ErrorOptions options;
    options.alpha = 0.5;
    options.beta = -2;
    options.c0 = c0;
    const auto c = naive_floats<float>(a, b, 0.5, -2, &c0);
    EXPECT_LE(measure_error(a, b, c, options).relative_to_product, 10 * 0x1p-24);
    options.beta = 2;
    EXPECT_GT(measure_error(a, b, c, options).max_abs, 0.1);
}

TEST(MeasureError, large_matrices_are_sampled_in_evenly_spread_rows) {
    std::mt19937_64 random(4);
    const auto a = random_floats<float>(Type::f32, 400, 128, random);
    const auto b = random_floats<float>(Type::f32, 128, 128, random);
    auto c = naive_floats<float>(a, b);
    c(399, 5) += 1;  // the last row is always among them
    ErrorOptions options;
    options.rows = 10;
    const ErrorMeasure e = measure_error(a, b, c, options);
    EXPECT_EQ(e.rows_measured, 10);
    EXPECT_NEAR(e.max_abs, 1, 1e-3);
}

TEST(MeasureError, nan_in_c_is_never_a_small_error) {
    std::mt19937_64 random(5);
    const auto a = random_floats<double>(Type::f64, 5, 5, random);
    const auto b = random_floats<double>(Type::f64, 5, 5, random);
    auto c = naive_floats<double>(a, b);
    c(0, 0) = std::numeric_limits<double>::quiet_NaN();
    const ErrorMeasure e = measure_error(a, b, c);
    EXPECT_TRUE(std::isnan(e.max_abs));
    EXPECT_TRUE(std::isnan(e.rms));
    EXPECT_FALSE(e.normalised < 1);
    EXPECT_FALSE(e.relative_to_product < 1);
}

TEST(MeasureError, zero_inputs_with_a_right_or_wrong_result) {
    const TestMatrix<float> zero(Type::f32, 3, 3);
    EXPECT_EQ(measure_error(zero, zero, zero).normalised, 0);
    TestMatrix<float> c(Type::f32, 3, 3);
    c(1, 1) = 1;
    EXPECT_FALSE(measure_error(zero, zero, c).normalised < 1e300);
}

TEST(MeasureError, exact_types_are_right_or_wrong) {
    std::mt19937_64 random(6);
    const auto a = random_words<std::uint32_t>(Type::i32, 6, 7, random, ~0U);
    const auto b = random_words<std::uint32_t>(Type::i32, 7, 4, random, ~0U);
    auto c = naive_integers(a, b);
    EXPECT_EQ(measure_error(a, b, c).max_abs, 0);
    c(2, 2) ^= 1U << 31;
    EXPECT_EQ(measure_error(a, b, c).max_abs, 1);
    for (const Type type : {Type::gf2, Type::boolean}) {
        const auto x = random_words<std::uint8_t>(type, 6, 3, random, 1);
        const auto y = random_words<std::uint8_t>(type, 3, 4, random, 1);
        auto z = naive_bits(x, y);
        EXPECT_EQ(measure_error(x, y, z).max_abs, 0);
        z(5, 3) ^= 1U;
        EXPECT_EQ(measure_error(x, y, z).max_abs, 1);
    }
}

TEST(MeasureError, shapes_that_do_not_match_are_refused) {
    const TestMatrix<float> a(Type::f32, 3, 4), b(Type::f32, 3, 4);
    EXPECT_THROW(measure_error(a, b, a), Error);
}

}  // namespace
}  // namespace heptad
