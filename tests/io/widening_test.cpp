// Conversions that round nothing, and no others.
#include "io/matrix_source.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.hpp"

namespace heptad {
namespace {

TEST(widening, every_f16_and_bf16_keeps_its_value) {
    constexpr std::int64_t kAll = 65536;
    for (const Type from : {Type::f16, Type::bf16}) {
        Matrix halves(from, 256, kAll / 256, Order::column_major);
        auto* const bits = static_cast<std::uint16_t*>(halves.data());
        for (std::int64_t i = 0; i < kAll; ++i) {
            bits[i] = static_cast<std::uint16_t>(i);
        }
        const Matrix single = widened(halves, Type::f32), twice = widened(halves, Type::f64);
        EXPECT_EQ(twice.order(), Order::column_major);
        EXPECT_EQ(twice.type(), Type::f64);
        for (std::int64_t i = 0; i < kAll; ++i) {
            f16 half;
            bf16 brain;
            static_assert(sizeof half == 2 && sizeof brain == 2);
            std::memcpy(&half, bits + i, 2);
            std::memcpy(&brain, bits + i, 2);
            const float expected = from == Type::f16 ? to_float(half) : to_float(brain);
            const float as_single = static_cast<const float*>(single.data())[i];
            const double as_double = static_cast<const double*>(twice.data())[i];
            ASSERT_TRUE(std::isnan(expected) ? std::isnan(as_single) && std::isnan(as_double)
                                             : as_single == expected && as_double == static_cast<double>(expected))
                << i;
        }
    }
}

TEST(widening, integers_and_f32_keep_their_values_in_f64) {
    Matrix integers(Type::i32, 1, 3);
    auto* const numbers = static_cast<std::int32_t*>(integers.data());
    numbers[0] = std::numeric_limits<std::int32_t>::min();
    numbers[1] = std::numeric_limits<std::int32_t>::max();
    numbers[2] = -1;
    const Matrix wide = widened(integers, Type::f64);
    const auto* const values = static_cast<const double*>(wide.data());
    EXPECT_EQ(values[0], -2147483648.0);
    EXPECT_EQ(values[1], 2147483647.0);
    EXPECT_EQ(values[2], -1.0);
    const Matrix longer = widened(integers, Type::i64);
    EXPECT_EQ(static_cast<const std::int64_t*>(longer.data())[0], std::int64_t{-2147483648});
    EXPECT_EQ(static_cast<const std::int64_t*>(longer.data())[2], -1);
    Matrix single(Type::f32, 1, 1);
    *static_cast<float*>(single.data()) = 0.1F;
    const Matrix wide_single = widened(single, Type::f64);
    EXPECT_EQ(*static_cast<const double*>(wide_single.data()), static_cast<double>(0.1F));
}

TEST(widening, what_would_round_is_refused) {
    for (const auto& [from, to] : {std::pair{Type::f64, Type::f32},
                                   {Type::i32, Type::f32},
                                   {Type::f32, Type::f16},
                                   {Type::f64, Type::f64},
                                   {Type::f32, Type::i32},
                                   {Type::i64, Type::f64},
                                   {Type::i64, Type::i32}}) {
        EXPECT_THROW(widened(Matrix(from, 2, 2), to), Error);
    }
}

}  // namespace
}  // namespace heptad
