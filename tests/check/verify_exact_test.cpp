// Exact types: right results pass, and every single wrong entry, down to one bit, is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "check/naive_product.hpp"
#include "check/verify.hpp"

namespace heptad {
namespace {

VerifyOptions seeded(std::uint64_t seed) {
    VerifyOptions options;
    options.seed = seed;
    return options;
}

struct Shape {
    std::int64_t m, k, n;
};
const std::vector<Shape> kShapes{{1, 1, 1},    {1, 7, 5},    {5, 1, 3},     {17, 300, 1},
                                 {33, 17, 65}, {64, 64, 64}, {20, 600, 40}, {3, 5, 700}};

TestMatrix<std::uint64_t> random_longs(std::int64_t rows, std::int64_t cols, std::mt19937_64& random,
                                       bool by_columns = false) {
    TestMatrix<std::uint64_t> m(Type::i64, rows, cols, by_columns);
    std::generate(m.data.begin(), m.data.end(), std::ref(random));
    return m;
}

TEST(VerifyI32, right_products_of_any_order_pass_with_a_miss_chance_below_2_to_the_minus_60) {
    std::mt19937_64 random(1);
    for (const Shape& s : kShapes) {
        for (const bool by_columns : {false, true}) {
            const auto a = random_words<std::uint32_t>(Type::i32, s.m, s.k, random, ~0U, by_columns);
            const auto b = random_words<std::uint32_t>(Type::i32, s.k, s.n, random, ~0U, by_columns);
            const VerifyResult result = verify(a, b, naive_integers(a, b), seeded(random()));
            EXPECT_TRUE(result.passed()) << result.explanation;
            EXPECT_LE(result.miss_chance, 0x1p-60);
            EXPECT_EQ(result.residual, 0);
        }
    }
}

TEST(VerifyI32, every_flipped_bit_of_any_entry_is_found_with_its_row) {
    std::mt19937_64 random(2);
    const auto a = random_words<std::uint32_t>(Type::i32, 19, 40, random, ~0U);
    const auto b = random_words<std::uint32_t>(Type::i32, 40, 23, random, ~0U);
    auto c = naive_integers(a, b);
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.cols; ++j) {
            const std::uint32_t flip = 1U << (static_cast<unsigned>(i * 23 + j) % 32U);
            for (const std::uint32_t mask : {flip, 1U << 31}) {
                c(i, j) ^= mask;
                const VerifyResult result = verify(a, b, c, seeded(random()));
                EXPECT_EQ(result.verdict, Verdict::failed) << i << ", " << j << ", " << mask;
                EXPECT_EQ(result.bad_row, i);
                EXPECT_GT(result.residual, 0);
                c(i, j) ^= mask;
            }
        }
    }
}

TEST(VerifyI32, errors_that_cancel_in_sums_of_rows_and_columns_are_found) {
    std::mt19937_64 random(3);
    const auto a = random_words<std::uint32_t>(Type::i32, 30, 30, random, ~0U);
    const auto b = random_words<std::uint32_t>(Type::i32, 30, 30, random, ~0U);
    for (int repeat = 0; repeat < 200; ++repeat) {
        auto c = naive_integers(a, b);
        const auto i = static_cast<std::int64_t>(random() % 29), j = static_cast<std::int64_t>(random() % 29);
        for (const std::int64_t step : {0, 1}) {
            c(i + step, j) += 1U << 31;
            c(i + step, j + 1) -= 1U << 31;
        }
        EXPECT_FALSE(verify(a, b, c, seeded(random())).passed());
    }
}

TEST(VerifyI32, alpha_beta_and_c0_are_taken_mod_2_to_the_32) {
    std::mt19937_64 random(4);
    const auto a = random_words<std::uint32_t>(Type::i32, 9, 11, random, ~0U);
    const auto b = random_words<std::uint32_t>(Type::i32, 11, 13, random, ~0U);
    const auto c0 = random_words<std::uint32_t>(Type::i32, 9, 13, random, ~0U);
    VerifyOptions options = seeded(5);
    options.alpha = -3;
    options.beta = 4294967298.0;  // 2 mod 2^32
    options.c0 = c0;
    auto c = naive_integers(a, b, static_cast<std::uint32_t>(-3), std::uint32_t{2}, &c0);
    EXPECT_TRUE(verify(a, b, c, options).passed());
    options.beta = 3;
    EXPECT_FALSE(verify(a, b, c, options).passed());
}

