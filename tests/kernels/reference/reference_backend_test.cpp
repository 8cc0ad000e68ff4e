// The reference backend against results worked out by hand: everything else is compared with it.
#include "kernels/reference/reference_backend.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/types.hpp"
#include "kernels/guarded_matrix.hpp"

namespace heptad {
namespace {

using test::all_layouts;
using test::GuardedMatrix;
using test::Layout;

constexpr Type all_types[] = {Type::f64, Type::f32, Type::tf32, Type::bf16,   Type::f16,
                              Type::i32, Type::i64, Type::gf2,  Type::boolean};
constexpr Type ring_types[] = {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16, Type::i32, Type::i64};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

GuardedMatrix matrix(Type type, std::int64_t rows, std::int64_t cols, std::vector<double> entries,
                     Layout layout = Layout::rows) {
    GuardedMatrix m(type, rows, cols, layout);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            m.set(i, j, entries[static_cast<std::size_t>(i * cols + j)]);
        }
    }
    return m;
}

void multiply(double alpha, const GuardedMatrix& a, const GuardedMatrix& b, double beta, GuardedMatrix& c) {
    const Product product{alpha, a.view(), b.view(), beta, c.view()};
    ReferenceBackend().multiply({&product, 1}, "");
}

TEST(reference_multiply, two_by_three_times_three_by_two_in_every_ring_type_and_layout) {
    for (const Type type : ring_types) {
        for (const Layout layout : all_layouts) {
            const GuardedMatrix a = matrix(type, 2, 3, {1, 2, 3, 4, 5, 6}, layout);
            const GuardedMatrix b = matrix(type, 3, 2, {7, 8, 9, 10, 11, 12}, layout);
            GuardedMatrix c = matrix(type, 2, 2, {1, 1, 1, 1}, layout);
            multiply(2, a, b, -3, c);
            EXPECT_TRUE(c.equals(matrix(type, 2, 2, {113, 125, 275, 305}, layout))) << type_name(type);
        }
    }
}

/// P0's mulStoreInc, mulStoreDec and mulIncDec are such products with one term on each side.
TEST(reference_multiply_fused, one_product_is_stored_added_and_subtracted_at_once) {
    for (const Type type : ring_types) {
        for (const Layout layout : all_layouts) {
            const GuardedMatrix a = matrix(type, 2, 2, {1, 2, 3, 4}, layout),
                                b = matrix(type, 2, 2, {5, 6, 7, 8}, layout);
            GuardedMatrix stored = matrix(type, 2, 2, {9, 9, 9, 9}, layout);
            GuardedMatrix added = matrix(type, 2, 2, {1, 1, 1, 1}, layout);
            GuardedMatrix subtracted = matrix(type, 2, 2, {10, 20, 30, 40}, layout);
            if (!is_integer(type)) {
                stored.fill(nan);  // not read
            }
            const FusedProduct product{2,
                                       2,
                                       2,
                                       {{a.view(), 1}},
                                       {{b.view(), 1}},
                                       {{stored.view(), 1, 0}, {added.view(), 1, 1}, {subtracted.view(), -1, 2}}};
            ReferenceBackend().multiply_fused({&product, 1}, FusedOrder::serial, FusedTile::automatic);
            EXPECT_TRUE(stored.equals(matrix(type, 2, 2, {19, 22, 43, 50}, layout))) << type_name(type);
            EXPECT_TRUE(added.equals(matrix(type, 2, 2, {20, 23, 44, 51}, layout))) << type_name(type);
            EXPECT_TRUE(subtracted.equals(matrix(type, 2, 2, {1, 18, 17, 30}, layout))) << type_name(type);
        }
    }
}

/// P0's mulAdd, mulSubInc and mulIncIncInc, by the definitions of its section IV; U*V is (19 22; 43 50).
TEST(reference_multiply_fused, targets_may_read_other_blocks) {
    for (const Type type : ring_types) {
        for (const Layout layout : all_layouts) {
            const auto block = [&](std::vector<double> entries) { return matrix(type, 2, 2, entries, layout); };
            const GuardedMatrix u = block({1, 2, 3, 4}), v = block({5, 6, 7, 8}), x = block({10, 20, 30, 40});
            const auto multiply_into = [&](std::vector<FusedTarget> targets) {
                const FusedProduct product{2, 2, 2, {{u.view(), 1}}, {{v.view(), 1}}, std::move(targets)};
                ReferenceBackend().multiply_fused({&product, 1}, FusedOrder::serial, FusedTile::automatic);
            };
            GuardedMatrix w = block({9, 9, 9, 9});
            multiply_into({{w.view(), 1, 0, x.view(), 1}});  // mulAdd: W = X + U*V
            EXPECT_TRUE(w.equals(block({29, 42, 73, 90}))) << type_name(type);

            GuardedMatrix s = block({9, 9, 9, 9}), t = block({1, 2, 3, 4});
            multiply_into({{s.view(), -1, 0, x.view(), 1}, {t.view(), 0, 1, x.view(), 1}});  // S = X - U*V; T += X
            EXPECT_TRUE(s.equals(block({-9, -2, -13, -10}))) << type_name(type);
            EXPECT_TRUE(t.equals(block({11, 22, 33, 44}))) << type_name(type);

            GuardedMatrix y = block({5, 6, 7, 8}), z = block({1, 2, 3, 4});
            multiply_into({{w.view(), 1, 0},  // W = U*V; Y += W; Z += Y; Y += X
                           {z.view(), 1, 1, ConstView(y.view()), 1},
                           {y.view(), 1, 1, x.view(), 1}});
            EXPECT_TRUE(w.equals(block({19, 22, 43, 50}))) << type_name(type);
            EXPECT_TRUE(z.equals(block({25, 30, 53, 62}))) << type_name(type);
            EXPECT_TRUE(y.equals(block({34, 48, 80, 98}))) << type_name(type);
        }
    }
}

