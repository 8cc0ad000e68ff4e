// Chains and powers equal products one after another.
#include <gtest/gtest.h>

#include "bits/bit_chain.hpp"
#include "bits/bit_test_matrices.hpp"

namespace {

using namespace heptad;
using namespace heptad::bits;
using heptad::test::product_by_definition;

BitOptions options_of(const std::string& algorithm, int levels, const std::string& leaf = "auto") {
    BitOptions options;
    options.algorithm = algorithm;
    options.levels = levels;
    options.leaf = leaf;
    return options;
}

TEST(BitChain, four_factors_of_any_shape) {
    std::mt19937_64 random(1);
    const test::BitWindow a(33, 130, random), b(130, 65, random), c(65, 300, random), d(300, 7, random);
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        const BitMatrix expected = product_by_definition(
            algebra, product_by_definition(algebra, product_by_definition(algebra, a.view(), b.view()), c.view()),
            d.view());
        for (const std::string& leaf : leaf_names(algebra)) {
            for (const int threads : {1, 2}) {
                for (const char* algorithm : {"auto", "chaining", "winograd"}) {
                    for (const int levels : {-1, 0, 1, 2}) {
                        if (algebra == Type::boolean && (levels > 0 || algorithm != std::string("auto"))) {
                            continue;
                        }
                        const BitMatrix found = multiply_chain(algebra, {a.view(), b.view(), c.view(), d.view()},
                                                               options_of(algorithm, levels, leaf), {threads});
                        ASSERT_TRUE(found == expected) << algorithm << " " << levels << " " << leaf;
                    }
                }
            }
        }
    }
}

TEST(BitChain, short_chains) {
    const BitMatrix a = BitMatrix::random(40, 50, 1), b = BitMatrix::random(50, 60, 2);
    EXPECT_TRUE(multiply_chain(Type::gf2, {a}, {}, {1}) == a);
    EXPECT_TRUE(multiply_chain(Type::gf2, {a, b}, {}, {1}) == product_by_definition(Type::gf2, a, b));
    EXPECT_THROW(multiply_chain(Type::gf2, {}, {}, {1}), Error);
    EXPECT_THROW(multiply_chain(Type::gf2, {b, a}, {}, {1}), Error);
}

TEST(BitChain, bases_that_do_not_chain_are_refused) {
    const BitMatrix a(64, 64);
    EXPECT_THROW(multiply_chain(Type::gf2, {a, a, a}, options_of("self-inverse", 1), {1}), Error);
}

TEST(BitChain, powers_up_to_twenty) {
    const BitMatrix a = BitMatrix::random(130, 130, 5, 0.02);
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        BitMatrix expected = BitMatrix::identity(130);
        for (std::int64_t exponent = 0; exponent <= 20; ++exponent) {
            for (const int levels : {0, 2}) {
                if (algebra == Type::gf2 || levels == 0) {
                    ASSERT_TRUE(raise(algebra, a, exponent, options_of("auto", levels), {2}) == expected) << exponent;
                }
            }
            expected = product_by_definition(algebra, expected, a);
        }
    }
    EXPECT_THROW(raise(Type::gf2, a, -1, {}, {1}), Error);
    EXPECT_THROW(raise(Type::gf2, BitMatrix(3, 4), 2, {}, {1}), Error);
}

}  // namespace
