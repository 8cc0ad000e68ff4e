// The 16-bit formats: every one of their values, and the rounding between any two neighbours.
#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace heptad {
namespace {

template <class Half>
Half round_to(float x) {
    if constexpr (std::is_same_v<Half, f16>) {
        return to_f16(x);
    } else {
        return to_bf16(x);
    }
}

template <class Half>
class half : public ::testing::Test {};
using Halves = ::testing::Types<bf16, f16>;
TYPED_TEST_SUITE(half, Halves);

TYPED_TEST(half, every_value_survives_f32) {
    for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
        const TypeParam value{static_cast<std::uint16_t>(bits)};
        const float wide = to_float(value);
        if (std::isnan(wide)) {
            EXPECT_TRUE(std::isnan(to_float(round_to<TypeParam>(wide))));
        } else {
            ASSERT_EQ(round_to<TypeParam>(wide).bits, bits);
        }
    }
}

TYPED_TEST(half, between_neighbours_the_nearest_is_taken_and_of_two_the_even_one) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (std::uint16_t bits = 0; std::isfinite(to_float(TypeParam{static_cast<std::uint16_t>(bits + 1)})); ++bits) {
        const auto above = static_cast<std::uint16_t>(bits + 1);
        const float low = to_float(TypeParam{bits}), high = to_float(TypeParam{above});
        const float middle = low + (high - low) / 2;
        ASSERT_EQ(round_to<TypeParam>(middle).bits, bits % 2 == 0 ? bits : above);
        ASSERT_EQ(round_to<TypeParam>(std::nextafter(middle, 0.0F)).bits, bits);
        ASSERT_EQ(round_to<TypeParam>(std::nextafter(middle, infinity)).bits, above);
        ASSERT_EQ(round_to<TypeParam>(-middle).bits, round_to<TypeParam>(middle).bits | 0x8000U);
    }
}

TEST(half_range, what_is_too_large_becomes_infinite) {
    EXPECT_EQ(to_float(to_f16(65504)), 65504);
    EXPECT_EQ(to_float(to_f16(std::nextafter(65520.0F, 0.0F))), 65504);
    EXPECT_TRUE(std::isinf(to_float(to_f16(65520))));
    EXPECT_TRUE(std::isinf(to_float(to_f16(-1e30F))));
    EXPECT_TRUE(std::isinf(to_float(to_bf16(std::numeric_limits<float>::max()))));
}

TEST(half_range, tf32_keeps_ten_bits) {
    EXPECT_EQ(round_to_tf32(1 + 0x1p-10F), 1 + 0x1p-10F);
    EXPECT_EQ(round_to_tf32(1 + 0x1p-11F), 1);                        // to even
    EXPECT_EQ(round_to_tf32(1 + 0x1p-11F + 0x1p-23F), 1 + 0x1p-10F);  // to nearest
    EXPECT_EQ(round_to_tf32(1 + 0x1.8p-10F), 1 + 0x1p-9F);            // to even
    EXPECT_TRUE(std::isnan(round_to_tf32(std::nanf(""))));
    EXPECT_TRUE(std::isinf(round_to_tf32(-std::numeric_limits<float>::infinity())));
}

}  // namespace
}  // namespace heptad
