// Words are contracts about errors, on data of all kinds (product/data_families.hpp): `balanced` loses at most one
// decimal digit to the classical product, by scaling rows and columns or by falling back to it, and says which.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/half.hpp"
#include "product/classical_error.hpp"
#include "product/data_families.hpp"
#include "product/memory/product.hpp"

namespace heptad {
namespace {

using namespace testing_data;

struct Levels {
    const char* algorithm;
    int levels;
    const char* mode;
};

template <class T>
RunReport multiply(const Matrix<T>& a, const Matrix<T>& b, double beta, Matrix<T>& c, Accuracy accuracy,
                   const Levels& levels) {
    Options options;
    options.accuracy = accuracy;
    options.algorithm = levels.algorithm;
    options.levels = levels.levels;
    options.mode = levels.mode;
    Matrix<T> x = a, y = b;
    return multiply_in_memory(1, x.view(), y.view(), beta, c.view(), options, {});
}

template <class T>
Matrix<T> poisoned(std::int64_t rows, std::int64_t cols) {
    Matrix<T> c(rows, cols);
    std::fill(c.data.begin(), c.data.end(), std::numeric_limits<T>::quiet_NaN());
    return c;
}

template <class T>
class families : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(families, Floats);

constexpr Levels kWays[] = {
    {"winograd", 1, "parallel"}, {"winograd", 1, "serial"}, {"strassen", 2, "parallel"}, {"strassen", 2, "serial"}};

TYPED_TEST(families, balanced_loses_at_most_a_digit_and_says_what_it_did) {
    struct Shape {
        std::int64_t m, k, n;
    };
    for (const Shape& shape : {Shape{384, 384, 384}, Shape{257, 391, 190}, Shape{33, 900, 41}}) {
        for (const Family& family : all_families()) {
            Random random(7);
            Matrix<double> wide_a(shape.m, shape.k), wide_b(shape.k, shape.n);
            family.make(wide_a, wide_b, random);
            const auto a = rounded_to<TypeParam>(wide_a), b = rounded_to<TypeParam>(wide_b);
            const double classical = classical_error(a, b);
            for (const Levels& levels : kWays) {
                if (levels.levels == 2 && std::min(shape.m, shape.n) < 64) {
                    continue;  // no plan cuts so far, and of so few entries no classical error is a yardstick
                }
                Matrix<TypeParam> c = poisoned<TypeParam>(shape.m, shape.n);
                const RunReport report = multiply(a, b, 0, c, Accuracy::balanced, levels);
                const double growth = worst_error(a, b, c) / classical;
                // Two levels that a caller forces lose more beside sums of 128 products in f64: docs/accuracy.md.
                const double most = levels.levels == 2 && sizeof(TypeParam) == 8 ? 12 : 10;
                EXPECT_LE(growth, most) << family.name << " " << shape.m << " " << levels.levels << " " << levels.mode;
                if (levels.levels == 2 && levels.mode == std::string("parallel") && shape.m == 384) {
                    std::printf("    %-46s %5.2f times the classical error%s\n", family.name.c_str(), growth,
                                report.fell_back ? ", classically"
                                : report.scaled  ? ", scaled"
                                                 : "");
                    EXPECT_FALSE(report.uneven && !report.fell_back) << family.name;
                    if (family.way != Way::any) {
                        EXPECT_EQ(report.fell_back, family.way == Way::classical) << family.name;
                        EXPECT_EQ(report.scaled, family.way == Way::scaled) << family.name;
                    }
                }
            }
        }
    }
}

TYPED_TEST(families, what_is_added_to_keeps_its_digits_whatever_was_scaled) {
    constexpr std::int64_t n = 256;
    for (const Family& family : all_families()) {
        Random random(9);
        Matrix<double> wide_a(n, n), wide_b(n, n);
        family.make(wide_a, wide_b, random);
        const auto a = rounded_to<TypeParam>(wide_a), b = rounded_to<TypeParam>(wide_b);
        for (const Levels& levels : kWays) {
            Matrix<TypeParam> alone = poisoned<TypeParam>(n, n), added(n, n);
            std::fill(added.data.begin(), added.data.end(), TypeParam{3});
            multiply(a, b, 0, alone, Accuracy::balanced, levels);
            multiply(a, b, 2, added, Accuracy::balanced, levels);
            constexpr double u = std::numeric_limits<TypeParam>::epsilon();
            for (std::int64_t i = 0; i < n; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    double size = 6;
                    for (std::int64_t k = 0; k < n; k += 1) {
                        size += std::abs(static_cast<double>(a.at(i, k)) * static_cast<double>(b.at(k, j)));
                    }
                    ASSERT_NEAR(static_cast<double>(added.at(i, j)), 6 + static_cast<double>(alone.at(i, j)),
                                40 * u * size)
                        << family.name << " " << levels.mode << " " << i << " " << j;
                }
            }
        }
    }
}

TYPED_TEST(families, fast_takes_its_levels_and_says_what_they_may_cost) {
    for (const Family& family : all_families()) {
        Random random(8);
        Matrix<double> a(256, 256), b(256, 256);
        family.make(a, b, random);
        Matrix<TypeParam> c = poisoned<TypeParam>(256, 256);
        const RunReport report =
            multiply(rounded_to<TypeParam>(a), rounded_to<TypeParam>(b), 0, c, Accuracy::fast, kWays[2]);
        EXPECT_FALSE(report.fell_back) << family.name;
        if (family.way != Way::any) {
            EXPECT_EQ(report.uneven, family.way == Way::classical) << family.name;
            EXPECT_EQ(report.scaled, family.way == Way::scaled) << family.name;
        }
    }
}

/// A family of short numbers, multiplied with two levels of Strassen's.
struct ShortNumbers {
    RunReport report;
    double error = 0, classical = 0;
};
template <class T>
ShortNumbers multiply_short(const std::string& name, std::int64_t k, Accuracy accuracy = Accuracy::balanced) {
    for (const Family& family : all_families()) {
        if (family.name == name) {
            Random random(5);
            Matrix<double> wide_a(200, k), wide_b(k, 180);
            family.make(wide_a, wide_b, random);
            const auto a = rounded_to<T>(wide_a), b = rounded_to<T>(wide_b);
            Matrix<T> c = poisoned<T>(200, 180);
            ShortNumbers made;
            made.classical = classical_error(a, b);
            made.report = multiply(a, b, 0, c, accuracy, {"strassen", 2, "parallel"});
            made.error = worst_error(a, b, c);
            return made;
        }
    }
    ADD_FAILURE() << name;
    return {};
}

TEST(short_numbers, are_multiplied_classically_where_only_levels_would_round) {
    for (const char* name : {"whole numbers from 0 to 255", "whole numbers from 0 to 511", "multiples of 1/8 up to 64",
                             "whole numbers in graded rows and columns"}) {
        const ShortNumbers made = multiply_short<float>(name, 2048);
        EXPECT_TRUE(made.report.fell_back && made.report.short_numbers && !made.report.uneven) << name;
        EXPECT_LE(made.error, 10 * made.classical) << name;
        EXPECT_FALSE(multiply_short<float>(name, 2048, Accuracy::fast).report.fell_back) << name;
    }
}

TEST(short_numbers, have_levels_where_these_do_not_round_either) {
    for (const char* name : {"whole numbers from -3 to 3", "powers of two from 1 to 1/8"}) {
        const ShortNumbers made = multiply_short<float>(name, 2048);
        EXPECT_FALSE(made.report.fell_back || made.report.short_numbers) << name;
        EXPECT_EQ(made.error, 0) << name;
    }
    const ShortNumbers made = multiply_short<double>("whole numbers from 0 to 4095", 2048);
    EXPECT_FALSE(made.report.fell_back);
    EXPECT_EQ(made.error, 0);
}

TEST(short_numbers, that_fill_the_type_when_they_are_multiplied_have_levels) {
    for (const char* name : {"whole numbers from 0 to 4095", "uniform", "positive"}) {
        const ShortNumbers made = multiply_short<float>(name, 2048);
        EXPECT_FALSE(made.report.fell_back || made.report.short_numbers) << name;
        EXPECT_LE(made.error, 10 * made.classical) << name;
    }
}

using Factor = std::function<double(std::int64_t)>;
void expect_at_most_a_digit_lost(const Factor& of_row, const Factor& of_col) {
    for (const Levels& levels : kWays) {
        Random random(4);
        Matrix<double> wide_a(200, 180), wide_b(180, 220);
        fill_uniform(wide_a, random);
        fill_uniform(wide_b, random);
        times(wide_a, [&](std::int64_t i, std::int64_t) { return of_row(i); });
        times(wide_b, [&](std::int64_t, std::int64_t j) { return of_col(j); });
        const auto a = rounded_to<float>(wide_a), b = rounded_to<float>(wide_b);
        Matrix<float> c = poisoned<float>(200, 220);
        multiply(a, b, 0, c, Accuracy::balanced, levels);
        EXPECT_LE(worst_error(a, b, c), 10 * classical_error(a, b)) << levels.mode;
    }
}

TEST(uneven_data, of_subnormal_rows_keeps_what_the_classical_product_keeps) {
    expect_at_most_a_digit_lost([](std::int64_t i) { return i % 3 == 0 ? 0x1p-140 : 1; },
                                [](std::int64_t j) { return j % 2 == 0 ? 0x1p30 : 1; });
}

TEST(uneven_data, of_large_and_small_rows_does_not_overflow_where_the_classical_product_does_not) {
    expect_at_most_a_digit_lost([](std::int64_t i) { return i % 3 == 0 ? 0x1p120 : 0x1p-100; },
                                [](std::int64_t j) { return j % 2 == 0 ? 0x1p-60 : 0x1p-8; });
}

/// A row of A has its values in every other part of k, a column of B in the parts between: for some other pair of lines
/// either is as good as full.
TEST(uneven_data, in_one_row_and_one_column_that_do_not_meet_is_seen_in_halves_to_eighths) {
    constexpr std::int64_t n = 256, row = 5, col = 7;
    for (const std::int64_t parts : {2, 4, 8}) {
        for (const double rest : {0.0, 0x1p-10}) {
            Random random(3);
            Matrix<double> wide_a(n, n), wide_b(n, n);
            fill_uniform(wide_a, random);
            fill_uniform(wide_b, random);
            const auto lies_in_odd_part = [](std::int64_t k, std::int64_t count) { return k * count / n % 2 == 1; };
            times(wide_a,
                  [&](std::int64_t i, std::int64_t k) { return i == row && lies_in_odd_part(k, parts) ? rest : 1; });
            times(wide_b,
                  [&](std::int64_t k, std::int64_t j) { return j == col && !lies_in_odd_part(k, parts) ? rest : 1; });
            const auto a = rounded_to<float>(wide_a), b = rounded_to<float>(wide_b);
            for (const Levels& levels : kWays) {
                Matrix<float> c = poisoned<float>(n, n);
                EXPECT_TRUE(multiply(a, b, 0, c, Accuracy::balanced, levels).fell_back) << parts << " " << rest;
                EXPECT_TRUE(rest > 0 || c.at(row, col) == 0) << parts << ": nothing meets there";
                EXPECT_LE(worst_error(a, b, c), 10 * classical_error(a, b)) << parts << " " << rest;
            }
        }
    }
}

/// All lines are even, but in half of C large values meet small ones: two levels lost 22 to 42 times.
TEST(uneven_data, whose_large_values_meet_small_ones_is_seen_by_what_meets) {
    const auto against = [](std::int64_t i, std::int64_t k) { return (i + k) % 2 == 0 ? 16 : 1; };
    const auto along = [](std::int64_t k, std::int64_t j) { return (k + j) % 2 == 1 ? 16 : 1; };
    Random random(11);
    Matrix<double> wide_a(300, 4000), wide_b(4000, 301);
    fill_uniform(wide_a, random);
    fill_uniform(wide_b, random);
    times(wide_a, against);
    times(wide_b, along);
    const auto a = rounded_to<float>(wide_a), b = rounded_to<float>(wide_b);
    for (const Levels& levels : {Levels{"winograd", 1, "parallel"}, {"strassen", 2, "parallel"}}) {
        Matrix<float> c = poisoned<float>(300, 301);
        const bool uneven = multiply(a, b, 0, c, Accuracy::balanced, levels).uneven;
        // One level adds rows and columns whose large values are in the same places.
        EXPECT_EQ(uneven, levels.levels == 2);
        EXPECT_LE(worst_error(a, b, c), 10 * classical_error(a, b)) << levels.algorithm;
    }
}

TYPED_TEST(families, that_only_meet_unevenly_lose_at_most_a_digit) {
    for (const Family& family : meeting_families()) {
        for (const std::int64_t n : {240, 384}) {
            Random random(1);
            Matrix<double> wide_a(n, n + 7), wide_b(n + 7, n - 10);
            family.make(wide_a, wide_b, random);
            const auto a = rounded_to<TypeParam>(wide_a), b = rounded_to<TypeParam>(wide_b);
            const double classical = classical_error(a, b);
            for (const Levels& levels : {Levels{"strassen", 1, "serial"}, kWays[0], kWays[2]}) {
                Matrix<TypeParam> c = poisoned<TypeParam>(n, n - 10);
                const RunReport report = multiply(a, b, 0, c, Accuracy::balanced, levels);
                const double most = sizeof(TypeParam) == 8 ? 12 : 10;  // as above
                EXPECT_LE(worst_error(a, b, c), most * classical)
                    << family.name << " " << n << " " << levels.algorithm << (report.fell_back ? " classically" : "");
            }
        }
    }
}

/// Lines whose sizes differ by less than what is scaled are no worse off than even ones: they keep their levels.
TEST(uneven_data, of_lines_within_a_factor_of_three_keeps_its_levels) {
    Random random(12);
    std::uniform_real_distribution<double> size(0, 1.5);
    Matrix<double> wide_a(300, 400), wide_b(400, 301);
    fill_uniform(wide_a, random);
    fill_uniform(wide_b, random);
    std::vector<double> rows(300), cols(301);
    for (std::vector<double>* sizes : {&rows, &cols}) {
        std::generate(sizes->begin(), sizes->end(), [&] { return std::exp2(size(random)); });
    }
    times(wide_a, [&](std::int64_t i, std::int64_t) { return rows[static_cast<std::size_t>(i)]; });
    times(wide_b, [&](std::int64_t, std::int64_t j) { return cols[static_cast<std::size_t>(j)]; });
    const auto a = rounded_to<float>(wide_a), b = rounded_to<float>(wide_b);
    Matrix<float> c = poisoned<float>(300, 301);
    EXPECT_FALSE(multiply(a, b, 0, c, Accuracy::balanced, {"winograd", 1, "parallel"}).uneven);
    EXPECT_LE(worst_error(a, b, c), 10 * classical_error(a, b));
}

/// Means of sampled logarithms are off by most of a power of two in some lines: rows and columns that are both graded
/// must come out alike all the same.
TEST(uneven_data, of_graded_rows_and_columns_is_scaled_whatever_the_sample_shows) {
    constexpr std::int64_t n = 512, k = 400;
    for (const unsigned seed : {1U, 2U, 3U}) {
        for (const bool in_steps : {true, false}) {
            Random random(seed);
            Matrix<double> wide_a(n, k), wide_b(k, n);
            fill_uniform(wide_a, random);
            fill_uniform(wide_b, random);
            const auto size = [&](std::int64_t line) {
                return in_steps ? std::exp2(-40 * line / n) : graded(line, n, 40);
            };
            times(wide_a, [&](std::int64_t i, std::int64_t) { return size(i); });
            times(wide_b, [&](std::int64_t, std::int64_t j) { return size(j); });
            const auto a = rounded_to<float>(wide_a), b = rounded_to<float>(wide_b);
            Matrix<float> c = poisoned<float>(n, n);
            const RunReport report = multiply(a, b, 0, c, Accuracy::balanced, {"winograd", 2, "parallel"});
            EXPECT_TRUE(report.scaled && !report.fell_back) << seed << (in_steps ? " in steps" : "");
        }
    }
}

TEST(uneven_data, of_short_floats_keeps_the_digit) {
    for (const Family& family : data_families(10)) {
        Random random(4);
        Matrix<double> wide_a(160, 192), wide_b(192, 176);
        family.make(wide_a, wide_b, random);
        Matrix<bf16> a(160, 192), b(192, 176), c(160, 176), plain(160, 176);
        const auto round = [](const Matrix<double>& from, Matrix<bf16>& to) {
            std::transform(from.data.begin(), from.data.end(), to.data.begin(),
                           [](double x) { return to_bf16(static_cast<float>(x)); });
        };
        round(wide_a, a);
        round(wide_b, b);
        Options options;
        options.levels = 1;
        multiply_in_memory(1, a.view(), b.view(), 0, c.view(), options, {});
        options.levels = 0;
        multiply_in_memory(1, a.view(), b.view(), 0, plain.view(), options, {});
        for (std::int64_t i = 0; i < c.rows; ++i) {
            for (std::int64_t j = 0; j < c.cols; ++j) {
                double size = 0;
                for (std::int64_t k = 0; k < a.cols; ++k) {
                    size +=
                        std::abs(static_cast<double>(to_float(a.at(i, k))) * static_cast<double>(to_float(b.at(k, j))));
                }
                ASSERT_NEAR(to_float(c.at(i, j)), to_float(plain.at(i, j)), 11 * 0x1p-8 * size) << family.name;
            }
        }
    }
}

/// With sums that grow all the way, the row and the column that are peeled off are no worse than the rest.
TEST(uneven_data, of_odd_sizes_has_no_larger_errors_in_what_is_peeled_off) {
    Random random(6);
    Matrix<double> wide_a(65, 8193), wide_b(8193, 67);
    std::uniform_real_distribution<double> positive(0, 1);
    fill(wide_a, [&] { return positive(random); });
    fill(wide_b, [&] { return positive(random); });
    const auto a = rounded_to<float>(wide_a), b = rounded_to<float>(wide_b);
    Options options;
    options.algorithm = "winograd";
    options.levels = 1;
    for (const std::string leaf : {"heptad", "openblas", "openblas-mt", "blis"}) {
        options.leaf = leaf;
        Matrix<float> c = poisoned<float>(a.rows, b.cols), x = a, y = b;
        try {
            multiply_in_memory(1, x.view(), y.view(), 0, c.view(), options, {});
        } catch (const Error&) {
            continue;  // that library is not here
        }
        EXPECT_LE(worst_error(a, b, c), 20 * 0x1p-24) << leaf;
    }
}

TEST(uneven_data, may_be_asked_of_a_plan_and_its_text) {
    Options options;
    options.levels = 2;
    const ProductPlan balanced = plan_product(256, 256, 256, Type::f32, options, {});
    EXPECT_GT(balanced.least_evenness, 0);
    EXPECT_EQ(parse_plan(to_string(balanced)), balanced);
    options.accuracy = Accuracy::fast;
    const ProductPlan fast = plan_product(256, 256, 256, Type::f32, options, {});
    EXPECT_EQ(fast.least_evenness, 0);
    EXPECT_EQ(to_string(fast).find("least-evenness"), std::string::npos);
}

}  // namespace
}  // namespace heptad
