// How unevenly values are spread over rows and columns: the definition on small cases, and what scaling does to it.
#include "run/dense/spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heptad {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ScanResult scan(std::vector<double> rows, std::vector<double> cols) {
    double most = 0;
    for (const double x : rows) {
        most = x <= most ? most : x;
    }
    return {most, std::move(rows), std::move(cols)};
}

TEST(spread, equal_rows_and_columns_are_as_even_as_can_be) {
    EXPECT_EQ(spread_of(scan({3, 3}, {3, 3}), scan({5, 5}, {5, 5})), 1);
}

TEST(spread, rows_of_a_and_columns_of_b_multiply) {
    EXPECT_EQ(spread_of(scan({8, 1}, {8, 8}), scan({4, 4}, {4, 1})), 32);
}

TEST(spread, a_large_column_of_a_counts_only_where_it_meets_small_values_of_b) {
    EXPECT_EQ(spread_of(scan({8, 8}, {8, 1}), scan({1, 1}, {1, 1})), 1);
    EXPECT_EQ(spread_of(scan({8, 8}, {8, 1}), scan({0.125, 1}, {1, 1})), 8);
}

TEST(spread, an_empty_row_of_a_or_column_of_b_makes_it_infinite_and_an_empty_column_of_a_does_not) {
    EXPECT_EQ(spread_of(scan({1, 0}, {1, 1}), scan({1, 1}, {1, 1})), kInfinity);
    EXPECT_EQ(spread_of(scan({1, 1}, {1, 1}), scan({1, 1}, {0, 1})), kInfinity);
    EXPECT_EQ(spread_of(scan({1, 1}, {1, 0}), scan({1, 1}, {1, 1})), 1);
    EXPECT_EQ(spread_of(scan({1, 1}, {1, 0}), scan({0, 1}, {1, 1})), kInfinity);
}

TEST(spread, zeros_alone_are_even) {
    EXPECT_EQ(spread_of(scan({0, 0}, {0, 0}), scan({1, 2}, {2, 2})), 1);
    EXPECT_EQ(spread_of(scan({1, 9}, {9, 9}), scan({0, 0}, {0, 0})), 1);
}

TEST(spread, the_range_of_doubles_is_no_limit) {
    EXPECT_EQ(spread_of(scan({0x1p1023, 0x1p1022}, {0x1p1023, 0x1p1023}), scan({0x1p-1022, 0x1p-1022}, {0x1p-1022})),
              2);
    EXPECT_TRUE(std::isnan(spread_of(scan({std::nan(""), 1}, {std::nan(""), 1}), scan({1, 1}, {1, 1}))));
}

}  // namespace
}  // namespace heptad
