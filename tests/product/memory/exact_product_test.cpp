// Forced levels at small sizes on the CPU and the reference backend, against the definition in integers.
#include "product/memory/product_cases.hpp"

namespace heptad::test {
namespace {

Counts check_products(Type type, int count, unsigned seed) {
    const Contestant in_memory{
        [](const Case& x, const Options& options, const ProductContext& context) {
            return plan_product(x.m, x.k, x.n, x.type, options, context);
        },
        [](const Case& x, const CaseOperands& operands, const Options& options, const ProductContext& context) {
            return multiply_in_memory(x.alpha, meant(operands.a.view(), operands.transpose_a),
                                      meant(operands.b.view(), operands.transpose_b), x.beta, operands.c.view(),
                                      options, context);
        }};
    return check_products(in_memory, type, count, seed);
}

TEST(exact_product, f32_equals_the_definition_bit_for_bit) {
    const Counts counts = check_products(Type::f32, 26000, 1);
    EXPECT_GT(counts.with_levels * 2, counts.products);
    EXPECT_GT(counts.exact * 3, counts.products * 2);
    EXPECT_GT(counts.four_levels * 200, counts.products);
}

TEST(exact_product, f64_equals_the_definition_bit_for_bit) {
    const Counts counts = check_products(Type::f64, 22000, 2);
    EXPECT_GT(counts.with_levels * 2, counts.products);
    EXPECT_GT(counts.exact * 6, counts.products * 5);
}

TEST(exact_product, i32_equals_the_definition_mod_2_32) {
    const Counts counts = check_products(Type::i32, 24000, 3);
    EXPECT_GT(counts.with_levels * 2, counts.products);
    EXPECT_EQ(counts.exact, counts.products);
}

TEST(exact_product, i64_equals_the_definition_mod_2_64) {
    const Counts counts = check_products(Type::i64, 3000, 9);
    EXPECT_GT(counts.with_levels * 2, counts.products);
    EXPECT_EQ(counts.exact, counts.products);
}

TEST(exact_product, gf2_equals_the_definition_mod_2) {
    const Counts counts = check_products(Type::gf2, 22000, 4);
    EXPECT_GT(counts.with_levels * 2, counts.products);
    EXPECT_EQ(counts.exact, counts.products);
}

TEST(exact_product, bool_equals_or_of_ands) {
    const Counts counts = check_products(Type::boolean, 4000, 5);
    EXPECT_EQ(counts.exact, counts.products);
}

TEST(exact_product, tf32_bf16_f16_are_classical_and_exact_where_they_fit) {
    for (const auto& [type, seed] : {std::pair{Type::tf32, 6U}, {Type::bf16, 7U}, {Type::f16, 8U}}) {
        const Counts counts = check_products(type, 2000, seed);
        EXPECT_EQ(counts.with_levels, 0) << type_name(type);
        EXPECT_GT(counts.exact * 2, counts.products) << type_name(type);
    }
}

}  // namespace
}  // namespace heptad::test
