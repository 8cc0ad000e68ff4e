// Accuracy `exact`: every entry equals alpha AB + beta C rounded once, whatever the plan, the threads and the layout,
// or the product is refused and C is as it was. Judged by integers of 1,024 bits.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "base/half.hpp"
#include "base/wide_integer.hpp"
#include "plan/search/planner.hpp"
#include "product/data_families.hpp"
#include "product/memory/product.hpp"

namespace heptad {
namespace {

using testing_data::Matrix;
using testing_data::Random;

/// Sums of products of f64 with exponents within -250 and 250 as multiples of 2^-600, without rounding.
class BigSum {
public:
    void add(double x, double y) {
        int power_x = 0, power_y = 0;
        const auto sx = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &power_x), 53));
        const auto sy = static_cast<std::int64_t>(std::ldexp(std::frexp(y, &power_y), 53));
        WideInteger<16> term;
        term.words[0] = static_cast<std::uint64_t>(std::abs(sx));
        WideInteger<16> product;
        product.add_multiple(term, static_cast<std::uint64_t>(std::abs(sy)));
        product = product.shifted(600 + power_x + power_y - 106);
        if ((sx < 0) != (sy < 0)) {
            product.negate();
        }
        sum_.add_multiple(product, 1);
    }
    /// Bit by bit, by comparing the distance to both neighbours.
    template <class T>
    double rounded() const {
        WideInteger<16> magnitude = sum_;
        const bool negative = magnitude.is_negative();
        if (negative) {
            magnitude.negate();
        }
        constexpr int precision = std::numeric_limits<T>::digits;
        const int last =
            std::max(magnitude.bit_length() - precision, std::numeric_limits<T>::min_exponent - precision + 600);
        std::uint64_t kept = magnitude.shifted(-last).words[0];
        WideInteger<16> rest = magnitude, half;
        rest.subtract(magnitude.shifted(-last).shifted(last));
        half.words[0] = 1;
        half = half.shifted(last - 1);
        WideInteger<16> over = rest;
        over.subtract(half);
        if (!over.is_negative() && (!over.is_zero() || kept % 2 == 1)) {
            ++kept;
        }
        const double result = std::ldexp(static_cast<double>(kept), last - 600);
        return negative ? -result : result;
    }

private:
    WideInteger<16> sum_;
};

struct Way {
    const char* algorithm = "auto";
    int levels = -1;
    int threads = 0;
    const char* device = "cpu";
    std::int64_t workspace = Options{}.workspace_limit_bytes;
};

template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, double alpha, double beta, Matrix<T>& c, const Way& way = {}) {
    Options options;
    options.accuracy = Accuracy::exact;
    options.algorithm = way.algorithm;
    options.levels = way.levels;
    options.device = way.device;
    options.workspace_limit_bytes = way.workspace;
    Matrix<T> x = a, y = b;
    ProductContext context;
    context.threads = way.threads;
    multiply_in_memory(alpha, x.view(), y.view(), beta, c.view(), options, context);
}

template <class T>
void expect_rounded_once(const Matrix<T>& a, const Matrix<T>& b, double alpha, double beta, const Matrix<T>& c,
                         const Matrix<T>& computed, const std::string& of) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < b.cols; ++j) {
            BigSum sum;  // alpha and beta are powers of two here
            for (std::int64_t p = 0; p < a.cols; ++p) {
                sum.add(alpha * static_cast<double>(a.at(i, p)), static_cast<double>(b.at(p, j)));
            }
            if (beta != 0) {
                sum.add(beta, static_cast<double>(c.at(i, j)));
            }
            ASSERT_EQ(static_cast<double>(computed.at(i, j)), sum.rounded<T>()) << of << " " << i << " " << j;
        }
    }
}

template <class T>
struct Operands {
    Matrix<T> a, b;
};
template <class T>
Operands<T> uniform_operands(std::int64_t m, std::int64_t k, std::int64_t n, std::uint64_t seed) {
    Random random(seed);
    Matrix<double> a(m, k), b(k, n);
    testing_data::fill_uniform(a, random);
    testing_data::fill_uniform(b, random);
    return {testing_data::rounded_to<T>(a), testing_data::rounded_to<T>(b)};
}

