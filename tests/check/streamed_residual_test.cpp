// Sums over rows alone, as products from file to file and on many machines are judged: the same scale as verify().
#include "check/streamed_residual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.hpp"
#include "check/naive_product.hpp"

namespace heptad {
namespace {

using check::JudgedProduct;
using check::RowFacts;
using check::StreamedResidual;

constexpr int kRounds = 8;

/// Judges C = A B by sums in double; a verdict of failed stands for the exception.
template <class T>
VerifyResult judge(const TestMatrix<T>& a, const TestMatrix<T>& b, const TestMatrix<T>& c, check::JudgedBy by = {}) {
    ThreadPool& pool = shared_pool(1);
    const std::vector<RowFacts> columns = check::scan_rows(transposed(b.view()), pool);
    const std::vector<RowFacts> rows = check::scan_rows(a.view(), pool);
    const std::vector<double> weights = check::weights_of(columns);
    const std::vector<RowFacts> results = check::scan_rows(c.view(), pool, weights);
    StreamedResidual judge(JudgedProduct{1, 0, a.cols, c.type, by});
    StreamedResidual::Strip strip;
    strip.a = check::largest(rows);
    StreamedResidual::add_columns(strip, columns, weights);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        strip.most_c_share = std::max(strip.most_c_share, judge.share(strip, rows[i].norm, results[i].norm));
    }
    std::mt19937_64 random(5);
    std::vector<std::vector<double>> x(kRounds), bx(kRounds, std::vector<double>(static_cast<std::size_t>(a.cols)));
    for (std::size_t round = 0; round < kRounds; ++round) {
        for (const double weight : weights) {
            x[round].push_back((random() & 1U) != 0 ? weight : -weight);
        }
        for (std::int64_t p = 0; p < b.rows; ++p) {
            for (std::int64_t j = 0; j < b.cols; ++j) {
                bx[round][static_cast<std::size_t>(p)] += value(b(p, j)) * x[round][static_cast<std::size_t>(j)];
            }
        }
    }
    try {
        for (std::int64_t i = 0; i < c.rows; ++i) {
            std::vector<double> sums(kRounds);
            for (std::size_t round = 0; round < kRounds; ++round) {
                for (std::int64_t j = 0; j < c.cols; ++j) {
                    sums[round] += value(c(i, j)) * x[round][static_cast<std::size_t>(j)];
                }
                for (std::int64_t p = 0; p < a.cols; ++p) {
                    sums[round] -= value(a(i, p)) * bx[round][static_cast<std::size_t>(p)];
                }
            }
            const auto at = static_cast<std::size_t>(i);
            judge.judge(strip, {i, !results[at].non_finite, true, rows[at].norm, results[at].norm, 0}, sums);
        }
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::verification) << error.what();
        VerifyResult failed;
        failed.verdict = Verdict::failed;
        failed.explanation = error.what();
        return failed;
    }
    return judge.result(kRounds, 5);
}

template <class T>
TestMatrix<T> normal(Type type, std::int64_t rows, std::int64_t cols, std::mt19937_64& random, int row_powers = 0,
                     int col_powers = 0) {
    TestMatrix<T> m(type, rows, cols);
    std::normal_distribution<double> distribution;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            const auto power = static_cast<int>((row_powers > 0 ? i * 7 % row_powers - row_powers / 2 : 0) +
                                                (col_powers > 0 ? j * 5 % col_powers - col_powers / 2 : 0));
            assign(m(i, j), std::ldexp(distribution(random), power));
        }
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

