// heptad/check.hpp: right results pass, wrong ones are found, and plans say what they promise about errors.
#include <heptad/check.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heptad {
namespace {

using View = MatrixView<std::int32_t>;

TEST(Check, right_product_passes_and_one_wrong_entry_is_found) {
    constexpr std::int64_t m = 30, k = 20, n = 25;
    std::vector<std::int32_t> a(m * k), b(k * n), c(m * n);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<std::int32_t>(i % 7) - 3;
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = static_cast<std::int32_t>(i % 5) - 2;
    }
    const View va = View::row_major(a.data(), m, k), vb = View::row_major(b.data(), k, n),
               vc = View::row_major(c.data(), m, n);
    multiply(va, vb, vc);
    const ProductCheck right = check_product(va, vb, vc);
    EXPECT_TRUE(right.passed);
    EXPECT_GT(right.miss_chance, 0);
    EXPECT_LT(right.miss_chance, 1e-18);
    vc(7, 11) += 1;
    const ProductCheck wrong = check_product(va, vb, vc);
    EXPECT_FALSE(wrong.passed);
    EXPECT_TRUE(wrong.decided);
    EXPECT_EQ(wrong.bad_row, 7);
    EXPECT_FALSE(wrong.explanation.empty());
}

TEST(Check, packed_bits_are_checked_in_their_algebra) {
    const BitMatrix a = BitMatrix::random(60, 70, 1), b = BitMatrix::random(70, 80, 2);
    BitMatrix c = bits::product(Type::gf2, a, b);
    EXPECT_TRUE(check_product(Type::gf2, a, b, c).passed);
    EXPECT_FALSE(check_product(Type::boolean, a, b, c, {.all_rows = true}).passed);
    c.set(5, 6, !c(5, 6));
    EXPECT_FALSE(check_product(Type::gf2, a, b, c).passed);
}

TEST(Check, shapes_that_do_not_match_and_impossible_threads_are_refused) {
    std::vector<std::int32_t> x(12);
    const View a = View::row_major(x.data(), 3, 4);
    EXPECT_THROW(check_product(a, a, a), Error);
    EXPECT_THROW(check_product(a, a.transposed(), View::row_major(x.data(), 3, 3), {.threads = -1}), Error);
}

TEST(Check, plan_tells_its_errors) {
    const ErrorOutlook exact = error_outlook(plan({64, 64, 64}, Type::i32));
    EXPECT_EQ(exact.typical_error, 0);
    EXPECT_EQ(exact.bound, 0);
    EXPECT_EQ(exact.bound_over, "");
    const ErrorOutlook strict = error_outlook(plan({64, 64, 64}, Type::f64, {.accuracy = Accuracy::strict}));
    EXPECT_EQ(strict.expected_growth, 1);
    EXPECT_EQ(strict.bound_over, "(|A||B|)_ij");
    Options two_levels;
    two_levels.algorithm = "winograd";
    two_levels.levels = 2;
    const ErrorOutlook levels = error_outlook(plan({64, 64, 64}, Type::f64, two_levels));
    EXPECT_GT(levels.expected_growth, 1);
    EXPECT_GT(levels.bound, strict.bound);
}

}  // namespace
}  // namespace heptad
