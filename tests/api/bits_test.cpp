// The public interface of bit matrices, as a user would call it.
#include <gtest/gtest.h>

#include <functional>
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

TEST(BitsApi, a_workspace_is_heeded_or_told_to_be_too_small) {
    const BitMatrix a = BitMatrix::random(300, 300, 1);
    const std::int64_t bytes = bits::plan(Type::gf2, {300, 300, 300}).workspace_bytes();
    std::vector<char> memory(static_cast<std::size_t>(bytes + 64), 'x');
    heptad::Context context;
    context.set_workspace(memory.data(), bytes + 64);
    EXPECT_TRUE(bits::product(Type::gf2, a, a, {}, context) == bits::product(Type::gf2, a, a));
    EXPECT_NE(memory, std::vector<char>(memory.size(), 'x'));
    context.set_workspace(nullptr, 0);
    for (const auto& call :
         {std::function<void()>([&] { bits::product(Type::gf2, a, a, {}, context); }), std::function<void()>([&] {
              bits::plan(Type::boolean, {300, 300, 300}, {}, context);
          })}) {
        try {
            call();
            FAIL();
        } catch (const heptad::Error& error) {
            EXPECT_EQ(error.code(), heptad::ErrorCode::resource);
        }
    }
}

TEST(BitsApi, a_closure_heeds_its_leaf) {
    const BitMatrix graph = BitMatrix::random(100, 100, 1, 0.05);
    bits::BitOptions options;
    options.leaf = bits::leaf_names(Type::boolean).back();
    EXPECT_TRUE(bits::transitive_closure(graph, options) == bits::transitive_closure(graph));
    options.leaf = "nobody";
    EXPECT_THROW(bits::transitive_closure(graph, options), heptad::Error);
}

TEST(BitsApi, triangles_of_a_complete_graph) {
    const BitMatrix all = BitMatrix::random(20, 20, 1, 1.0);
    EXPECT_EQ(heptad::count_triangles(all), 20 * 19 * 18 / 6);
}

TEST(BitsApi, plans_tell_what_is_done) {
    bits::BitOptions options;
    options.algorithm = "winograd";
    options.levels = 2;
    for (const char* const device : {"cpu", "cuda"}) {
        options.device = device;
        const heptad::Plan plan = bits::plan(Type::gf2, {4096, 4096, 4096}, options);
        EXPECT_EQ(plan.levels(), 2);
        EXPECT_EQ(plan.type(), Type::gf2);
        EXPECT_GT(plan.workspace_bytes(), 0);
        EXPECT_GT(plan.predicted_s(), 0);
        EXPECT_NE(plan.to_string().find("winograd:"), std::string::npos) << plan.to_string();
        EXPECT_EQ(heptad::Plan::parse(plan.to_string()).to_string(), plan.to_string());
    }
    EXPECT_FALSE(bits::leaf_names(Type::gf2).empty());
}

TEST(BitsApi, numbers_are_not_multiplied_by_a_plan_for_packed_bits) {
    const std::vector<std::uint8_t> a(64 * 64), b(64 * 64);
    std::vector<std::uint8_t> c(64 * 64);
    const heptad::ConstAnyView from_a{a.data(), Type::gf2, 64, 64, 64, 1}, from_b{b.data(), Type::gf2, 64, 64, 64, 1};
    const heptad::AnyView to{c.data(), Type::gf2, 64, 64, 64, 1};
    EXPECT_THROW(heptad::multiply(1, from_a, from_b, 0, to, bits::plan(Type::gf2, {64, 64, 64})), heptad::Error);
}

TEST(BitsApi, a_context_names_the_device_that_options_leave_open) {
    const BitMatrix a = BitMatrix::random(70, 70, 1), b = BitMatrix::random(70, 70, 2);
    heptad::Context context;
    context.set_device("cpu:2");
    EXPECT_TRUE(bits::product(Type::gf2, a, b, {}, context) == bits::product(Type::gf2, a, b));
    EXPECT_NE(bits::plan(Type::gf2, {70, 70, 70}, {}, context).to_string().find("devices=cpu:2;"), std::string::npos);
    EXPECT_THROW(bits::power(Type::gf2, a, 3, {}, context), heptad::Error);  // has no way over several devices
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