TEST(VerifyI64, right_products_pass_and_every_flipped_bit_is_found_with_its_row) {
    std::mt19937_64 random(21);
    for (const Shape& s : kShapes) {
        for (const bool by_columns : {false, true}) {
            const auto a = random_longs(s.m, s.k, random, by_columns);
            const auto b = random_longs(s.k, s.n, random, by_columns);
            auto c = naive_integers(a, b);
            const VerifyResult right = verify(a, b, c, seeded(random()));
            EXPECT_TRUE(right.passed()) << right.explanation;
            EXPECT_LE(right.miss_chance, 0x1p-60);
            for (unsigned bit = 0; bit < 64; ++bit) {
                const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(s.m));
                const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(s.n));
                c(i, j) ^= std::uint64_t{1} << bit;
                const VerifyResult wrong = verify(a, b, c, seeded(random()));
                EXPECT_EQ(wrong.verdict, Verdict::failed) << bit;
                EXPECT_EQ(wrong.bad_row, i);
                c(i, j) ^= std::uint64_t{1} << bit;
            }
        }
    }
}

TEST(VerifyI64, alpha_beta_and_c0_are_taken_mod_2_to_the_64) {
    std::mt19937_64 random(22);
    const auto a = random_longs(9, 11, random), b = random_longs(11, 13, random), c0 = random_longs(9, 13, random);
    VerifyOptions options = seeded(5);
    options.alpha = -3;
    options.beta = 0x1p63;
    options.c0 = c0;
    auto c = naive_integers(a, b, ~std::uint64_t{2}, std::uint64_t{1} << 63, &c0);
    EXPECT_TRUE(verify(a, b, c, options).passed());
    options.beta = 3;
    EXPECT_FALSE(verify(a, b, c, options).passed());
}

TEST(VerifyGf2, right_products_pass_and_every_flipped_bit_is_found_with_its_row) {
    std::mt19937_64 random(6);
    for (const Shape& s : kShapes) {
        const auto a = random_words<std::uint8_t>(Type::gf2, s.m, s.k, random, 1);
        const auto b = random_words<std::uint8_t>(Type::gf2, s.k, s.n, random, 1, true);
        auto c = naive_bits(a, b);
        const VerifyResult right = verify(a, b, c, seeded(random()));
        EXPECT_TRUE(right.passed()) << right.explanation;
        EXPECT_LE(right.miss_chance, 0x1p-60);
        for (int repeat = 0; repeat < 40; ++repeat) {
            const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(s.m));
            const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(s.n));
            c(i, j) ^= 1U;
            const VerifyResult wrong = verify(a, b, c, seeded(random()));
            EXPECT_EQ(wrong.verdict, Verdict::failed);
            EXPECT_EQ(wrong.bad_row, i);
            c(i, j) ^= 1U;
        }
    }
}

TEST(VerifyGf2, odd_beta_adds_c0_and_even_alpha_drops_the_product) {
    std::mt19937_64 random(7);
    const auto a = random_words<std::uint8_t>(Type::gf2, 8, 9, random, 1);
    const auto b = random_words<std::uint8_t>(Type::gf2, 9, 10, random, 1);
    const auto c0 = random_words<std::uint8_t>(Type::gf2, 8, 10, random, 1);
    VerifyOptions options = seeded(8);
    options.beta = 1;
    options.c0 = c0;
    EXPECT_TRUE(verify(a, b, naive_bits(a, b, &c0), options).passed());
    options.alpha = 2;
    EXPECT_TRUE(verify(a, b, c0, options).passed());
    EXPECT_FALSE(verify(a, b, naive_bits(a, b, &c0), options).passed());
}

