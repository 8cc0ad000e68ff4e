// Products by levels of fast algorithms are verified: right ones pass at the growth of their plan, wrong ones do not.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/matrix.hpp"
#include "check/verify.hpp"
#include "plan/predict/error_bound.hpp"
#include "product/memory/product.hpp"

namespace heptad {
namespace {

/// What the rows of A look like.
enum class Rows : std::uint8_t { normal, positive, mixed, uneven };

Matrix filled(Type type, std::int64_t rows, std::int64_t cols, Rows kind, std::uint64_t seed) {
    Matrix matrix(type, rows, cols);
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < rows; ++i) {
        const bool positive = kind == Rows::positive || (kind == Rows::mixed && i % 3 == 0);
        for (std::int64_t j = 0; j < cols; ++j) {
            float x = normal(random);
            x = positive ? std::fabs(x) : kind == Rows::uneven && i % 5 == 0 ? x / 2 : x;
            std::byte* const at = element_pointer(matrix.view(), i, j);
            if (type == Type::f64) {
                *reinterpret_cast<double*>(at) = x;
            } else {
                *reinterpret_cast<float*>(at) = x;
            }
        }
    }
    return matrix;
}

VerifyResult verified(const Matrix& a, const Matrix& b, const Matrix& c, const check::JudgedBy& by) {
    VerifyOptions options;
    options.seed = 7;
    options.rounds = 3;
    options.by = by;
    return verify(a, b, c, options);
}

TEST(VerifyLevels, right_results_of_any_levels_pass_at_the_growth_of_their_plan) {
    for (const Type type : {Type::f32, Type::f64}) {  // the others have no levels on the processor
        for (const Rows kind : {Rows::normal, Rows::positive, Rows::mixed, Rows::uneven}) {
            if (type == Type::f64 && (kind == Rows::positive || kind == Rows::uneven)) {
                continue;  // f32 stands for both
            }
            const Matrix a = filled(type, 200, 330, kind, 1), b = filled(type, 330, 170, Rows::normal, 2);
            for (const char* algorithm :
                 {"strassen", "winograd", "4x4x4-49", "alternative-basis", "3x3x6-40-accurate"}) {
                for (const int levels : {1, 2, 3}) {
                    Options options;
                    options.algorithm = algorithm;
                    options.levels = levels;
                    options.device = "cpu";
                    options.accuracy = Accuracy::fast;
                    Matrix c(type, 200, 170);
                    multiply_in_memory(1, a, b, 0, c.view(), options);
                    const double growth = expected_growth(plan_product(200, 330, 170, type, options, {}).levels);
                    SCOPED_TRACE(testing::Message() << type_name(type) << " rows " << static_cast<int>(kind) << " "
                                                    << algorithm << " " << levels << " growth " << growth);
                    const VerifyResult fast = verified(a, b, c, {Accuracy::fast, growth});
                    EXPECT_TRUE(fast.passed()) << fast.explanation;
                    if (growth <= check::kBalancedGrowth / 2) {  // the rest is for rows that are a little uneven
                        const VerifyResult balanced = verified(a, b, c, {Accuracy::balanced, growth});
                        EXPECT_TRUE(balanced.passed()) << balanced.explanation;
                    }
                }
            }
        }
    }
}

TEST(VerifyLevels, what_the_planner_takes_by_default_passes_and_a_thousandth_too_much_fails) {
    const std::int64_t n = 2048;
    const Matrix a = filled(Type::f32, n, n, Rows::normal, 3), b = filled(Type::f32, n, n, Rows::normal, 4);
    Options options;
    options.device = "cpu";
    for (const int levels : {-1, 0, 2}) {
        options.levels = levels;
        Matrix c(Type::f32, n, n);
        multiply_in_memory(1, a, b, 0, c.view(), options);
        const double growth = expected_growth(plan_product(n, n, n, Type::f32, options, {}).levels);
        const VerifyResult right = verified(a, b, c, {Accuracy::balanced, growth});
        EXPECT_TRUE(right.passed()) << right.explanation;
        EXPECT_LT(right.threshold, 100);
        EXPECT_TRUE(verified(a, b, c, {}).passed());
        for (std::int64_t i = 0; i < n * n; ++i) {
            static_cast<float*>(c.data())[i] *= 1.001F;
        }
        EXPECT_EQ(verified(a, b, c, {Accuracy::balanced, growth}).verdict, Verdict::failed);
        EXPECT_EQ(verified(a, b, c, {}).verdict, Verdict::failed);
    }
}

}  // namespace
}  // namespace heptad