template <class T>
class exact_floats : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(exact_floats, Floats);

TYPED_TEST(exact_floats, every_family_is_rounded_once_or_refused) {
    int refused = 0;
    for (const testing_data::Family& family : testing_data::data_families()) {
        Random random(3);
        Matrix<double> wide_a(37, 61), wide_b(61, 29);
        family.make(wide_a, wide_b, random);
        const auto a = testing_data::rounded_to<TypeParam>(wide_a), b = testing_data::rounded_to<TypeParam>(wide_b);
        Matrix<TypeParam> c(37, 29);
        testing_data::Matrix<double> wide_c(37, 29);
        testing_data::fill_uniform(wide_c, random);
        c = testing_data::rounded_to<TypeParam>(wide_c);
        const Matrix<TypeParam> before = c;
        try {
            multiply(a, b, -2, 0.5, c);
            expect_rounded_once(a, b, -2, 0.5, before, c, family.name);
        } catch (const Error& error) {
            ++refused;
            EXPECT_EQ(error.code(), ErrorCode::input);
            EXPECT_NE(std::string(error.what()).find("bits"), std::string::npos) << error.what();
            EXPECT_EQ(c.data, before.data) << family.name;
        }
    }
    std::printf("    %d of %zu families are refused\n", refused, testing_data::data_families().size());
    constexpr bool is_f32 = std::is_same_v<TypeParam, float>;
    EXPECT_LE(refused, is_f32 ? 3 : 8);
}

TYPED_TEST(exact_floats, levels_threads_tiles_and_backends_give_the_same_bits) {
    const auto [a, b] = uniform_operands<TypeParam>(150, 131, 97, 5);
    Matrix<TypeParam> first(150, 97);
    multiply(a, b, 1, 0, first);
    expect_rounded_once(a, b, 1, 0, first, first, "uniform");
    for (const Way& way : {Way{"strassen", 1}, Way{"winograd", 2, 1}, Way{"auto", 0, 2}, Way{"auto", 0, 1, "reference"},
                           Way{"auto", -1, 0, "cpu", 600000}}) {
        Matrix<TypeParam> c(150, 97);
        std::fill(c.data.begin(), c.data.end(), std::numeric_limits<TypeParam>::quiet_NaN());
        multiply(a, b, 1, 0, c, way);
        EXPECT_EQ(c.data, first.data) << way.algorithm << way.levels << way.device << way.workspace;
    }
}

TYPED_TEST(exact_floats, nan_and_infinity_stay_in_their_rows_and_columns) {
    auto [a, b] = uniform_operands<TypeParam>(20, 30, 25, 6);
    constexpr auto infinity = std::numeric_limits<TypeParam>::infinity();
    a.at(3, 4) = std::numeric_limits<TypeParam>::quiet_NaN();
    a.at(7, 9) = infinity;
    b.at(2, 11) = -infinity;
    b.at(9, 12) = 0;
    Matrix<TypeParam> c(20, 25);
    multiply(a, b, 1, 0, c);
    for (std::int64_t j = 0; j < 25; ++j) {
        EXPECT_TRUE(std::isnan(c.at(3, j)));
        if (j == 12) {
            EXPECT_TRUE(std::isnan(c.at(7, j))) << "infinity times zero";
        } else if (j != 11) {
            EXPECT_EQ(c.at(7, j), b.at(9, j) > 0 ? infinity : -infinity);
        }
    }
    auto finite_a = a, finite_b = b;
    for (auto* const matrix : {&finite_a, &finite_b}) {
        for (TypeParam& x : matrix->data) {
            x = std::isfinite(x) ? x : 0;
        }
    }
    Matrix<TypeParam> expected(20, 25);
    multiply(finite_a, finite_b, 1, 0, expected);
    for (std::int64_t i = 0; i < 20; ++i) {
        for (std::int64_t j = 0; j < 25; ++j) {
            if (i != 3 && i != 7 && j != 11) {
                EXPECT_EQ(c.at(i, j), expected.at(i, j));
            }
        }
    }
}

