// Floats: products by plain loops pass; an entry that is off by more than rounding may do fails; NaN never slips
// through.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "check/naive_product.hpp"
#include "check/verify.hpp"

namespace heptad {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

VerifyOptions seeded(std::uint64_t seed) {
    VerifyOptions options;
    options.seed = seed;
    return options;
}

/// Products of one type by plain loops, with data of both signs and of one, pass; with an entry moved by `shift` times
/// the typical size of an entry they fail, and the place is named.
template <class T, class Sum>
void right_passes_and_shifted_fails(Type type, double shift) {
    std::mt19937_64 random(17);
    for (const double low : {-1.0, 0.0}) {
        for (const bool by_columns : {false, true}) {
            for (const std::int64_t size : {1, 5, 40, 130}) {
                const auto a = random_floats<T>(type, size, size + 3, random, low, by_columns);
                const auto b = random_floats<T>(type, size + 3, size + 1, random, low, by_columns);
                auto c = naive_floats<Sum>(a, b);
                const VerifyResult right = verify(a, b, c, seeded(random()));
                EXPECT_TRUE(right.passed()) << type_name(type) << " " << size << ": " << right.explanation;
                EXPECT_LE(right.residual, 1);
                EXPECT_GT(right.detectable_error, 0);
                for (int repeat = 0; repeat < 10; ++repeat) {
                    const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(c.rows));
                    const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(c.cols));
                    const T before = c(i, j);
                    const double by =
                        std::max(shift * std::sqrt(static_cast<double>(size)), 2.5 * right.detectable_error);
                    assign(c(i, j), value(before) + (repeat % 2 == 0 ? by : -by));
                    const VerifyResult wrong = verify(a, b, c, seeded(random()));
                    EXPECT_EQ(wrong.verdict, Verdict::failed) << type_name(type) << " " << size << " by " << by;
                    EXPECT_EQ(wrong.bad_row, i);
                    EXPECT_EQ(wrong.bad_col, j);
                    EXPECT_GT(wrong.residual, 1);
                    c(i, j) = before;
                }
            }
        }
    }
}

TEST(VerifyFloat, f64_right_products_pass_and_an_entry_off_by_1e_11_fails) {
    right_passes_and_shifted_fails<double, double>(Type::f64, 1e-11);
}
TEST(VerifyFloat, f32_right_products_pass_and_an_entry_off_by_1_percent_fails) {
    right_passes_and_shifted_fails<float, float>(Type::f32, 1e-2);
}
TEST(VerifyFloat, tf32_right_products_pass_and_a_wrong_entry_fails) {
    right_passes_and_shifted_fails<float, float>(Type::tf32, 1);
}
TEST(VerifyFloat, f16_right_products_pass_and_a_wrong_entry_fails) {
    right_passes_and_shifted_fails<f16, float>(Type::f16, 1);
}
TEST(VerifyFloat, bf16_right_products_pass_and_a_wrong_entry_fails) {
    right_passes_and_shifted_fails<bf16, float>(Type::bf16, 8);
}

TEST(VerifyFloat, f64_is_checked_in_more_than_double_precision) {
    // 1 + eps - 1: a residual computed in plain double could not tell this product from its rounding.
    std::mt19937_64 random(18);
    const auto a = random_floats<double>(Type::f64, 60, 60, random);
    const auto b = random_floats<double>(Type::f64, 60, 60, random);
    auto c = naive_floats<double>(a, b);
    VerifyOptions options = seeded(1);
    const double detectable = verify(a, b, c, options).detectable_error;
    EXPECT_LT(detectable, 1e-12);
    c(3, 4) += 1.1 * detectable;
    EXPECT_FALSE(verify(a, b, c, options).passed());
}

TEST(VerifyFloat, one_sided_rounding_of_constant_data_passes) {
    TestMatrix<float> a(Type::f32, 40, 3000), b(Type::f32, 3000, 40);
    std::fill(a.data.begin(), a.data.end(), 0.1F);
    std::fill(b.data.begin(), b.data.end(), 0.3F);
    const VerifyResult result = verify(a, b, naive_floats<float>(a, b), seeded(3));
    EXPECT_TRUE(result.passed()) << result.explanation;
}

