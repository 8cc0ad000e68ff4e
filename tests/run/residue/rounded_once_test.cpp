// One rounding of alpha x + beta c: against the processor's own in wider types, and at the edges of the formats.
#include "run/residue/rounded_once.hpp"
#include "run/residue/entry_rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace heptad {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ResidueInteger integer(std::int64_t x) {
    ResidueInteger value;
    value.words[0] = static_cast<std::uint64_t>(x < 0 ? -x : x);
    if (x < 0) {
        value.negate();
    }
    return value;
}

TEST(wide_integer, shifts_by_any_number_of_bits) {
    for (int up = 0; up < 320; ++up) {
        WideInteger<5> one;
        one.words[0] = 5;
        const WideInteger<5> there = one.shifted(up);
        EXPECT_TRUE(there.bit(up)) << up;
        EXPECT_EQ(there.any_below(up), false) << up;
        EXPECT_EQ(there.bit_length(), std::min(up + 3, up + 2 < 320 ? up + 3 : up + 1)) << up;
        if (up + 3 <= 320) {
            EXPECT_EQ(there.shifted(-up), one) << up;
        }
    }
}

TEST(rounded_once, is_the_processors_fused_multiply_add_of_doubles) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < 200000; ++i) {
        const auto x = static_cast<std::int64_t>(std::ldexp(uniform(random), 53));
        const double beta = uniform(random);
        const int gap = static_cast<int>(random() % 240) - 120, exponent = static_cast<int>(random() % 100) - 50;
        const double c = std::ldexp(uniform(random), exponent + gap);
        const double value = std::ldexp(static_cast<double>(x), exponent);
        ASSERT_EQ(rounded_once(1, integer(x), exponent, beta, c, Type::f64), std::fma(beta, c, value))
            << x << " " << exponent << " " << beta << " " << c;
        ASSERT_EQ(rounded_once(beta, integer(x), exponent, 1, c, Type::f64), std::fma(beta, value, c));
        // Not by way of double: to f32 at once.
        const float to_f32 = static_cast<float>(value);
        ASSERT_EQ(rounded_once(1, integer(x), exponent, 0, 0, Type::f32), static_cast<double>(to_f32));
    }
}

TEST(rounded_once, does_not_round_twice) {
    // 1 + 2^-24 + 2^-60: to double first it is a tie of f32, and goes down.
    ResidueInteger value;
    value.words[0] = 1;
    value.add_multiple(integer(std::int64_t{1} << 36), 1);
    value.add_multiple(integer(std::int64_t{1} << 60), 1);
    EXPECT_EQ(rounded_once(1, value, -60, 0, 0, Type::f32), 1 + 0x1p-23);
    EXPECT_EQ(rounded_once(-1, value, -60, 0, 0, Type::f32), -1 - 0x1p-23);
    // The same with what lies far below coming from C, and taken away.
    EXPECT_EQ(rounded_once(1, integer((1 << 24) + 1), -24, 1, 0x1p-900, Type::f32), 1 + 0x1p-23);
    EXPECT_EQ(rounded_once(1, integer((1 << 24) + 1), -24, 1, -0x1p-900, Type::f32), 1);
    EXPECT_EQ(rounded_once(1, integer((1 << 24) + 1), -24, 0, 0, Type::f32), 1) << "a tie goes to even";
    EXPECT_EQ(rounded_once(1, integer((3 << 23) + 1), -24, 0, 0, Type::bf16), 1.5);
}

TEST(rounded_once, knows_the_edges_of_the_formats) {
    EXPECT_EQ(rounded_once(1, integer(1), -149, 0, 0, Type::f32), 0x1p-149);
    EXPECT_EQ(rounded_once(1, integer(1), -150, 0, 0, Type::f32), 0) << "half of it goes to even";
    EXPECT_EQ(rounded_once(1, integer(3), -151, 0, 0, Type::f32), 0x1p-149);
    EXPECT_EQ(rounded_once(1, integer(3), -1075, 0, 0, Type::f64), 0x1p-1073);
    EXPECT_EQ(rounded_once(1, integer(1), -24, 0, 0, Type::f16), 0x1p-24);
    EXPECT_EQ(rounded_once(1, integer(1), 128, 0, 0, Type::f32), kInfinity);
    EXPECT_EQ(rounded_once(-1, integer(1), 1024, 0, 0, Type::f64), -kInfinity);
    EXPECT_EQ(rounded_once(1, integer(65519), 0, 0, 0, Type::f16), 65504);
    EXPECT_EQ(rounded_once(1, integer(65520), 0, 0, 0, Type::f16), kInfinity);
    const double zero = rounded_once(3, integer(-5), 2, 1, 60, Type::f64);
    EXPECT_TRUE(zero == 0 && !std::signbit(zero));
    const double cancelled = rounded_once(-1, integer(0), 0, -1, 0, Type::f32);
    EXPECT_TRUE(cancelled == 0 && !std::signbit(cancelled));
    EXPECT_TRUE(std::signbit(rounded_once(1, integer(-1), -1200, 0, 0, Type::f64)));
}

TEST(rounded_once, the_quick_way_gives_the_same_bits_or_leaves_it) {
    std::mt19937_64 random(9);
    int quick = 0;
    constexpr int kCases = 20000;
    for (int i = 0; i < kCases; ++i) {
        // Pieces of any length, some of them ties and one unit beside them.
        std::vector<double> pieces(std::size_t{kMostEntryPieces} * kResidueTile * kResidueTile);
        const int count = 1 + static_cast<int>(random() % kMostEntryPieces);
        for (int q = 0; q < count; ++q) {
            const double size = std::exp2(static_cast<double>(random() % (q + 1 < count ? 39 : 24)));
            const double tie = size + std::exp2(std::floor(std::log2(size) - (i % 2 == 0 ? 24 : 53)));
            const double piece =
                std::floor(random() % 3 == 0 ? tie : size * 1.7) * static_cast<double>(random() % 4 != 0);
            pieces[static_cast<std::size_t>(q) * kResidueTile * kResidueTile + 33] = random() % 2 == 0 ? piece : -piece;
        }
        const IntegerTile tile{0, 0, 2, 2, pieces.data(), count};
        const ResidueInteger value = entry_integer(tile, 1, 1);
        const int exponent = static_cast<int>(random() % 300) - 250;
        float short_result = 77;
        double result = 77;
        if (rounds_quickly(tile, 1, 1, exponent, short_result)) {
            ++quick;
            ASSERT_EQ(static_cast<double>(short_result), rounded_once(1, value, exponent, 0, 0, Type::f32)) << i;
        } else {
            EXPECT_EQ(short_result, 77) << "left alone";
        }
        ASSERT_TRUE(rounds_quickly(tile, 1, 1, exponent, result));
        ASSERT_EQ(result, rounded_once(1, value, exponent, 0, 0, Type::f64)) << i;
    }
    EXPECT_GT(quick, kCases / 4);
    EXPECT_LT(quick, kCases);
}

}  // namespace
}  // namespace heptad
