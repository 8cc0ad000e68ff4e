// Sizes never wrap: what does not fit in 64 bits is an error of the input.
#include "base/size.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace heptad {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::optional<ErrorCode> code_of(const auto& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.code();
    }
    return std::nullopt;
}

TEST(size, sums_and_products_up_to_the_last_that_fits) {
    EXPECT_EQ(checked_add(kMost - 1, 1), kMost);
    EXPECT_EQ(checked_mul(kMost, 1), kMost);
    EXPECT_EQ(checked_mul(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
    EXPECT_EQ(checked_mul(kMost, 0), 0);
}

TEST(size, beyond_64_bits_is_an_error_of_the_input) {
    EXPECT_EQ(code_of([] { checked_add(kMost, 1); }), ErrorCode::input);
    EXPECT_EQ(code_of([] { checked_mul(std::int64_t{1} << 32, std::int64_t{1} << 31); }), ErrorCode::input);
    EXPECT_EQ(code_of([] { checked_mul(kMost, 2); }), ErrorCode::input);
    EXPECT_EQ(code_of([] { round_up(kMost, 64); }), ErrorCode::input);
}

TEST(size, rounded_up_is_the_smallest_multiple_not_below) {
    for (std::int64_t unit = 1; unit <= 17; ++unit) {
        for (std::int64_t x = 0; x <= 100; ++x) {
            const std::int64_t rounded = round_up(x, unit);
            EXPECT_EQ(rounded % unit, 0);
            EXPECT_GE(rounded, x);
            EXPECT_LT(rounded - x, unit);
            EXPECT_EQ(ceil_div(x, unit) * unit, rounded);
        }
    }
}

}  // namespace
}  // namespace heptad
