#include "bench/suites/difference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"

namespace heptad {
namespace {

struct Pair {
    std::vector<float> x = std::vector<float>(6, 1.0F);
    std::vector<double> y = std::vector<double>(6, 1.0);
    ConstView f32() const { return {x.data(), Type::f32, 2, 3, 3, 1}; }
    ConstView f64() const { return {y.data(), Type::f64, 2, 3, 3, 1}; }
};

TEST(Difference, largest_and_mean_are_over_all_entries) {
    Pair pair;
    pair.y[1] = 1.25;
    pair.y[5] = 0.5;
    const Difference found = difference(pair.f32(), pair.f64());
    EXPECT_EQ(found.max_abs, 0.5);
    EXPECT_EQ(found.mean_abs(), 0.75 / 6);
    EXPECT_EQ(found.entries, 6);
    // By columns, the two entries stand elsewhere and count all the same.
    const ConstView by_columns(pair.y.data(), Type::f64, 2, 3, 1, 2);
    EXPECT_EQ(difference(pair.f32(), by_columns, 1).sum_abs, 0.75);
}

TEST(Difference, a_nan_is_not_lost_among_numbers) {
    for (std::size_t place = 0; place < 6; ++place) {
        Pair pair;
        pair.y[0] = 9;
        pair.x[place] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_TRUE(std::isnan(difference(pair.f32(), pair.f64()).max_abs)) << place;
    }
}

TEST(Difference, parts_add_up) {
    Pair pair;
    pair.y[4] = 3;
    Difference whole;
    for (std::int64_t i = 0; i < 2; ++i) {
        whole.add(difference(block(pair.f32(), i, 0, 1, 3), block(pair.f64(), i, 0, 1, 3)));
    }
    EXPECT_EQ(whole.max_abs, 2);
    EXPECT_EQ(whole.mean_abs(), 2.0 / 6);
    EXPECT_EQ(Difference{}.mean_abs(), 0);
}

TEST(Difference, other_types_and_shapes_are_refused) {
    const Pair pair;
    EXPECT_THROW(difference(pair.f64(), pair.f64()), Error);
    EXPECT_THROW(difference(pair.f32(), pair.f32()), Error);
    EXPECT_THROW(difference(pair.f32(), block(pair.f64(), 0, 0, 2, 2)), Error);
}

}  // namespace
}  // namespace heptad
