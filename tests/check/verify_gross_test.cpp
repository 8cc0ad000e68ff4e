// Floats against standard-normal data: results that are grossly wrong fail in every type and at every k, single entries
// are found on even and on graded data, and right results pass however they were summed.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/types.hpp"
#include "check/naive_product.hpp"
#include "check/verify.hpp"

namespace heptad {
namespace {

VerifyOptions judged(Accuracy accuracy, std::uint64_t seed = 1, int rounds = 4) {
    VerifyOptions options;
    options.seed = seed;
    options.by.accuracy = accuracy;
    options.rounds = rounds;
    return options;
}

template <class T>
TestMatrix<T> normal(Type type, std::int64_t rows, std::int64_t cols, std::mt19937_64& random) {
    TestMatrix<T> m(type, rows, cols);
    std::normal_distribution<float> distribution;
    for (T& x : m.data) {
        assign(x, distribution(random));
    }
    return m;
}

template <class T>
TestMatrix<T> times(const TestMatrix<T>& c, double factor) {
    TestMatrix<T> scaled = c;
    for (T& x : scaled.data) {
        assign(x, value(x) * factor);
    }
    return scaled;
}

/// tf32 keeps 11 bits of each factor.
template <class T>
TestMatrix<T> as_multiplied(const TestMatrix<T>& m) {
    TestMatrix<T> rounded = m;
    if (m.type == Type::tf32) {
        for (T& x : rounded.data) {
            int exponent = 0;
            const double part = std::frexp(value(x), &exponent);
            assign(x, std::ldexp(std::nearbyint(std::ldexp(part, 11)), exponent - 11));
        }
    }
    return rounded;
}

constexpr std::int64_t kSizes[] = {1, 2, 9, 64, 500, 4096, 16384, 131072};

/// All of C wrong, in `type` at inner dimension k. `scaled`: a factor that is too far from 1 to be rounding.
template <class T, class Sum>
void gross_errors_fail(Type type, double scaled) {
    std::mt19937_64 random(31);
    for (const std::int64_t k : kSizes) {
        SCOPED_TRACE(testing::Message() << type_name(type) << ", k = " << k);
        const auto a = normal<T>(type, 32, k, random), b = normal<T>(type, k, 32, random);
        const auto c = naive_floats<Sum>(as_multiplied(a), as_multiplied(b));
        const int rounds = k <= 4096 ? 4 : 1;  // all wrong: one is enough
        std::vector<Accuracy> accuracies{Accuracy::balanced};
        if (k <= 4096) {
            accuracies.insert(accuracies.end(), {Accuracy::strict, Accuracy::fast});
        }
        for (const Accuracy accuracy : accuracies) {
            const VerifyResult right = verify(a, b, c, judged(accuracy, 1, rounds));
            EXPECT_TRUE(right.passed()) << right.explanation;
            EXPECT_GT(right.threshold, 0);
            EXPECT_EQ(verify(a, b, times(c, 0), judged(accuracy, 1, rounds)).verdict, Verdict::failed);
            EXPECT_EQ(verify(a, b, times(c, -1), judged(accuracy, 1, rounds)).verdict, Verdict::failed);
        }
        const Verdict too_large = verify(a, b, times(c, scaled), judged(Accuracy::balanced, 1, rounds)).verdict;
        EXPECT_NE(too_large, Verdict::passed);
        EXPECT_TRUE(k > 500 || too_large == Verdict::failed);
        auto row = c;
        for (std::int64_t j = 0; j < 32; ++j) {
            assign(row(17, j), value(c(16, j)));
        }
        const VerifyResult stale = verify(a, b, row, judged(Accuracy::balanced, 1, rounds));
        EXPECT_EQ(stale.verdict, Verdict::failed);
        EXPECT_EQ(stale.bad_row, 17);
    }
}

TEST(VerifyGross, f64_results_that_are_zero_negated_scaled_or_stale_fail) {
    gross_errors_fail<double, double>(Type::f64, 1.001);
}
TEST(VerifyGross, f32_results_that_are_zero_negated_scaled_or_stale_fail) {
    gross_errors_fail<float, float>(Type::f32, 1.001);
}
TEST(VerifyGross, tf32_results_that_are_zero_negated_scaled_or_stale_fail) {
    gross_errors_fail<float, float>(Type::tf32, 1.1);
}
TEST(VerifyGross, f16_results_that_are_zero_negated_scaled_or_stale_fail) {
    gross_errors_fail<f16, float>(Type::f16, 1.1);
}
TEST(VerifyGross, bf16_results_that_are_zero_negated_scaled_or_stale_fail) {
    gross_errors_fail<bf16, float>(Type::bf16, 1.5);
}

TEST(VerifyGross, without_levels_a_hundredth_is_not_taken_for_rounding_in_f16) {
    // Twenty times the unit roundoff: levels may do that to an entry, the classical product does not.
    std::mt19937_64 random(32);
    const auto a = normal<f16>(Type::f16, 32, 1000, random), b = normal<f16>(Type::f16, 1000, 32, random);
    const auto c = naive_floats<float>(a, b);
    EXPECT_TRUE(verify(a, b, c, judged(Accuracy::strict)).passed());
    EXPECT_EQ(verify(a, b, times(c, 1.01), judged(Accuracy::strict)).verdict, Verdict::failed);
    EXPECT_TRUE(verify(a, b, times(c, 1.01), judged(Accuracy::balanced)).passed());
}

/// Powers of two between 2^-most and 2^most on rows or columns.
template <class T>
void grade(TestMatrix<T>& m, bool rows, int most, std::mt19937_64& random) {
    std::uniform_int_distribution<int> power(-most, most);
    for (std::int64_t line = 0; line < (rows ? m.rows : m.cols); ++line) {
        const int e = power(random);
        for (std::int64_t i = 0; i < (rows ? m.cols : m.rows); ++i) {
            T& x = rows ? m(line, i) : m(i, line);
            assign(x, std::ldexp(value(x), e));
        }
    }
}

double norm_of(const ConstView& view, std::int64_t row) {
    double squares = 0;
    for (std::int64_t j = 0; j < view.cols; ++j) {
        const auto* const at = element_pointer(view, row, j);
        const double x =
            view.type == Type::f64 ? *reinterpret_cast<const double*>(at) : double{*reinterpret_cast<const float*>(at)};
        squares += x * x;
    }
    return std::sqrt(squares);
}

/// One entry anywhere that is off by 100 times the error to be expected of it (with the growth of the accuracy) is
/// found, every time, in more rows than are ever recomputed.
template <class T>
void lone_entries_are_found(Type type, int row_powers, int col_powers) {
    std::mt19937_64 random(33);
    const std::int64_t m = 300, k = 200, n = 250;
    auto a = normal<T>(type, m, k, random), b = normal<T>(type, k, n, random);
    grade(a, true, row_powers, random);
    grade(b, false, col_powers, random);
    auto c = naive_floats<T>(a, b);
    for (const Accuracy accuracy : {Accuracy::strict, Accuracy::balanced}) {
        const VerifyResult right = verify(a, b, c, judged(accuracy));
        EXPECT_TRUE(right.passed()) << right.explanation;
        EXPECT_LT(right.threshold, 100);
    }
    for (int repeat = 0; repeat < 10; ++repeat) {
        const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(m));
        const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
        const double expected =
            0.6 * unit_roundoff(type) * norm_of(a.view(), i) * norm_of(transposed(b.view()), j);  // see rounding.hpp
        const T before = c(i, j);
        for (const Accuracy accuracy : {Accuracy::strict, Accuracy::balanced}) {
            const double growth = accuracy == Accuracy::strict ? 1 : check::kBalancedGrowth;
            assign(c(i, j), value(before) + (repeat % 2 == 0 ? 100 : -100) * growth * expected);
            const VerifyResult wrong = verify(a, b, c, judged(accuracy, random()));
            EXPECT_EQ(wrong.verdict, Verdict::failed) << i << ", " << j << ": " << wrong.explanation;
            EXPECT_EQ(wrong.bad_row, i);
            EXPECT_EQ(wrong.bad_col, j);
        }
        c(i, j) = before;
    }
}

TEST(VerifyGross, one_entry_off_by_100_expected_errors_is_found) {
    lone_entries_are_found<float>(Type::f32, 0, 0);
    lone_entries_are_found<double>(Type::f64, 0, 0);
}
TEST(VerifyGross, one_entry_off_by_100_expected_errors_is_found_on_graded_rows) {
    lone_entries_are_found<float>(Type::f32, 18, 0);
    lone_entries_are_found<double>(Type::f64, 60, 0);
}
TEST(VerifyGross, one_entry_off_by_100_expected_errors_is_found_on_graded_columns) {
    lone_entries_are_found<float>(Type::f32, 0, 18);
    lone_entries_are_found<double>(Type::f64, 60, 60);
    lone_entries_are_found<float>(Type::f32, 18, 18);
}

TEST(VerifyGross, errors_relative_to_the_largest_rows_pass_as_fast_only_and_the_sentence_says_so) {
    std::mt19937_64 random(34);
    auto a = normal<float>(Type::f32, 60, 100, random);
    const auto b = normal<float>(Type::f32, 100, 60, random);
    grade(a, true, 10, random);
    auto c = naive_floats<float>(a, b);
    std::normal_distribution<float> noise(0, static_cast<float>(5 * 0x1p-24 * 1024 * 100));
    for (float& x : c.data) {
        x += noise(random);
    }
    EXPECT_TRUE(verify(a, b, c, judged(Accuracy::fast)).passed());
    const VerifyResult balanced = verify(a, b, c, judged(Accuracy::balanced));
    EXPECT_EQ(balanced.verdict, Verdict::failed);
    EXPECT_NE(balanced.explanation.find("--accuracy fast"), std::string::npos) << balanced.explanation;
}

TEST(VerifyGross, a_large_column_of_a_that_meets_a_small_row_of_b_excuses_nothing) {
    std::mt19937_64 random(35);
    auto a = normal<float>(Type::f32, 40, 500, random), b = normal<float>(Type::f32, 500, 40, random);
    for (std::int64_t i = 0; i < 40; ++i) {
        a(i, 7) *= 1e5F;
        b(7, i) *= 1e-5F;
    }
    auto c = naive_floats<float>(a, b);
    EXPECT_TRUE(verify(a, b, c, judged(Accuracy::balanced)).passed());
    c(3, 4) += 0.05F;
    EXPECT_EQ(verify(a, b, c, judged(Accuracy::balanced)).verdict, Verdict::failed);
}

TEST(VerifyGross, constants_that_round_in_one_direction_pass) {
    for (const std::int64_t k : {3000, 30000}) {
        TestMatrix<float> a(Type::f32, 12, k), b(Type::f32, k, 12);
        std::fill(a.data.begin(), a.data.end(), 0.1F);
        std::fill(b.data.begin(), b.data.end(), 0.3F);
        const auto c = naive_floats<float>(a, b);
        const VerifyResult right = verify(a, b, c, judged(Accuracy::strict));
        EXPECT_TRUE(right.passed()) << right.explanation;
        EXPECT_FALSE(verify(a, b, times(c, 1.1), judged(Accuracy::strict)).passed());
    }
}

TEST(VerifyGross, sums_that_grow_large_and_cancel_at_the_end_pass) {
    std::mt19937_64 random(36);
    const std::int64_t k = 20000;
    auto a = random_floats<float>(Type::f32, 20, k, random, 0), b = random_floats<float>(Type::f32, k, 20, random, 0);
    for (std::int64_t i = 0; i < 20; ++i) {
        for (std::int64_t p = k / 2; p < k; ++p) {
            a(i, p) = a(i, p - k / 2);
            b(p, i) = -b(p - k / 2, i);
        }
    }
    const auto c = naive_floats<float>(a, b);
    const VerifyResult right = verify(a, b, c, judged(Accuracy::strict));
    EXPECT_TRUE(right.passed()) << right.explanation;
}

TEST(VerifyGross, what_only_rounding_errors_that_agree_could_explain_is_not_verifiable) {
    std::mt19937_64 random(37);
    const auto a = normal<float>(Type::f32, 16, 16384, random), b = normal<float>(Type::f32, 16384, 16, random);
    const auto c = times(naive_floats<float>(a, b), 1.001);
    const VerifyResult result = verify(a, b, c, judged(Accuracy::balanced));
    EXPECT_EQ(result.verdict, Verdict::not_verifiable) << result.explanation;
    EXPECT_NE(result.explanation.find("agree in sign"), std::string::npos) << result.explanation;
}

}  // namespace
}  // namespace heptad
