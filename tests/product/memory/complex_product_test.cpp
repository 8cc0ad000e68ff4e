// Complex products by every way against sums in long double: bit for bit on small integers, in every layout and operand
// form; errors on random data; non-finite data; memory.
#include "plan/search/complex_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "check/verify.hpp"
#include "io/machine_file.hpp"
#include "product/memory/complex_cases.hpp"

namespace heptad::test {
namespace {

constexpr ComplexWay kWays[] = {ComplexWay::three_products, ComplexWay::one_product, ComplexWay::in_place,
                                ComplexWay::none};

/// As a plan of this way says, printed and read back; none: as the options are planned.
RunReport multiply_by(ComplexWay way, Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                      const Options& options, const ProductContext& context) {
    if (way == ComplexWay::none) {
        return multiply_in_memory(alpha, a, b, beta, c, options, context);
    }
    Problem problem{a.rows, a.cols, b.cols, c.type, effective_threads(context), options};
    problem.options.accumulate = beta != 0.0;
    const ProductPlan plan = plan_complex_way(problem, load_machine(problem.threads), way);
    EXPECT_EQ(parse_plan(to_string(plan)), plan);
    const RunReport report = multiply_in_memory(alpha, a, b, beta, c, parse_plan(to_string(plan)), context);
    EXPECT_LE(report.workspace_used_bytes, plan.workspace_bytes);
    return report;
}

TEST(complex_product, every_way_form_layout_and_factor_equals_the_definition_bit_for_bit) {
    std::mt19937 random(1);
    const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    const std::complex<double> factors[] = {{1, 0}, {0, 0}, {-2, 0}, {0, 1}, {2, -3}};
    int levels = 0;
    for (int round = 0; round < 1500; ++round) {
        const Type type = pick(1) == 0 ? Type::c64 : Type::c128;
        const std::int64_t m = pick(4) == 0 ? pick(70) : pick(9), k = pick(4) == 0 ? pick(70) : pick(9),
                           n = pick(4) == 0 ? pick(70) : pick(9);
        const bool transpose_a = pick(1) == 0, transpose_b = pick(1) == 0;
        GuardedMatrix a(type, transpose_a ? k : m, transpose_a ? m : k, all_layouts[pick(5)]);
        GuardedMatrix b(type, transpose_b ? n : k, transpose_b ? k : n, all_layouts[pick(5)]);
        GuardedMatrix c(type, m, n, all_layouts[pick(5)]);
        const auto small = [&] { return pick(6) - 3; };
        fill(a, small);
        fill(b, small);
        const std::complex<double> alpha = factors[pick(4)], beta = factors[pick(4)];
        if (beta != 0.0) {
            fill(c, small);  // otherwise C holds NaN, which must not be read
        }
        const ConstView left = meant(a, transpose_a, pick(1) == 0), right = meant(b, transpose_b, pick(1) == 0);
        const GuardedMatrix old_a = a, old_b = b, old_c = c;
        GuardedMatrix wanted = c;
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                const Exact sum = expected(alpha, left, right, beta, old_c.view(), i, j);
                set(wanted.view(), i, j, static_cast<double>(sum.real()) + 0.0, static_cast<double>(sum.imag()) + 0.0);
            }
        }
        Options options;
        options.levels = pick(2) - 1;
        levels += options.levels > 0 ? 1 : 0;
        options.accuracy = pick(3) == 0 ? Accuracy::strict : Accuracy::fast;
        ProductContext context;
        context.threads = 1 + pick(1);
        const ComplexWay way = kWays[pick(3)];
        multiply_by(way, alpha, left, right, beta, c.view(), options, context);
        EXPECT_TRUE(a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b)) << "an operand was written";
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                ASSERT_EQ(get(c.view(), i, j), get(wanted.view(), i, j))
                    << "round " << round << " way " << static_cast<int>(way) << " " << m << "x" << k << "x" << n;
                set(c.view(), i, j, 0, 0);
                set(wanted.view(), i, j, 0, 0);
            }
        }
        ASSERT_TRUE(c.equals_byte_for_byte(wanted)) << "a guard was written";
    }
    EXPECT_GT(levels, 300);
}