TEST(VerifyFloat, swapped_blocks_a_missing_term_and_a_stale_row_fail) {
    std::mt19937_64 random(19);
    const auto a = random_floats<float>(Type::f32, 64, 64, random);
    const auto b = random_floats<float>(Type::f32, 64, 64, random);
    const auto c = naive_floats<float>(a, b);
    auto swapped = c;
    for (std::int64_t i = 0; i < 32; ++i) {
        for (std::int64_t j = 0; j < 32; ++j) {
            std::swap(swapped(i, j + 32), swapped(i + 32, j));
        }
    }
    EXPECT_FALSE(verify(a, b, swapped, seeded(1)).passed());
    auto shorter = a;
    for (std::int64_t i = 0; i < 64; ++i) {
        shorter(i, 63) = 0;
    }
    EXPECT_FALSE(verify(a, b, naive_floats<float>(shorter, b), seeded(1)).passed());
    auto stale = c;
    for (std::int64_t j = 0; j < 64; ++j) {
        stale(50, j) = stale(49, j);
    }
    EXPECT_EQ(verify(a, b, stale, seeded(1)).bad_row, 50);
    TestMatrix<float> zero(Type::f32, 64, 64);
    EXPECT_FALSE(verify(a, b, zero, seeded(1)).passed());
}

TEST(VerifyFloat, two_errors_that_cancel_in_plain_sums_are_found) {
    std::mt19937_64 random(20);
    const auto a = random_floats<float>(Type::f32, 30, 50, random);
    const auto b = random_floats<float>(Type::f32, 50, 60, random);
    for (int repeat = 0; repeat < 100; ++repeat) {
        auto c = naive_floats<float>(a, b);
        const auto i = static_cast<std::int64_t>(random() % 30);
        const auto j = static_cast<std::int64_t>(random() % 59);
        c(i, j) += 1;
        c(i, j + 1) -= 1;
        EXPECT_FALSE(verify(a, b, c, seeded(random())).passed());
    }
}

TEST(VerifyFloat, zero_inputs_have_no_rounding_and_any_entry_fails) {
    const TestMatrix<float> a(Type::f32, 9, 9), b(Type::f32, 9, 9);
    TestMatrix<float> c(Type::f32, 9, 9);
    EXPECT_TRUE(verify(a, b, c, seeded(1)).passed());
    c(8, 8) = 1e-30F;
    EXPECT_FALSE(verify(a, b, c, seeded(1)).passed());
}

TEST(VerifyFloat, alpha_beta_and_c0_are_part_of_the_product) {
    std::mt19937_64 random(21);
    const auto a = random_floats<double>(Type::f64, 20, 30, random);
    const auto b = random_floats<double>(Type::f64, 30, 25, random);
    const auto c0 = random_floats<double>(Type::f64, 20, 25, random);
    VerifyOptions options = seeded(22);
    options.alpha = -0.7;
    options.beta = 2.3;
    options.c0 = c0;
    auto c = naive_floats<double>(a, b, -0.7, 2.3, &c0);
    EXPECT_TRUE(verify(a, b, c, options).passed());
    options.beta = 2.30001;
    EXPECT_FALSE(verify(a, b, c, options).passed());
}

TEST(VerifyFloat, very_large_and_very_small_numbers_pass_without_overflow_on_the_way) {
    std::mt19937_64 random(23);
    for (const double scale : {1e150, 1e-150, 1e-161}) {  // the last: products are subnormal
        auto a = random_floats<double>(Type::f64, 20, 20, random);
        auto b = random_floats<double>(Type::f64, 20, 20, random);
        for (auto* const x : {&a, &b}) {
            for (double& entry : x->data) {
                entry *= scale;
            }
        }
        auto c = naive_floats<double>(a, b);
        EXPECT_TRUE(verify(a, b, c, seeded(1)).passed()) << scale;
        c(2, 3) += c(2, 3) * 0.1 + 100 * scale * scale;
        EXPECT_FALSE(verify(a, b, c, seeded(1)).passed()) << scale;
    }
}