TEST(VerifyBool, small_products_are_checked_in_all_rows_and_every_wrong_entry_is_found_with_its_place) {
    std::mt19937_64 random(9);
    for (const Shape& s : kShapes) {
        auto a = random_words<std::uint8_t>(Type::boolean, s.m, s.k, random, 1);
        auto b = random_words<std::uint8_t>(Type::boolean, s.k, s.n, random, 1);
        for (auto* const x : {&a, &b}) {  // sparse, so that the product has zeros
            for (std::uint8_t& bit : x->data) {
                bit = static_cast<std::uint8_t>(bit & ((random() & 3) == 0 ? 1 : 0));
            }
        }
        auto c = naive_bits(a, b);
        const VerifyResult right = verify(a, b, c, seeded(random()));
        EXPECT_TRUE(right.passed()) << right.explanation;
        EXPECT_EQ(right.rows_recomputed, s.m);
        EXPECT_EQ(right.miss_chance, 0);
        EXPECT_EQ(right.detectable_fraction, 0);
        for (int repeat = 0; repeat < 20; ++repeat) {
            const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(s.m));
            const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(s.n));
            c(i, j) ^= 1U;
            const VerifyResult wrong = verify(a, b, c, seeded(random()));
            EXPECT_EQ(wrong.verdict, Verdict::failed);
            EXPECT_EQ(wrong.bad_row, i);
            EXPECT_EQ(wrong.bad_col, j);
            EXPECT_EQ(wrong.residual, 1);
            c(i, j) ^= 1U;
        }
    }
}

TEST(VerifyBool, sample_states_the_fraction_it_detects_and_finds_such_a_fraction) {
    std::mt19937_64 random(10);
    const auto a = random_words<std::uint8_t>(Type::boolean, 500, 3, random, 1);
    const auto b = random_words<std::uint8_t>(Type::boolean, 3, 20, random, 1);
    auto c = naive_bits(a, b);
    VerifyOptions options = seeded(11);
    options.sampled_rows = 120;
    const VerifyResult right = verify(a, b, c, options);
    EXPECT_TRUE(right.passed());
    EXPECT_EQ(right.rows_recomputed, 120);
    EXPECT_NEAR(std::pow(1 - right.detectable_fraction, 120), 0x1p-60, 0x1p-70);
    EXPECT_LE(right.miss_chance, 0x1p-60);
    for (int repeat = 0; repeat < 50; ++repeat) {
        auto wrong = c;
        const auto first = static_cast<std::int64_t>(random() % 350);
        for (std::int64_t i = first; i < first + 150; ++i) {  // 30 %, just above the stated fraction
            wrong(i, static_cast<std::int64_t>(random() % 20)) ^= 1U;
        }
        options.seed = random();
        EXPECT_FALSE(verify(a, b, wrong, options).passed());
    }
    options.all_rows = true;
    c(499, 19) ^= 1U;
    EXPECT_FALSE(verify(a, b, c, options).passed());
}

TEST(VerifyBool, drawn_rows_are_spread_over_the_matrix) {
    const TestMatrix<std::uint8_t> a(Type::boolean, 1000, 1), b(Type::boolean, 1, 1);
    int found = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        TestMatrix<std::uint8_t> c(Type::boolean, 1000, 1);
        c(static_cast<std::int64_t>(seed * 13 % 1000), 0) = 1;
        VerifyOptions options = seeded(seed);
        options.sampled_rows = 500;
        found += verify(a, b, c, options).passed() ? 0 : 1;
    }
    EXPECT_NEAR(found, 200, 50);  // five deviations
}

TEST(VerifyBool, c0_is_joined_where_beta_is_not_zero) {
    std::mt19937_64 random(12);
    const auto a = random_words<std::uint8_t>(Type::boolean, 8, 2, random, 1);
    const auto b = random_words<std::uint8_t>(Type::boolean, 2, 70, random, 1);
    const auto c0 = random_words<std::uint8_t>(Type::boolean, 8, 70, random, 1);
    VerifyOptions options = seeded(13);
    options.beta = 1;
    options.c0 = c0;
    EXPECT_TRUE(verify(a, b, naive_bits(a, b, &c0), options).passed());
    EXPECT_FALSE(verify(a, b, naive_bits(a, b), options).passed());
}