TEST(complex_product, errors_stay_within_the_words) {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const Type type : {Type::c64, Type::c128}) {
        const double u = type == Type::c64 ? 0x1p-24 : 0x1p-53;
        GuardedMatrix a(type, 90, 200, Layout::rows), b(type, 200, 70, Layout::columns);
        fill(a, [&] { return uniform(random); });
        fill(b, [&] { return uniform(random); });
        for (const ComplexWay way : kWays) {
            GuardedMatrix c(type, 90, 70, Layout::rows_padded);
            multiply_by(way, 1, a.view(), b.view(), 0, c.view(), {}, {});
            for (std::int64_t i = 0; i < 90; ++i) {
                for (std::int64_t j = 0; j < 70; ++j) {
                    long double row = 0, col = 0;
                    for (std::int64_t p = 0; p < 200; ++p) {
                        row += std::norm(get(a.view(), i, p));
                        col += std::norm(get(b.view(), p, j));
                    }
                    const Exact wanted = expected(1, a.view(), b.view(), 0, c.view(), i, j);
                    ASSERT_LE(std::abs(get(c.view(), i, j) - wanted), 40 * u * std::sqrt(row * col))
                        << static_cast<int>(way);
                }
            }
        }
    }
}

/// The errors of three products add up to those of one part of C: of positive numbers two levels of Strassen's lost 30
/// times what a classical product does, though each of the three kept its digit.
TEST(complex_product, levels_of_three_products_share_the_digit_that_they_may_lose) {
    constexpr std::int64_t n = 1000;
    using Complex = std::complex<float>;
    std::vector<Complex> a(static_cast<std::size_t>(n * n)), b(a.size()), c(a.size());
    const auto view = [](std::vector<Complex>& x) { return MatrixView<Complex>::row_major(x.data(), n, n); };
    Options options;
    options.levels = 2;
    options.algorithm = "strassen";
    for (const float least : {0.0F, -1.0F}) {
        std::mt19937 random(3);
        std::uniform_real_distribution<float> part(least, 1);
        for (std::vector<Complex>* x : {&a, &b}) {
            std::generate(x->begin(), x->end(), [&] {
                const float real = part(random);
                return Complex(real, part(random));
            });
        }
        const RunReport report = multiply_in_memory(1, view(a), view(b), 0, view(c), options, {});
        EXPECT_EQ(report.fell_back, least == 0) << least;
    }
}

TEST(complex_product, strict_keeps_small_imaginary_parts_that_three_products_would_lose) {
    GuardedMatrix a(Type::c128, 1, 1, Layout::rows), b = a, c = a;
    set(a.view(), 0, 0, 1, 1e-20);
    set(b.view(), 0, 0, 1, 1e-20);
    Options strict;
    strict.accuracy = Accuracy::strict;
    multiply_in_memory(1, a.view(), b.view(), 0, c.view(), strict, {});
    EXPECT_EQ(get(c.view(), 0, 0).imag(), 2e-20L + (static_cast<long double>(2e-20) - 2e-20L));
    multiply_by(ComplexWay::three_products, 1, a.view(), b.view(), 0, c.view(), {}, {});
    EXPECT_LT(std::abs(get(c.view(), 0, 0).imag()), 1e-30L) << "it was not made of three products";
}

TEST(complex_product, exact_rounds_each_part_once) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    GuardedMatrix a(Type::c64, 20, 50, Layout::rows), b(Type::c64, 50, 30, Layout::rows);
    fill(a, [&] { return uniform(random); });
    fill(b, [&] { return uniform(random); });
    Options exact;
    exact.accuracy = Accuracy::exact;
    GuardedMatrix c(Type::c64, 20, 30, Layout::columns);
    multiply_in_memory(1, a.view(), b.view(), 0, c.view(), exact, {});
    for (std::int64_t i = 0; i < 20; ++i) {
        for (std::int64_t j = 0; j < 30; ++j) {
            const Exact sum = expected(1, a.view(), b.view(), 0, c.view(), i, j);  // exact in 64 bits, or nearly
            EXPECT_EQ(get(c.view(), i, j), Exact(static_cast<float>(sum.real()), static_cast<float>(sum.imag())));
        }
    }
    EXPECT_THROW(multiply_in_memory({0, 1}, a.view(), b.view(), 0, c.view(), exact, {}), Error);
}