/// Squares of what small entries depend on underflow beside those of large ones.
TEST(VerifyFloat, entries_of_all_sizes_that_a_double_has_pass_and_a_small_wrong_one_fails) {
    constexpr std::int64_t m = 90, k = 120, n = 80;
    std::mt19937_64 random(8);
    auto a = random_floats<double>(Type::f64, m, k, random, -1.0, false);
    auto b = random_floats<double>(Type::f64, k, n, random, -1.0, false);
    const auto size = [](std::int64_t line, std::int64_t lines) {
        return std::exp2(-450.0 * static_cast<double>(line) / static_cast<double>(lines));
    };
    for (std::int64_t p = 0; p < k; ++p) {
        for (std::int64_t i = 0; i < m; ++i) {
            a(i, p) *= size(i, m);
        }
        for (std::int64_t j = 0; j < n; ++j) {
            b(p, j) *= size(j, n);
        }
    }
    auto c = naive_floats<double>(a, b);
    EXPECT_TRUE(verify(a, b, c, seeded(1)).passed()) << verify(a, b, c, seeded(1)).explanation;
    c(m - 1, n - 1) *= 1.0001;
    const VerifyResult wrong = verify(a, b, c, seeded(1));
    EXPECT_EQ(wrong.verdict, Verdict::failed);
    EXPECT_EQ(wrong.bad_row, m - 1);
}

TEST(VerifyFloat, growth_of_the_accuracy_or_of_the_plan_decides_what_is_allowed) {
    std::mt19937_64 random(24);
    const auto a = random_floats<float>(Type::f32, 30, 30, random);
    const auto b = random_floats<float>(Type::f32, 30, 30, random);
    auto c = naive_floats<float>(a, b);
    c(4, 5) += 1e-5F;  // about 30 times what is expected of a classical product
    VerifyOptions options = seeded(1);
    EXPECT_TRUE(verify(a, b, c, options).passed());
    options.by.planned_growth = 1;
    EXPECT_FALSE(verify(a, b, c, options).passed());
    options.by.planned_growth = 4;  // what `balanced` allows is not less
    EXPECT_TRUE(verify(a, b, c, options).passed());
    options.by = {Accuracy::strict, 0};
    EXPECT_FALSE(verify(a, b, c, options).passed());
    options.by = {Accuracy::fast, 0};
    c(4, 5) += 1e-4F;
    EXPECT_TRUE(verify(a, b, c, options).passed());
    options.by.planned_growth = 1e9;  // no growth excuses an entry that is plainly wrong
    c(4, 5) += 100;
    EXPECT_FALSE(verify(a, b, c, options).passed());
    options.by.planned_growth = 0.5;
    EXPECT_THROW(verify(a, b, c, options), Error);
}

TEST(VerifyFloat, nan_or_infinity_in_c_fails_for_finite_a_and_b) {
    std::mt19937_64 random(25);
    const auto a = random_floats<float>(Type::f32, 20, 20, random);
    const auto b = random_floats<float>(Type::f32, 20, 20, random);
    for (const double bad : {kNan, kInf, -kInf}) {
        auto c = naive_floats<float>(a, b);
        assign(c(11, 12), bad);
        const VerifyResult result = verify(a, b, c, seeded(1));
        EXPECT_EQ(result.verdict, Verdict::failed) << bad;
        EXPECT_EQ(result.bad_row, 11);
        EXPECT_EQ(result.bad_col, 12);
        EXPECT_FALSE(result.explanation.empty());
        std::fill(c.data.begin(), c.data.end(), static_cast<float>(bad));
        EXPECT_EQ(verify(a, b, c, seeded(1)).verdict, Verdict::failed);
    }
}

