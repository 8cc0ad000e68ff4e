// The check of packed products passes what is right and fails what is wrong, down to a single bit.
#include "check/verify_bits.hpp"

#include <gtest/gtest.h>

#include "kernels/bits/bit_test_matrices.hpp"

namespace {

using namespace heptad;
using heptad::test::BitWindow;

TEST(VerifyBits, right_products_pass_and_single_wrong_bits_fail) {
    std::mt19937_64 random(1);
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{1, 1, 1}, {65, 131, 70}, {200, 5000, 90}}) {
            const BitWindow a(m, k, random, 0.1), b(k, n, random, 0.1);
            BitMatrix c = test::product_by_definition(algebra, a.view(), b.view());
            EXPECT_TRUE(verify_bits(algebra, a.view(), b.view(), c, {}).passed());
            for (int round = 0; round < 10; ++round) {
                const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(m));
                const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
                c.set(i, j, !c(i, j));
                const VerifyResult result = verify_bits(algebra, a.view(), b.view(), c, {});
                EXPECT_FALSE(result.passed());
                EXPECT_EQ(result.bad_row, i);
                EXPECT_EQ(result.bad_col, algebra == Type::gf2 ? -1 : j);
                c.set(i, j, !c(i, j));
            }
        }
    }
}

TEST(VerifyBits, adds_the_matrix_that_was_added_to) {
    const BitMatrix a = BitMatrix::random(70, 70, 1), b = BitMatrix::random(70, 70, 2);
    const BitMatrix c0 = BitMatrix::random(70, 70, 3, 0.1);
    BitMatrix c = test::product_by_definition(Type::gf2, a, b);
    for (std::int64_t i = 0; i < 70; ++i) {
        for (std::int64_t j = 0; j < 70; ++j) {
            c.set(i, j, c(i, j) != c0(i, j));
        }
    }
    EXPECT_TRUE(verify_bits(Type::gf2, a, b, c, c0).passed());
    EXPECT_FALSE(verify_bits(Type::gf2, a, b, c, {}).passed());
    EXPECT_THROW(verify_bits(Type::gf2, a, b, BitMatrix(70, 71), {}), Error);
    EXPECT_THROW(verify_bits(Type::gf2, a, b, c, BitMatrix(70, 71)), Error);
}

TEST(VerifyBits, sampled_rows_say_what_they_miss) {
    const BitMatrix a = BitMatrix::random(500, 64, 1), b = BitMatrix::random(64, 64, 2);
    const BitMatrix c = test::product_by_definition(Type::boolean, a, b);
    VerifyOptions options;
    options.sampled_rows = 100;
    const VerifyResult result = verify_bits(Type::boolean, a, b, c, {}, options);
    EXPECT_TRUE(result.passed());
    EXPECT_EQ(result.rows_recomputed, 100);
    EXPECT_GT(result.detectable_fraction, 0.3);
}

}  // namespace