TEST(complex_product, a_nan_or_an_infinity_spreads_as_in_the_four_sums_whatever_way_was_asked_for) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    for (const Type type : {Type::c64, Type::c128}) {
        for (const auto& [real, imaginary] : {std::pair{nan, 1.0}, {1.0, nan}, {inf, 1.0}, {1.0, -inf}}) {
            for (const ComplexWay way : kWays) {
                GuardedMatrix a(type, 12, 10, Layout::rows), b(type, 10, 8, Layout::rows), c(type, 12, 8, Layout::rows);
                fill(a, [] { return 1.0; });
                fill(b, [] { return 2.0; });
                set(a.view(), 5, 3, real, imaginary);
                multiply_by(way, 1, a.view(), b.view(), 0, c.view(), {}, {});
                const double re = real * 2 - imaginary * 2 + 0, im = real * 2 + imaginary * 2;
                for (std::int64_t i = 0; i < 12; ++i) {
                    for (std::int64_t j = 0; j < 8; ++j) {
                        const Exact found = get(c.view(), i, j);
                        if (i != 5) {
                            ASSERT_EQ(found, Exact(0, 40)) << static_cast<int>(way);
                        } else if (std::isnan(re) || std::isnan(im)) {
                            ASSERT_TRUE(std::isnan(found.real()) && std::isnan(found.imag()));
                        } else {
                            ASSERT_EQ(found.real(), re) << static_cast<int>(way);
                            ASSERT_EQ(found.imag(), im) << static_cast<int>(way);
                        }
                    }
                }
            }
        }
    }
}

TEST(complex_product, sums_that_would_overflow_are_not_made) {
    const double large = 0x1.8p127;
    GuardedMatrix a(Type::c64, 3, 1, Layout::rows), b(Type::c64, 1, 3, Layout::rows), c(Type::c64, 3, 3, Layout::rows);
    fill(a, [&] { return large; });
    fill(b, [] { return 0.5; });
    multiply_by(ComplexWay::three_products, 0.25, a.view(), b.view(), 0, c.view(), {}, {});
    EXPECT_EQ(get(c.view(), 1, 1), Exact(0, 0.25L * 0x1.8p127L));
}

TEST(complex_product, no_workspace_is_needed_and_none_beyond_the_limit_is_used) {
    std::mt19937 random(4);
    std::uniform_int_distribution<int> small(-3, 3);
    GuardedMatrix a(Type::c128, 40, 30, Layout::columns), b(Type::c128, 30, 20, Layout::rows);
    fill(a, [&] { return small(random); });
    fill(b, [&] { return small(random); });
    for (const std::int64_t limit : {0, 1000, 20000, 1 << 20}) {
        Options options;
        options.workspace_limit_bytes = limit;
        EXPECT_LE(plan_product(40, 30, 20, Type::c128, options, {}).workspace_bytes, limit);
        GuardedMatrix c(Type::c128, 40, 20, Layout::rows), again = c;
        EXPECT_LE(multiply_in_memory({1, 1}, a.view(), b.view(), 0, c.view(), options).workspace_used_bytes, limit);
        std::vector<std::byte> own(static_cast<std::size_t>(limit) + 1);
        ProductContext context;
        context.workspace = own.data();
        context.workspace_bytes = limit;
        multiply_in_memory({1, 1}, a.view(), b.view(), 0, again.view(), Options{}, context);
        for (std::int64_t i = 0; i < 40; ++i) {
            for (std::int64_t j = 0; j < 20; ++j) {
                const Exact sum = expected({1, 1}, a.view(), b.view(), 0, c.view(), i, j);
                ASSERT_EQ(get(c.view(), i, j), sum);
                ASSERT_EQ(get(again.view(), i, j), sum);
            }
        }
    }
    Options exact;
    exact.accuracy = Accuracy::exact;
    exact.workspace_limit_bytes = 1000;
    EXPECT_THROW(plan_product(40, 30, 20, Type::c128, exact, {}), Error);
}