TEST(reference_multiply_fused, a_target_without_the_product_does_not_see_it) {
    const GuardedMatrix infinite = matrix(Type::f32, 1, 1, {infinity}), one = matrix(Type::f32, 1, 1, {1});
    GuardedMatrix target = matrix(Type::f32, 1, 1, {7});
    const FusedProduct product{
        1, 1, 1, {{infinite.view(), 1}}, {{one.view(), 1}}, {{target.view(), 0, 2, one.view(), -3}}};
    ReferenceBackend().multiply_fused({&product, 1}, FusedOrder::serial, FusedTile::automatic);
    EXPECT_TRUE(target.equals(matrix(Type::f32, 1, 1, {11})));
}

TEST(reference_multiply_fused, sums_of_blocks_of_different_sizes_count_what_is_missing_as_zero) {
    const GuardedMatrix x = matrix(Type::f32, 2, 2, {1, 2, 3, 4}), y = matrix(Type::f32, 1, 2, {10, 20});
    const GuardedMatrix v = matrix(Type::f32, 2, 2, {1, 0, 0, 1}), w = matrix(Type::f32, 2, 1, {1, 1});
    GuardedMatrix whole = matrix(Type::f32, 2, 2, {0, 0, 0, 0}), corner = matrix(Type::f32, 1, 1, {100});
    const FusedProduct product{2,
                               2,
                               2,
                               {{x.view(), 1}, {y.view(), -1}},
                               {{v.view(), 1}, {w.view(), 2}},
                               {{whole.view(), 1, 1}, {corner.view(), -1, 1}}};
    ReferenceBackend().multiply_fused({&product, 1}, FusedOrder::serial, FusedTile::automatic);
    // (1-10 2-20; 3 4) (1+2 0; 2 1) = (-27-36 -18; 9+8 4)
    EXPECT_TRUE(whole.equals(matrix(Type::f32, 2, 2, {-63, -18, 17, 4})));
    EXPECT_TRUE(corner.equals(matrix(Type::f32, 1, 1, {163})));
}

TEST(reference_multiply, gf2_adds_by_xor_and_takes_scalars_mod_2) {
    const GuardedMatrix a = matrix(Type::gf2, 2, 3, {1, 1, 0, 1, 1, 1});
    const GuardedMatrix b = matrix(Type::gf2, 3, 1, {1, 1, 1});
    GuardedMatrix c = matrix(Type::gf2, 2, 1, {1, 1});
    multiply(-1, a, b, 3, c);
    EXPECT_TRUE(c.equals(matrix(Type::gf2, 2, 1, {1, 0})));
    multiply(1, a, b, 2, c);
    EXPECT_TRUE(c.equals(matrix(Type::gf2, 2, 1, {0, 1})));
}

TEST(reference_multiply, boolean_adds_by_or) {
    const GuardedMatrix a = matrix(Type::boolean, 2, 3, {1, 1, 0, 0, 0, 1});
    const GuardedMatrix b = matrix(Type::boolean, 3, 2, {1, 0, 1, 0, 0, 0});
    GuardedMatrix c = matrix(Type::boolean, 2, 2, {0, 0, 0, 1});
    multiply(1, a, b, 1, c);
    EXPECT_TRUE(c.equals(matrix(Type::boolean, 2, 2, {1, 0, 0, 1})));
}

TEST(reference_multiply, i32_wraps) {
    const GuardedMatrix a = matrix(Type::i32, 1, 1, {65536}), b = matrix(Type::i32, 1, 1, {65537});
    GuardedMatrix c = matrix(Type::i32, 1, 1, {5});
    multiply(1, a, b, -1, c);
    EXPECT_EQ(c.get(0, 0), 65531);
    multiply(4294967297.0, a, b, 0, c);
    EXPECT_EQ(c.get(0, 0), 65536);
}

TEST(reference_multiply, tf32_rounds_the_factors_and_f32_does_not) {
    const double x = 1 + 0x1p-12;
    for (const Type type : {Type::f32, Type::tf32}) {
        const GuardedMatrix a = matrix(type, 1, 1, {x}), b = matrix(type, 1, 1, {1});
        GuardedMatrix c = matrix(type, 1, 1, {0});
        multiply(1, a, b, 0, c);
        EXPECT_EQ(c.get(0, 0), type == Type::f32 ? x : 1.0);
    }
}

