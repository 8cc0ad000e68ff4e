#include "algorithm/rational.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"

namespace heptad {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(Rational, fractions_are_reduced_and_the_sign_is_on_top) {
    const Rational x(6, -4);
    EXPECT_EQ(x.numerator(), -3);
    EXPECT_EQ(x.denominator(), 2);
    EXPECT_EQ(Rational(0, -7), Rational(0));
}

TEST(Rational, arithmetic_equals_cross_multiplication_on_all_small_fractions) {
    for (std::int64_t a = -4; a <= 4; ++a) {
        for (std::int64_t b = 1; b <= 4; ++b) {
            for (std::int64_t c = -4; c <= 4; ++c) {
                for (std::int64_t d = 1; d <= 4; ++d) {
                    const Rational x(a, b);
                    const Rational y(c, d);
                    EXPECT_EQ(x + y, Rational(a * d + c * b, b * d));
                    EXPECT_EQ(x - y, Rational(a * d - c * b, b * d));
                    EXPECT_EQ(x * y, Rational(a * c, b * d));
                    if (c != 0) {
                        EXPECT_EQ(x / y, Rational(a * d, b * c));
                    }
                }
            }
        }
    }
}

TEST(Rational, overflow_and_division_by_zero_throw_instead_of_wrapping) {
    EXPECT_THROW(Rational(largest) + Rational(1), Error);
    EXPECT_THROW(Rational(largest) * Rational(2), Error);
    EXPECT_THROW(Rational(-largest) - Rational(2), Error);
    EXPECT_THROW(Rational(1, largest) * Rational(1, 2), Error);
    EXPECT_THROW(Rational(1) / Rational(0), Error);
    EXPECT_THROW(Rational(1, 0), Error);
    EXPECT_EQ(Rational(largest, 2) + Rational(largest, 2), Rational(largest));  // only the result must fit
}

TEST(Rational, print_parses_back) {
    for (const char* text : {"0", "7", "-3", "1/2", "-5/8", "9223372036854775807"}) {
        EXPECT_EQ(Rational::parse(text).to_string(), text);
    }
    EXPECT_EQ(Rational::parse("2/4"), Rational(1, 2));
    EXPECT_EQ(Rational::parse("+1"), Rational(1));
}

TEST(Rational, text_that_is_no_fraction_is_refused) {
    for (const char* text : {"", "/", "1/", "/2", "1/0", "1/-2", "0.5", "1e3", "x", "--1", "+-1", "1/2/3", " 1",
                             "9223372036854775808", "-9223372036854775808", "99999999999999999999999"}) {
        EXPECT_THROW(Rational::parse(text), Error) << text;
    }
}

}  // namespace
}  // namespace heptad