TEST(complex_product, plans_tell_the_way_workspace_time_and_errors_and_wrong_ones_are_refused) {
    const ProductPlan plan = plan_product(1000, 900, 800, Type::c64, {}, {});
    EXPECT_EQ(plan.type, Type::c64);
    EXPECT_NE(plan.complex, ComplexWay::none);
    EXPECT_GT(plan.workspace_bytes, 0);
    EXPECT_GT(plan.predicted_s, 0);
    EXPECT_GT(plan.error_bound, real_plan(plan).error_bound);
    Options strict;
    strict.accuracy = Accuracy::strict;
    EXPECT_EQ(plan_product(1000, 900, 800, Type::c64, strict, {}).complex, ComplexWay::one_product);
    strict.workspace_limit_bytes = 0;
    EXPECT_EQ(plan_product(1000, 900, 800, Type::c64, strict, {}).complex, ComplexWay::in_place);
    EXPECT_NO_THROW(check_plan(plan));
    const auto expect_refused = [](ProductPlan wrong) { EXPECT_THROW(check_plan(wrong), Error) << to_string(wrong); };
    for (const auto& change : std::initializer_list<void (*)(ProductPlan&)>{
             [](ProductPlan& p) { p.complex = ComplexWay::none; }, [](ProductPlan& p) { p.type = Type::f32; },
             [](ProductPlan& p) { p.workspace_bytes -= 64; }, [](ProductPlan& p) { p.error_bound /= 2; },
             [](ProductPlan& p) { p.overwrite_inputs = true; }}) {
        ProductPlan wrong = plan;
        change(wrong);
        expect_refused(wrong);
    }
    EXPECT_THROW(parse_plan("plan 4x4x4 c64 complex=two-products"), Error);
}

TEST(complex_product, what_cannot_be_is_refused) {
    GuardedMatrix a(Type::c64, 4, 4, Layout::rows), b = a, c = a, real(Type::f32, 4, 4, Layout::rows);
    EXPECT_THROW(multiply_in_memory(1, a.view(), b.view(), 0, a.view(), Options{}, {}), Error);
    EXPECT_THROW(multiply_in_memory(1, a.view(), real.view(), 0, c.view(), Options{}, {}), Error);
    EXPECT_THROW(multiply_in_memory({1, 1}, real.view(), real.view(), 0, GuardedMatrix(real).view(), Options{}, {}),
                 Error);
    EXPECT_THROW(multiply_in_memory(1, block(ConstView(a.view()), 0, 0, 4, 3), b.view(), 0, c.view(), Options{}, {}),
                 Error);
}

TEST(complex_product, verify_passes_what_is_right_and_finds_a_wrong_entry) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const Type type : {Type::c64, Type::c128}) {
        for (const Layout layout : {Layout::rows, Layout::columns, Layout::general}) {
            GuardedMatrix a(type, 40, 60, layout), b(type, 60, 50, layout), c0(type, 40, 50, layout);
            fill(a, [&] { return uniform(random); });
            fill(b, [&] { return uniform(random); });
            fill(c0, [&] { return uniform(random); });
            GuardedMatrix c = c0;
            ConstView left = a.view(), right = b.view();
            left.conjugate = layout != Layout::rows;
            right.conjugate = layout != Layout::columns;
            VerifyOptions options;
            const Factor alpha = layout == Layout::rows ? Factor(-0.5) : Factor(-0.5, 3);
            const Factor beta = layout == Layout::general ? Factor(0, 2) : Factor(2);
            options.set_factors(alpha, beta);
            options.c0 = c0.view();
            multiply_in_memory(alpha, left, right, beta, c.view(), Options{}, {});
            EXPECT_TRUE(verify(left, right, c.view(), options).passed())
                << verify(left, right, c.view(), options).explanation;
            for (const bool imaginary : {false, true}) {
                const Exact was = get(c.view(), 17, 23);
                set(c.view(), 17, 23, static_cast<double>(was.real()) + (imaginary ? 0 : 0.01),
                    static_cast<double>(was.imag()) + (imaginary ? 0.01 : 0));
                const VerifyResult told = verify(left, right, c.view(), options);
                EXPECT_EQ(told.verdict, Verdict::failed);
                EXPECT_EQ(told.bad_row, 17);
                EXPECT_TRUE(told.bad_col == 23 || told.bad_col == -1) << told.bad_col;
                set(c.view(), 17, 23, static_cast<double>(was.real()), static_cast<double>(was.imag()));
            }
            right.conjugate = !right.conjugate;
            EXPECT_FALSE(verify(left, right, c.view(), options).passed());
        }
    }
}

}  // namespace
}  // namespace heptad::test