TEST(reference_multiply, bf16_sums_in_float_and_rounds_once) {
    const GuardedMatrix a = matrix(Type::bf16, 1, 3, {256, 1, 1}), b = matrix(Type::bf16, 3, 1, {1, 1, 1});
    GuardedMatrix c = matrix(Type::bf16, 1, 1, {0});
    multiply(1, a, b, 0, c);
    EXPECT_EQ(c.get(0, 0), 258);  // 256 + 1 would round back to 256 in bf16
}

TEST(reference_multiply, beta_zero_ignores_nan_in_c) {
    for (const Type type : {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16}) {
        const GuardedMatrix a = matrix(type, 1, 2, {1, 2}), b = matrix(type, 2, 1, {3, 4});
        GuardedMatrix c = matrix(type, 1, 1, {nan});
        multiply(1, a, b, 0, c);
        EXPECT_EQ(c.get(0, 0), 11);
    }
}

TEST(reference_multiply, alpha_zero_or_k_zero_does_not_read_a_and_b) {
    for (const Type type : all_types) {
        GuardedMatrix c = matrix(type, 1, 2, {1, 0});
        for (const std::int64_t k : {0, 4}) {
            const Product product{
                k == 0 ? 1.0 : 0.0, {nullptr, type, 1, k, k, 1}, {nullptr, type, k, 2, 2, 1}, 1, c.view()};
            ReferenceBackend().multiply({&product, 1}, "reference");
            EXPECT_TRUE(c.equals(matrix(type, 1, 2, {1, 0})));
        }
    }
}

TEST(reference_multiply, unknown_leaf_is_a_usage_error) {
    try {
        ReferenceBackend().multiply({}, "mkl");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
    }
}

TEST(reference_combine, statements_run_in_order_with_scratch_and_in_place) {
    for (const Type type : ring_types) {
        GuardedMatrix x = matrix(type, 1, 2, {1, 2}), y = matrix(type, 1, 2, {10, 20});
        View scratch = x.view();
        scratch.data = nullptr;
        // t = x + y; x = t - 2x; y = x + t
        ReferenceBackend().combine(
            {{x.view(), y.view(), scratch}, {{2, {{0, 1}, {1, 1}}}, {0, {{2, 1}, {0, -2}}}, {1, {{0, 1}, {2, 1}}}}});
        EXPECT_TRUE(x.equals(matrix(type, 1, 2, {9, 18})));
        EXPECT_TRUE(y.equals(matrix(type, 1, 2, {20, 40})));
    }
}

TEST(reference_combine, equal_views_are_one_value) {
    GuardedMatrix x = matrix(Type::f32, 1, 1, {3}), y = matrix(Type::f32, 1, 1, {0});
    ReferenceBackend().combine({{x.view(), x.view(), y.view()}, {{0, {{0, 2}}}, {2, {{1, 1}}}}});
    EXPECT_EQ(x.get(0, 0), 6);
    EXPECT_EQ(y.get(0, 0), 6);
}

TEST(reference_combine, empty_statement_writes_zero_and_gf2_takes_coefficients_mod_2) {
    GuardedMatrix x = matrix(Type::gf2, 1, 2, {1, 0}), y = matrix(Type::gf2, 1, 2, {1, 1}), z = y;
    ReferenceBackend().combine({{x.view(), y.view(), z.view()}, {{2, {}}, {1, {{0, -3}, {1, 1}, {1, 2}}}}});
    EXPECT_TRUE(z.equals(matrix(Type::gf2, 1, 2, {0, 0})));
    EXPECT_TRUE(y.equals(matrix(Type::gf2, 1, 2, {0, 1})));
}

TEST(reference_scan, nan_beats_infinity_beats_numbers) {
    for (const Type type : {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16}) {
        EXPECT_EQ(ReferenceBackend().scan(matrix(type, 1, 3, {1, -7, 2}).view()).max_abs, 7);
        EXPECT_EQ(ReferenceBackend().scan(matrix(type, 1, 3, {1, -infinity, 2}).view()).max_abs, infinity);
        EXPECT_TRUE(std::isnan(ReferenceBackend().scan(matrix(type, 1, 3, {nan, infinity, 2}).view()).max_abs));
        EXPECT_EQ(ReferenceBackend().scan(matrix(type, 0, 3, {}).view()).max_abs, 0);
    }
    EXPECT_EQ(ReferenceBackend().scan(matrix(Type::i32, 1, 1, {-9}).view()).max_abs, 0);
}

TEST(reference_copy, every_pair_of_layouts_keeps_elements_and_guards) {
    for (const Type type : all_types) {
        for (const Layout from : all_layouts) {
            for (const Layout to : all_layouts) {
                const std::vector<double> entries = {0, 1, 1, 1, 0, 1};
                GuardedMatrix target(type, 3, 2, to);
                ReferenceBackend().copy(matrix(type, 3, 2, entries, from).view(), target.view());
                EXPECT_TRUE(target.equals(matrix(type, 3, 2, entries, to)));
            }
        }
    }
}

}  // namespace
}  // namespace heptad