TEST(exact, sums_longer_than_a_plane_allows_are_added_modulo) {
    constexpr std::int64_t k = 300000;
    const auto [a, b] = uniform_operands<float>(2, k, 3, 8);
    Matrix<float> c(2, 3);
    multiply(a, b, 1, 0, c);
    expect_rounded_once(a, b, 1, 0, c, c, "long");
}

TEST(exact, empty_products_and_factors_of_zero) {
    Matrix<float> a(3, 0), b(0, 2), c(3, 2);
    std::fill(c.data.begin(), c.data.end(), 3.0F);
    multiply(a, b, 1, 0.5, c);
    EXPECT_EQ(c.data, std::vector<float>(6, 1.5F));
    Matrix<float> x(3, 4), y(4, 2);
    std::fill(x.data.begin(), x.data.end(), std::numeric_limits<float>::quiet_NaN());
    multiply(x, y, 0, 2, c);
    EXPECT_EQ(c.data, std::vector<float>(6, 3.0F));
}

TEST(exact, rows_of_any_span_times_zeros_are_zeros) {
    Matrix<double> a(2, 3), b(3, 2), c(2, 2);
    a.at(0, 0) = 1e-300;
    a.at(0, 1) = 1e300;
    a.at(1, 2) = -std::numeric_limits<double>::denorm_min();
    std::fill(c.data.begin(), c.data.end(), 7.0);
    multiply(a, b, 1, 0, c);
    EXPECT_EQ(c.data, std::vector<double>(4, 0.0));
    Matrix<double> turned(3, 3);
    multiply(b, a, 1, 0, turned);
    EXPECT_EQ(turned.data, std::vector<double>(9, 0.0));
}

TEST(exact, plans_print_and_parse_and_keep_their_workspace) {
    Options options;
    options.accuracy = Accuracy::exact;
    const ProductPlan plan = plan_product(500, 400, 300, Type::f32, options, {});
    const std::string text = to_string(plan);
    EXPECT_NE(text.find("arithmetic=residues:24 tile=500x400x300"), std::string::npos) << text;
    EXPECT_EQ(parse_plan(text), plan);
    check_plan(plan);
    ProductPlan wrong = plan;
    wrong.arithmetic.moduli = 25;
    EXPECT_THROW(check_plan(wrong), Error);
    wrong = plan;
    wrong.tile_m = 600;
    EXPECT_THROW(check_plan(wrong), Error);
    wrong = plan;
    wrong.workspace_bytes -= 64;
    EXPECT_THROW(check_plan(wrong), Error);
    options.workspace_limit_bytes = plan.workspace_bytes / 3;
    const ProductPlan tiled = plan_product(500, 400, 300, Type::f32, options, {});
    EXPECT_LE(tiled.workspace_bytes, options.workspace_limit_bytes);
    EXPECT_LT(tiled.tile_m * tiled.tile_n, 500 * 300);
    options.workspace_limit_bytes = 1000;
    EXPECT_THROW(plan_product(500, 400, 300, Type::f32, options, {}), Error);
    options = {};
    options.accuracy = Accuracy::exact;
    EXPECT_EQ(plan_product(500, 400, 300, Type::i32, options, {}).arithmetic, Arithmetic{}) << "exact as they are";
}

TEST(exact, an_empty_product_takes_no_workspace) {
    Options options;
    options.accuracy = Accuracy::exact;
    options.workspace_limit_bytes = 0;
    std::array<double, 4> c{1, 2, 3, 4};
    multiply_in_memory(1, ConstView(c.data(), Type::f64, 2, 0, 1, 1), ConstView(c.data(), Type::f64, 0, 2, 2, 1), 0.5,
                       View(c.data(), Type::f64, 2, 2, 2, 1), options);
    EXPECT_EQ(c, (std::array<double, 4>{0.5, 1, 1.5, 2}));
}

}  // namespace
}  // namespace heptad