template <class T>
void gross_errors_fail(Type type, double scaled) {
    std::mt19937_64 random(41);
    for (const std::int64_t k : {1, 9, 500, 4096, 65536}) {
        SCOPED_TRACE(testing::Message() << type_name(type) << ", k = " << k);
        const auto a = normal<T>(type, 32, k, random), b = normal<T>(type, k, 32, random);
        const auto c = naive_floats<float>(a, b);
        std::vector<Accuracy> accuracies{Accuracy::balanced};
        if (k <= 500) {
            accuracies.insert(accuracies.end(), {Accuracy::strict, Accuracy::fast});
        }
        for (const Accuracy accuracy : accuracies) {
            const VerifyResult right = judge(a, b, c, {accuracy});
            EXPECT_TRUE(right.passed()) << right.explanation;
            EXPECT_GT(right.threshold, 0);
            EXPECT_EQ(judge(a, b, times(c, 0), {accuracy}).verdict, Verdict::failed);
            EXPECT_EQ(judge(a, b, times(c, -1), {accuracy}).verdict, Verdict::failed);
        }
        EXPECT_FALSE(judge(a, b, times(c, scaled), {}).passed());
    }
}

TEST(StreamedResidual, f32_results_that_are_zero_negated_or_scaled_fail) {
    gross_errors_fail<float>(Type::f32, 1.001);
}
TEST(StreamedResidual, tf32_results_that_are_zero_negated_or_scaled_fail) {
    gross_errors_fail<float>(Type::tf32, 1.1);
}
TEST(StreamedResidual, f16_results_that_are_zero_negated_or_scaled_fail) {
    gross_errors_fail<f16>(Type::f16, 1.1);
}
TEST(StreamedResidual, bf16_results_that_are_zero_negated_or_scaled_fail) {
    gross_errors_fail<bf16>(Type::bf16, 1.5);
}

TEST(StreamedResidual, a_lone_entry_is_found_below_the_threshold_on_graded_data_too) {
    std::mt19937_64 random(42);
    for (const int powers : {0, 36}) {
        const auto a = normal<float>(Type::f32, 200, 150, random, powers, 0);
        const auto b = normal<float>(Type::f32, 150, 180, random, 0, powers);
        auto c = naive_floats<float>(a, b);
        const VerifyResult right = judge(a, b, c, {Accuracy::strict});
        ASSERT_TRUE(right.passed()) << right.explanation;
        EXPECT_GT(right.threshold, 100);
        for (int repeat = 0; repeat < 10; ++repeat) {
            const auto i = static_cast<std::int64_t>(random() % 200), j = static_cast<std::int64_t>(random() % 180);
            double a_squares = 0, b_squares = 0;
            for (std::int64_t p = 0; p < 150; ++p) {
                a_squares += value(a(i, p)) * value(a(i, p));
                b_squares += value(b(p, j)) * value(b(p, j));
            }
            const float before = c(i, j);
            const double expected = 0.6 * 0x1p-24 * std::sqrt(a_squares * b_squares);  // see rounding.hpp
            c(i, j) = before + static_cast<float>(100 * expected);
            EXPECT_FALSE(judge(a, b, c, {Accuracy::strict}).passed()) << i << ", " << j;
            c(i, j) = before + static_cast<float>(300 * expected);  // levels could do that, but not to one row
            const VerifyResult alone = judge(a, b, c, {Accuracy::balanced});
            EXPECT_EQ(alone.verdict, Verdict::not_verifiable) << i << ", " << j << ": " << alone.explanation;
            c(i, j) = before + static_cast<float>(1000 * expected);
            EXPECT_FALSE(judge(a, b, c, {Accuracy::balanced}).passed()) << i << ", " << j;
            c(i, j) = before;
        }
    }
}

TEST(StreamedResidual, errors_relative_to_the_largest_rows_pass_as_fast_only_and_the_sentence_says_so) {
    std::mt19937_64 random(43);
    const auto a = normal<float>(Type::f32, 60, 100, random, 20, 0), b = normal<float>(Type::f32, 100, 60, random);
    auto c = naive_floats<float>(a, b);
    std::normal_distribution<float> noise(0, static_cast<float>(2 * 0x1p-24 * 512 * 100));
    for (float& x : c.data) {
        x += noise(random);
    }
    EXPECT_TRUE(judge(a, b, c, {Accuracy::fast}).passed());
    const VerifyResult balanced = judge(a, b, c, {Accuracy::balanced});
    EXPECT_EQ(balanced.verdict, Verdict::failed);
    EXPECT_NE(balanced.explanation.find("--accuracy fast"), std::string::npos) << balanced.explanation;
}

}  // namespace
}  // namespace heptad