TEST(VerifyFloat, non_finite_inputs_make_the_entries_that_the_classical_product_makes) {
    std::mt19937_64 random(26);
    for (const double bad : {kNan, kInf, -kInf}) {
        for (int where = 0; where < 3; ++where) {
            auto a = random_floats<float>(Type::f32, 25, 20, random);
            auto b = random_floats<float>(Type::f32, 20, 22, random);
            auto c0 = random_floats<float>(Type::f32, 25, 22, random);
            assign(where == 0 ? a(7, 3) : where == 1 ? b(3, 9) : c0(7, 9), bad);
            VerifyOptions options = seeded(random());
            options.beta = 1;
            options.c0 = c0;
            const auto c = naive_floats<float>(a, b, 1, 1, &c0);
            const VerifyResult right = verify(a, b, c, options);
            EXPECT_TRUE(right.passed()) << bad << " in " << where << ": " << right.explanation;

            auto lost = c;  // the bad entry did not arrive
            lost(7, 9) = 1;
            EXPECT_EQ(verify(a, b, lost, options).verdict, Verdict::failed);
            auto spread = c;  // it arrived where it should not
            assign(spread(8, 10), kNan);
            EXPECT_EQ(verify(a, b, spread, options).verdict, Verdict::failed);
            auto other = c;  // another kind arrived
            assign(other(7, 9), std::isnan(value(c(7, 9))) ? kInf : kNan);
            EXPECT_EQ(verify(a, b, other, options).verdict, Verdict::failed);
            auto wrong = c;  // and the finite rest is still checked, in the same row and elsewhere
            wrong(20, 2) += 1;
            EXPECT_EQ(verify(a, b, wrong, options).verdict, Verdict::failed);
            if (where != 0) {
                wrong = c;
                wrong(7, 2) += 1;
                EXPECT_EQ(verify(a, b, wrong, options).verdict, Verdict::failed);
            }
        }
    }
}

TEST(VerifyFloat, the_kind_of_every_entry_is_looked_at_however_many_rows_hold_infinities) {
    std::mt19937_64 random(28);
    for (const double bad : {kInf, -kInf, kNan}) {
        for (const bool in_b : {false, true}) {
            auto a = random_floats<float>(Type::f32, 300, 40, random);
            auto b = random_floats<float>(Type::f32, 40, 50, random);
            for (std::int64_t i = 0; i < (in_b ? 50 : 300); i += 2) {
                assign(in_b ? b(i % 40, i) : a(i, i % 40), bad);
            }
            const auto c = naive_floats<float>(a, b);
            const VerifyResult right = verify(a, b, c, seeded(random()));
            EXPECT_TRUE(right.passed()) << bad << ": " << right.explanation;
            for (int time = 0; time < 20; ++time) {
                const auto i = static_cast<std::int64_t>(2 * (random() % 150)),
                           j = static_cast<std::int64_t>(2 * (random() % 25));
                auto other = c;
                assign(other(i, j), std::isnan(value(c(i, j))) ? kInf : time % 2 == 0 ? kNan : -value(c(i, j)));
                const VerifyResult result = verify(a, b, other, seeded(random()));
                EXPECT_EQ(result.verdict, Verdict::failed) << bad << " at " << i << ", " << j;
                EXPECT_EQ(result.bad_row, i);
                EXPECT_EQ(result.bad_col, j);
            }
        }
    }
}

TEST(VerifyFloat, true_overflow_to_infinity_passes_and_a_wrong_sign_does_not) {
    TestMatrix<f16> a(Type::f16, 3, 4), b(Type::f16, 4, 3);
    for (f16& x : a.data) {
        x = to_f16(300);
    }
    for (f16& x : b.data) {
        x = to_f16(200);
    }
    auto c = naive_floats<float>(a, b);
    ASSERT_TRUE(std::isinf(value(c(0, 0))));
    EXPECT_TRUE(verify(a, b, c, seeded(1)).passed());
    c(1, 1) = to_f16(-std::numeric_limits<float>::infinity());
    EXPECT_FALSE(verify(a, b, c, seeded(1)).passed());
}

}  // namespace
}  // namespace heptad
