// gf2 and bool products of bytes by way of packed bits equal those by plain loops, in any layout, and keep to the
// workspace that was told.
#include "product/memory/packed_bits.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <random>
#include <vector>

#include "kernels/guarded_matrix.hpp"
#include "product/memory/batch.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

Options with_leaf(const std::string& leaf) {
    Options options;
    options.leaf = leaf;
    return options;
}

TEST(packed_bits, equal_the_reference_in_every_layout_with_all_scalars) {
    std::mt19937 random(1);
    Options reference;
    reference.device = "reference";
    for (const Type type : {Type::gf2, Type::boolean}) {
        for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{1, 1, 1}, {7, 9, 8}, {64, 64, 64}, {65, 130, 71}}) {
            for (const Layout layout : all_layouts) {
                for (const int scalars : {0, 1, 2, 3}) {
                    GuardedMatrix a(type, m, k, layout), b(type, k, n, layout), c(type, m, n, layout);
                    a.fill_random(random);
                    b.fill_random(random);
                    c.fill_random(random);
                    GuardedMatrix expected(c);
                    const double alpha = scalars & 1, beta = scalars >> 1;
                    multiply_in_memory(alpha, a.view(), b.view(), beta, expected.view(), reference, {});
                    multiply_in_memory(alpha, a.view(), b.view(), beta, c.view(), with_leaf("packed"), {});
                    EXPECT_TRUE(c.equals(expected)) << type_name(type) << " " << m << " " << scalars;
                }
            }
        }
    }
}

TEST(packed_bits, bytes_other_than_zero_and_one_mean_what_the_type_says) {
    const std::vector<std::uint8_t> a{2, 3, 255, 0, 128, 1, 0, 0, 6, 7};  // 1 x 10
    std::vector<std::uint8_t> b(10, 1), c{0};
    const auto multiply = [&](Type type, double alpha) {
        multiply_in_memory(alpha, {a.data(), type, 1, 10, 10, 1}, {b.data(), type, 10, 1, 1, 1}, 0,
                           {c.data(), type, 1, 1, 1, 1}, with_leaf("packed"), {});
        return c[0];
    };
    EXPECT_EQ(multiply(Type::gf2, 1), 0);  // 3, 255, 1 and 7 are odd
    b[1] = 4;
    EXPECT_EQ(multiply(Type::gf2, 1), 1);
    EXPECT_EQ(multiply(Type::gf2, -3), 1);
    EXPECT_EQ(multiply(Type::gf2, 2), 0);
    b.assign(10, 0);
    b[4] = 64;
    EXPECT_EQ(multiply(Type::boolean, 1), 1);
    EXPECT_EQ(multiply(Type::boolean, 0), 0);
}

TEST(packed_bits, alpha_zero_reads_neither_a_nor_b) {
    constexpr std::size_t bytes = 1 << 16;
    void* forbidden = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(forbidden, MAP_FAILED);
    for (const double alpha : {0.0, 2.0}) {
        std::vector<std::uint8_t> c(40000, 1);
        multiply_in_memory(alpha, {forbidden, Type::gf2, 200, 100, 100, 1}, {forbidden, Type::gf2, 100, 200, 200, 1}, 1,
                           {c.data(), Type::gf2, 200, 200, 200, 1}, with_leaf("packed"), {});
        EXPECT_EQ(c, std::vector<std::uint8_t>(40000, 1));
    }
    munmap(forbidden, bytes);
}

TEST(packed_bits, large_products_are_packed_and_small_or_forced_ones_are_not) {
    for (const Type type : {Type::gf2, Type::boolean}) {
        const ProductPlan plan = plan_product(2000, 2000, 2000, type, {}, {});
        EXPECT_EQ(plan.leaf, "packed");
        EXPECT_GT(plan.workspace_bytes, 3 * 2000 * 2000 / 8);
        EXPECT_GT(plan.predicted_s, 0);
        EXPECT_EQ(parse_plan(to_string(plan)), plan);
        EXPECT_NE(plan_product(2, 2, 2, type, {}, {}).leaf, "packed");
        Options options;
        options.workspace_limit_bytes = plan.workspace_bytes - 1;
        EXPECT_NE(plan_product(2000, 2000, 2000, type, options, {}).leaf, "packed");
        EXPECT_NE(plan_product(2000, 2000, 2000, type, with_leaf("heptad"), {}).leaf, "packed");
        options = with_leaf("packed");
        options.workspace_limit_bytes = 0;
        EXPECT_THROW(plan_product(2000, 2000, 2000, type, options, {}), Error);
    }
    Options options = with_leaf("packed");
    options.levels = 1;
    EXPECT_THROW(plan_product(2000, 2000, 2000, Type::gf2, options, {}), Error);
    EXPECT_THROW(plan_product(2000, 2000, 2000, Type::f32, with_leaf("packed"), {}), Error);
}

TEST(packed_bits, the_callers_workspace_is_used_and_nothing_behind_it) {
    std::mt19937 random(2);
    for (const Type type : {Type::gf2, Type::boolean}) {
        GuardedMatrix a(type, 200, 150, Layout::rows), b(type, 150, 170, Layout::rows), c(type, 200, 170, Layout::rows),
            expected(type, 200, 170, Layout::rows);
        a.fill_random(random);
        b.fill_random(random);
        multiply_in_memory(1, a.view(), b.view(), 0, expected.view(), with_leaf("heptad"), {});
        ProductPlan plan = plan_product(200, 150, 170, type, with_leaf("packed"), {});
        const auto bytes = static_cast<std::size_t>(plan.workspace_bytes);
        std::vector<std::byte> memory(bytes + 128, std::byte{0x77});
        ProductContext context;
        auto* first = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
        context.workspace = first;
        context.workspace_bytes = plan.workspace_bytes;
        const RunReport report = multiply_in_memory(1, a.view(), b.view(), 0, c.view(), plan, context);
        EXPECT_TRUE(c.equals(expected));
        EXPECT_EQ(report.workspace_used_bytes, plan.workspace_bytes);
        for (auto* byte = first + bytes; byte < memory.data() + memory.size(); ++byte) {
            ASSERT_EQ(*byte, std::byte{0x77});
        }
        ProductPlan with_levels = plan;
        with_levels.levels = {{"strassen", LevelMode::serial, ""}};
        EXPECT_THROW(multiply_in_memory(1, a.view(), b.view(), 0, c.view(), with_levels, {}), Error);
        plan.workspace_bytes -= 64;
        EXPECT_THROW(multiply_in_memory(1, a.view(), b.view(), 0, c.view(), plan, {}), Error);
    }
}

TEST(packed_bits, progress_reaches_one_and_a_cancelled_product_stops) {
    std::mt19937 random(3);
    GuardedMatrix a(Type::gf2, 300, 300, Layout::rows), c(Type::gf2, 300, 300, Layout::rows);
    a.fill_random(random);
    double last = 0;
    ProductContext context;
    context.hooks.progress = [&](const Progress& progress) { last = progress.fraction; };
    multiply_in_memory(1, a.view(), a.view(), 0, c.view(), with_leaf("packed"), context);
    EXPECT_EQ(last, 1.0);
    CancelToken token;
    token.cancel();
    context.hooks.cancel = &token;
    EXPECT_THROW(multiply_in_memory(1, a.view(), a.view(), 0, c.view(), with_leaf("packed"), context), Error);
}

}  // namespace
}  // namespace heptad::test
