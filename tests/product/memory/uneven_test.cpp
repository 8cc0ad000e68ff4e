// Data that is spread unevenly over rows and columns, where levels lose digits that the classical product keeps:
// `balanced` keeps them too and says so, `fast` says so, and even data goes the fast way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "product/memory/product.hpp"

namespace heptad {
namespace {

template <class T>
struct Square {
    std::int64_t n;
    std::vector<T> data;
    explicit Square(std::int64_t side) : n(side), data(static_cast<std::size_t>(side * side)) {}
    T& at(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * n + j)]; }
    const T& at(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i * n + j)]; }
    MatrixView<T> view() { return MatrixView<T>::row_major(data.data(), n, n); }
};

enum class Draw { uniform, normal };

template <class T>
Square<T> random_square(std::int64_t n, Draw draw, std::mt19937_64& random) {
    Square<T> x(n);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::normal_distribution<double> normal;
    std::generate(x.data.begin(), x.data.end(),
                  [&] { return static_cast<T>(draw == Draw::uniform ? uniform(random) : normal(random)); });
    return x;
}

template <class T>
void scale_row(Square<T>& x, std::int64_t row, double factor) {
    for (std::int64_t j = 0; j < x.n; ++j) {
        x.at(row, j) = static_cast<T>(static_cast<double>(x.at(row, j)) * factor);
    }
}
template <class T>
void scale_col(Square<T>& x, std::int64_t col, double factor) {
    for (std::int64_t i = 0; i < x.n; ++i) {
        x.at(i, col) = static_cast<T>(static_cast<double>(x.at(i, col)) * factor);
    }
}

/// Largest error over |A||B|; where that is zero, infinity for any error.
template <class T>
double worst_error(const Square<T>& a, const Square<T>& b, const Square<T>& c) {
    using Wide = long double;
    const std::int64_t n = a.n;
    double worst = 0;
    std::vector<Wide> sums(static_cast<std::size_t>(n)), magnitudes(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        std::fill(sums.begin(), sums.end(), 0);
        std::fill(magnitudes.begin(), magnitudes.end(), 0);
        for (std::int64_t k = 0; k < n; ++k) {
            for (std::int64_t j = 0; j < n; ++j) {
                const Wide product = static_cast<Wide>(a.at(i, k)) * static_cast<Wide>(b.at(k, j));
                sums[static_cast<std::size_t>(j)] += product;
                magnitudes[static_cast<std::size_t>(j)] += std::abs(product);
            }
        }
        for (std::int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const auto error = static_cast<double>(std::abs(static_cast<Wide>(c.at(i, j)) - sums[at]));
            const auto size = static_cast<double>(magnitudes[at]);
            const double here = error == 0 ? 0 : error / size;
            worst = here <= worst ? worst : here;
        }
    }
    return worst;
}

template <class T>
struct Family {
    const char* name;
    std::function<void(Square<T>&, Square<T>&)> make;
};

/// 2^-power to 2^power over the lines, in an order that puts large beside small.
double graded(std::int64_t line, std::int64_t n, double power) {
    return std::exp2(power * (2 * static_cast<double>(line * 7 % n) / static_cast<double>(n - 1) - 1));
}

template <class T>
std::vector<Family<T>> uneven_families() {
    return {
        {"one column of A large, its row of B small",
         [](Square<T>& a, Square<T>& b) {
             scale_col(a, a.n / 3, 1e5);
             scale_row(b, a.n / 3, 1e-5);
         }},
        {"rows of A by 1e-4 to 1e4",
         [](Square<T>& a, Square<T>&) {
             for (std::int64_t i = 0; i < a.n; ++i) {
                 scale_row(a, i, graded(i, a.n, 13.3));
             }
         }},
        {"rows of A and columns of B by 2^-18 to 2^18",
         [](Square<T>& a, Square<T>& b) {
             for (std::int64_t i = 0; i < a.n; ++i) {
                 scale_row(a, i, graded(i, a.n, 18));
                 scale_col(b, i, graded(i, a.n, 18));
             }
         }},
        {"columns of A against rows of B by 2^-18 to 2^18",
         [](Square<T>& a, Square<T>& b) {
             for (std::int64_t i = 0; i < a.n; ++i) {
                 scale_col(a, i, graded(i, a.n, 18));
                 scale_row(b, i, 1 / graded(i, a.n, 18));
             }
         }},
        {"a small row", [](Square<T>& a, Square<T>&) { scale_row(a, a.n - 1, 1e-3); }},
        {"a large column", [](Square<T>&, Square<T>& b) { scale_col(b, 0, 1e3); }},
        {"a row of zeros", [](Square<T>& a, Square<T>&) { scale_row(a, 5, 0); }},
    };
}