TEST(Verify, same_seed_gives_the_same_result_for_any_number_of_threads) {
    std::mt19937_64 random(14);
    const auto a = random_words<std::uint32_t>(Type::i32, 50, 50, random, ~0U);
    const auto b = random_words<std::uint32_t>(Type::i32, 50, 50, random, ~0U);
    auto c = naive_integers(a, b);
    c(7, 8) += 1U << 31;
    VerifyOptions options = seeded(15);
    options.threads = 1;
    const double one = verify(a, b, c, options).residual;
    options.threads = 4;
    EXPECT_EQ(verify(a, b, c, options).residual, one);
    EXPECT_EQ(verify(a, b, c, options).seed, 15U);
}

TEST(Verify, empty_products_are_zero) {
    for (const Type type : {Type::i32, Type::gf2, Type::boolean, Type::f32, Type::f64}) {
        const ConstView a(nullptr, type, 3, 0, 0, 1), b(nullptr, type, 0, 4, 4, 1);
        std::vector<double> zeros(12);
        const ConstView c(zeros.data(), type, 3, 4, 4, 1);
        EXPECT_TRUE(verify(a, b, c, seeded(1)).passed()) << type_name(type);
        zeros.assign(12, type == Type::f64 || type == Type::f32 ? 1.5 : 0);
        std::fill_n(reinterpret_cast<std::uint8_t*>(zeros.data()), type == Type::f64 || type == Type::f32 ? 0 : 4, 1);
        EXPECT_FALSE(verify(a, b, c, seeded(1)).passed()) << type_name(type);
        const ConstView none(nullptr, type, 0, 0, 0, 1);
        EXPECT_TRUE(verify(none, none, none, seeded(1)).passed());
    }
}

TEST(Verify, alpha_zero_does_not_read_a_and_b) {
    const ConstView a(nullptr, Type::i32, 2, 2, 2, 1);
    const std::vector<std::int32_t> zeros(4);
    VerifyOptions options = seeded(1);
    options.alpha = 0;
    EXPECT_TRUE(verify(a, a, ConstView(zeros.data(), Type::i32, 2, 2, 2, 1), options).passed());
}

TEST(Verify, arguments_that_do_not_match_or_cannot_be_meant_are_refused) {
    std::mt19937_64 random(16);
    const auto square = random_words<std::uint32_t>(Type::i32, 4, 4, random, ~0U);
    const auto wide = random_words<std::uint32_t>(Type::i32, 4, 5, random, ~0U);
    const auto floats = random_floats<float>(Type::f32, 4, 4, random);
    const auto code = [](const ConstView& a, const ConstView& b, const ConstView& c, const VerifyOptions& options) {
        try {
            verify(a, b, c, options);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    };
    EXPECT_EQ(code(wide, square, square, {}), ErrorCode::input);
    EXPECT_EQ(code(square, square, wide, {}), ErrorCode::input);
    EXPECT_EQ(code(square, floats, square, {}), ErrorCode::input);
    VerifyOptions options;
    options.beta = 1;
    EXPECT_EQ(code(square, square, square, options), ErrorCode::usage);
    options.c0 = wide;
    EXPECT_EQ(code(square, square, square, options), ErrorCode::input);
    options = {};
    options.alpha = 0.5;
    EXPECT_EQ(code(square, square, square, options), ErrorCode::usage);
    options.alpha = std::nan("");
    EXPECT_EQ(code(floats, floats, floats, options), ErrorCode::usage);
    options = {};
    options.by.planned_growth = std::nan("");
    EXPECT_EQ(code(floats, floats, floats, options), ErrorCode::usage);
    options = {};
    options.rounds = 0;
    EXPECT_EQ(code(floats, floats, floats, options), ErrorCode::usage);
    options = {};
    options.cancel.cancel();
    EXPECT_EQ(code(square, square, square, options), ErrorCode::cancelled);
}

}  // namespace
}  // namespace heptad
