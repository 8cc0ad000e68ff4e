// The public interface of bit matrices, as a user would call it.
#include <gtest/gtest.h>

#include <heptad/bits.hpp>

namespace {

using heptad::BitMatrix;
using heptad::Type;
namespace bits = heptad::bits;

TEST(BitsApi, products_add_up_and_chain) {
    const BitMatrix a = BitMatrix::random(100, 130, 1), b = BitMatrix::random(130, 70, 2),
                    one = BitMatrix::identity(70);
    BitMatrix c = bits::product(Type::gf2, a, b);
    EXPECT_TRUE(bits::product(Type::gf2, c, one) == c);
    EXPECT_TRUE(bits::chain_product(Type::gf2, {a, b, one, one}) == c);
    heptad::Context context;
    context.set_threads(2);
    bits::multiply_add(Type::gf2, a, b, c.view(), {}, context);
    EXPECT_EQ(bits::count_ones(c), 0);
    bits::multiply(Type::boolean, a, b, c.view());
    EXPECT_GT(bits::count_ones(c), 0);
}

TEST(BitsApi, powers_of_a_cycle) {
    constexpr std::int64_t n = 65;
    BitMatrix cycle(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
        cycle.set(i, (i + 1) % n, true);
    }
    EXPECT_TRUE(bits::power(Type::gf2, cycle, n) == BitMatrix::identity(n));
    EXPECT_TRUE(bits::power(Type::boolean, cycle, n - 1) == cycle.transposed());
    EXPECT_EQ(bits::count_ones(bits::transitive_closure(cycle)), n * n);
}

TEST(BitsApi, triangles_of_a_complete_graph) {
    const BitMatrix all = BitMatrix::random(20, 20, 1, 1.0);
    EXPECT_EQ(heptad::count_triangles(all), 20 * 19 * 18 / 6);
}

TEST(BitsApi, plans_tell_what_is_done) {
    const std::string plan = bits::plan(Type::gf2, {4096, 4096, 4096});
    EXPECT_NE(plan.find("levels"), std::string::npos) << plan;
    EXPECT_FALSE(bits::leaf_names(Type::gf2).empty());
}

TEST(BitsApi, a_cancelled_context_ends_the_product) {
    const BitMatrix a(500, 500);
    heptad::CancelToken token;
    token.cancel();
    heptad::Context context;
    context.set_cancel(token);
    try {
        bits::product(Type::gf2, a, a, {}, context);
        FAIL();
    } catch (const heptad::Error& error) {
        EXPECT_EQ(error.code(), heptad::ErrorCode::cancelled);
    }
}

}  // namespace
