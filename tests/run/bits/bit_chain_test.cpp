// Chains and powers equal products one after another.
#include <gtest/gtest.h>

#include "base/size.hpp"
#include "kernels/bits/bit_test_matrices.hpp"
#include "run/bits/bit_chain.hpp"
#include "run/bits/bit_test_options.hpp"

namespace {

using namespace heptad;
using namespace heptad::bits;
using heptad::test::options_of;
using heptad::test::product_by_definition;

TEST(BitChain, four_factors_of_any_shape) {
    std::mt19937_64 random(1);
    const test::BitWindow a(33, 130, random), b(130, 65, random), c(65, 300, random), d(300, 7, random);
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        const BitMatrix expected = product_by_definition(
            algebra, product_by_definition(algebra, product_by_definition(algebra, a.view(), b.view()), c.view()),
            d.view());
        for (const std::string& leaf : leaf_names(algebra)) {
            for (const int threads : {1, 2}) {
                for (const char* algorithm : {"auto", "chaining", "winograd", "self-inverse"}) {
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

TEST(BitChain, the_plan_is_the_fastest_of_what_was_predicted) {
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>(5, 8192), std::vector<std::int64_t>(4, 300), {100, 5000, 70, 9000, 3}}) {
        const ChainPlan best = make_chain_plan(Type::gf2, sizes, {}, 2);
        ASSERT_EQ(best.plans.size(), sizes.size() - 2);
        double apart = 0;
        for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
            apart += make_bit_plan(Type::gf2, {sizes[0], sizes[i + 1], sizes[i + 2]}, {}, 2).predicted_s;
        }
        EXPECT_LE(best.predicted_s, apart);
        EXPECT_LE(best.predicted_s, make_chain_plan(Type::gf2, sizes, options_of("chaining", -1), 2).predicted_s);
        EXPECT_GT(best.predicted_s, 0);
    }
}

TEST(BitChain, results_that_stay_packed_and_separate_products_are_equal) {
    const BitMatrix a = BitMatrix::random(300, 300, 7);
    const BitMatrix expected = raise(Type::gf2, a, 11, options_of("classical", 0), {1});
    for (const LevelProgram& program : level_programs()) {
        for (const bool packed : {true, false}) {
            for (const int levels : {1, 2}) {
                ChainPlan chain;
                chain.packed = packed;
                BitLaunch launch =
                    bit_launch(make_bit_plan(Type::gf2, {300, 300, 300}, options_of(program.name, levels), 2));
                const std::int64_t side = round_up(std::max({launch.shape.m, launch.shape.n}), 512);
                launch.shape = {side, side, side};
                chain.plans.assign(5, plan_of(launch));
                EXPECT_TRUE(raise_by(chain, a, 11, {}) == expected) << program.name << packed << levels;
            }
        }
    }
}

TEST(BitChain, progress_grows_to_one_and_cancelling_stops) {
    const BitMatrix a = BitMatrix::random(300, 300, 7);
    for (const int threads : {1, 2}) {
        double last = 0;
        const RunHooks hooks{nullptr, [&](const Progress& progress) {
                                 EXPECT_GE(progress.fraction, last);
                                 last = progress.fraction;
                             }};
        raise(Type::gf2, a, 9, options_of("auto", 2), {threads, hooks});
        EXPECT_GT(last, threads == 1 ? 0.999 : 0.0);
        EXPECT_LE(last, 1.0);
        CancelToken token;
        token.cancel();
        EXPECT_THROW(raise(Type::gf2, a, 9, options_of("auto", 2), {threads, {&token}}), Error);
        EXPECT_THROW(multiply_chain(Type::boolean, {a, a, a}, {}, {threads, {&token}}), Error);
    }
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