template <class T>
RunReport multiply(const Square<T>& a, const Square<T>& b, Square<T>& c, Accuracy accuracy, int levels,
                   const std::string& mode) {
    Options options;
    options.accuracy = accuracy;
    options.levels = levels;
    options.mode = mode;
    Square<T> x = a, y = b;
    std::fill(c.data.begin(), c.data.end(), std::numeric_limits<T>::quiet_NaN());
    return multiply_in_memory(1, x.view(), y.view(), 0, c.view(), options, {});
}

template <class T>
class uneven : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(uneven, Floats);

constexpr std::int64_t kSide = 192;

TYPED_TEST(uneven, balanced_keeps_the_digits_of_the_classical_product_and_says_so) {
    std::mt19937_64 random(7);
    for (const Family<TypeParam>& family : uneven_families<TypeParam>()) {
        for (const char* const mode : {"parallel", "serial"}) {
            Square<TypeParam> a = random_square<TypeParam>(kSide, Draw::uniform, random);
            Square<TypeParam> b = random_square<TypeParam>(kSide, Draw::normal, random), c(kSide);
            family.make(a, b);
            multiply(a, b, c, Accuracy::strict, 0, "auto");
            const double classical = worst_error(a, b, c);
            const RunReport report = multiply(a, b, c, Accuracy::balanced, 2, mode);
            EXPECT_TRUE(report.fell_back && report.uneven) << family.name;
            EXPECT_LE(worst_error(a, b, c), 10 * std::max<double>(classical, std::numeric_limits<TypeParam>::epsilon()))
                << family.name;
        }
    }
}

TYPED_TEST(uneven, fast_takes_its_levels_and_says_what_they_may_cost) {
    std::mt19937_64 random(8);
    for (const Family<TypeParam>& family : uneven_families<TypeParam>()) {
        Square<TypeParam> a = random_square<TypeParam>(kSide, Draw::uniform, random);
        Square<TypeParam> b = random_square<TypeParam>(kSide, Draw::normal, random), c(kSide);
        family.make(a, b);
        const RunReport report = multiply(a, b, c, Accuracy::fast, 2, "parallel");
        EXPECT_TRUE(report.uneven && !report.fell_back) << family.name;
        // What balanced is spared: more than the digit that it may lose.
        EXPECT_GT(worst_error(a, b, c), 20 * std::numeric_limits<TypeParam>::epsilon()) << family.name;
    }
}

TYPED_TEST(uneven, even_data_goes_the_fast_way_within_the_digit) {
    std::mt19937_64 random(9);
    for (const Draw draw : {Draw::uniform, Draw::normal}) {
        for (const double scale : {1.0, 1e-12, 1e12}) {
            Square<TypeParam> a = random_square<TypeParam>(kSide, draw, random);
            Square<TypeParam> b = random_square<TypeParam>(kSide, draw, random), c(kSide);
            for (std::int64_t i = 0; i < kSide; ++i) {
                scale_row(a, i, scale);
            }
            multiply(a, b, c, Accuracy::strict, 0, "auto");
            const double classical = worst_error(a, b, c);
            const RunReport report = multiply(a, b, c, Accuracy::balanced, 1, "parallel");
            EXPECT_FALSE(report.fell_back || report.uneven);
            EXPECT_LE(worst_error(a, b, c),
                      10 * std::max<double>(classical, std::numeric_limits<TypeParam>::epsilon()));
        }
    }
}

TEST(uneven_data, may_be_asked_of_a_plan_and_its_text) {
    Options options;
    options.levels = 2;
    const ProductPlan balanced = plan_product(256, 256, 256, Type::f32, options, {});
    EXPECT_TRUE(std::isfinite(balanced.most_spread));
    EXPECT_EQ(parse_plan(to_string(balanced)), balanced);
    options.accuracy = Accuracy::fast;
    const ProductPlan fast = plan_product(256, 256, 256, Type::f32, options, {});
    EXPECT_FALSE(std::isfinite(fast.most_spread));
    EXPECT_EQ(to_string(fast).find("most-spread"), std::string::npos);
}

}  // namespace
}  // namespace heptad
