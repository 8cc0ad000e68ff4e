// Our own product kernels against the reference, bit for bit on small integers, for every instruction set of the
// machine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "base/half.hpp"
#include "base/types.hpp"
#include "kernels/cpu/cpu_features.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace heptad::cpu {
namespace {

using test::all_layouts;
using test::GuardedMatrix;
using test::Layout;

constexpr Type gemm_types[] = {Type::f32, Type::f64, Type::i32, Type::i64, Type::tf32, Type::bf16, Type::f16};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Case {
    Type type = Type::f32;
    std::int64_t m = 0, k = 0, n = 0;
    double alpha = 1, beta = 0;
    Layout a = Layout::rows, b = Layout::rows, c = Layout::rows;
};

/// Runs the case and compares C, guards included; A and B must stay as they were.
void expect_equals_reference(const Case& test, InstructionSet set, std::mt19937& random) {
    GuardedMatrix a(test.type, test.m, test.k, test.a), b(test.type, test.k, test.n, test.b);
    GuardedMatrix c(test.type, test.m, test.n, test.c);
    a.fill_random(random);
    b.fill_random(random);
    if (test.beta != 0) {
        c.fill_random(random);
    } else if (!is_integer(test.type)) {
        c.fill(nan);
    }
    const GuardedMatrix a_before = a, b_before = b;
    GuardedMatrix expected = c;
    const Product product{test.alpha, a.view(), b.view(), test.beta, c.view()};
    const Product reference{test.alpha, a.view(), b.view(), test.beta, expected.view()};
    ReferenceBackend().multiply({&reference, 1}, "");
    gemm(product, set);
    ASSERT_TRUE(c.equals(expected)) << instruction_set_name(set) << " " << type_name(test.type) << " " << test.m << "x"
                                    << test.k << "x" << test.n << " alpha " << test.alpha << " beta " << test.beta
                                    << " layouts " << static_cast<int>(test.a) << static_cast<int>(test.b)
                                    << static_cast<int>(test.c);
    ASSERT_TRUE(a.equals_byte_for_byte(a_before) && b.equals_byte_for_byte(b_before));
}

class gemm_kernels : public testing::TestWithParam<InstructionSet> {
protected:
    std::mt19937 random_{7};
};

TEST_P(gemm_kernels, all_small_shapes_equal_reference_bit_for_bit) {
    std::vector<std::int64_t> sides;
    for (std::int64_t side = 0; side <= 40; side += side < 18 ? 1 : 2) {
        sides.push_back(side);
    }
    std::size_t turn = 0;
    for (const std::int64_t m : sides) {
        for (const std::int64_t k : sides) {
            for (const std::int64_t n : sides) {
                const Type type = gemm_types[turn++ % std::size(gemm_types)];
                expect_equals_reference({type, m, k, n, turn % 2 == 0 ? 1.0 : -2.0, turn % 5 == 0 ? 0.0 : 3.0},
                                        GetParam(), random_);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

TEST_P(gemm_kernels, shapes_around_the_end_of_products_without_packing_equal_reference_bit_for_bit) {
    constexpr Layout layouts_of_a[] = {Layout::rows, Layout::columns, Layout::general};
    std::size_t turn = 0;
    for (const std::int64_t m : {1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 64, 73}) {
        for (const std::int64_t k : {1, 33, 72, 73}) {
            for (const std::int64_t n : {1, 4, 15, 16, 17, 33, 47, 48, 49, 63, 64, 65, 71, 72, 73}) {
                const Type type = gemm_types[turn++ % std::size(gemm_types)];
                expect_equals_reference(
                    {type, m, k, n, -1, turn % 4 == 0 ? 0.0 : 2.0, layouts_of_a[turn % 5 % 3], Layout::rows_padded},
                    GetParam(), random_);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
    for (const Type type : gemm_types) {
        for (const std::int64_t n : {111, 112, 113, 127, 128, 129}) {
            expect_equals_reference({type, n, n, n, 1, 0}, GetParam(), random_);
            expect_equals_reference({type, 6, n, n - 1, 3, -1}, GetParam(), random_);
        }
    }
}

std::pair<std::int64_t, std::int64_t> tile_of(Type type, InstructionSet set) {
    const KernelTable& table = kernel_table_of(set);
    const auto sides = [](const auto& kernels) {
        return std::pair<std::int64_t, std::int64_t>(kernels.tile_rows, kernels.tile_cols);
    };
    return type == Type::f64   ? sides(table.gemm_f64)
           : type == Type::i32 ? sides(table.gemm_i32)
           : type == Type::i64 ? sides(table.gemm_i64)
                               : sides(table.gemm_f32);
}

TEST_P(gemm_kernels, sizes_around_tiles_and_blocks_equal_reference_bit_for_bit) {
    for (const Type type : gemm_types) {
        const auto [tile_rows, tile_cols] = tile_of(type, GetParam());
        for (const std::int64_t rows : {tile_rows, 5 * tile_rows, 26 * tile_rows}) {
            for (const std::int64_t cols : {tile_cols, 3 * tile_cols}) {
                for (std::int64_t off = -1; off <= 1; ++off) {
                    expect_equals_reference({type, rows + off, 37, cols + off, -1, 2}, GetParam(), random_);
                    expect_equals_reference({type, rows + off, 37, cols - off, 3, 0}, GetParam(), random_);
                }
            }
        }
        for (const std::int64_t depth : {192, 256, 384, 512, 1024}) {
            for (std::int64_t off = -1; off <= 1; ++off) {
                for (const double beta : {0.0, 1.0, -2.0}) {
                    expect_equals_reference({type, 9, depth + off, 17, 2, beta}, GetParam(), random_);
                }
            }
        }
    }
}

TEST_P(gemm_kernels, more_than_one_cache_block_in_every_dimension_equals_reference) {
    for (const Type type : gemm_types) {
        expect_equals_reference({type, 401, 33, 35, 1, 1}, GetParam(), random_);
        expect_equals_reference({type, 5, 9, 4097, 1, 1}, GetParam(), random_);
        expect_equals_reference({type, 5, 9, 4097, 1, 0, Layout::columns, Layout::columns, Layout::columns}, GetParam(),
                                random_);
        expect_equals_reference({type, 361, 521, 35, 1, 0, Layout::rows, Layout::columns}, GetParam(), random_);
        expect_equals_reference({type, 519, 1027, 3, 1, 1, Layout::general, Layout::general, Layout::general},
                                GetParam(), random_);
    }
}

TEST_P(gemm_kernels, every_combination_of_layouts_equals_reference) {
    const Case shapes[] = {{Type::f32, 3, 5, 4},
                           {Type::f32, 19, 13, 23},
                           {Type::f32, 50, 41, 37},
                           {Type::f32, 1, 70, 45},
                           {Type::f32, 60, 33, 1}};
    for (Case test : shapes) {
        for (const Type type : gemm_types) {
            for (const Layout a : all_layouts) {
                for (const Layout b : all_layouts) {
                    for (const Layout c : all_layouts) {
                        test.type = type;
                        test.a = a;
                        test.b = b;
                        test.c = c;
                        test.beta = a == b ? 0 : -1;
                        expect_equals_reference(test, GetParam(), random_);
                        if (HasFatalFailure()) {
                            return;
                        }
                    }
                }
            }
        }
    }
}

TEST_P(gemm_kernels, alpha_and_beta_classes_equal_reference) {
    for (const Type type : gemm_types) {
        for (const double alpha : {0.0, 1.0, -1.0, 2.0}) {
            for (const double beta : {0.0, 1.0, -1.0, 3.0}) {
                for (const std::int64_t side : {0, 6, 45}) {
                    expect_equals_reference({type, 21, side, 30, alpha, beta}, GetParam(), random_);
                    expect_equals_reference(
                        {type, 50, side, 30, alpha, beta, Layout::general, Layout::rows, Layout::general}, GetParam(),
                        random_);
                }
            }
        }
    }
}

TEST_P(gemm_kernels, zero_strides_of_inputs_repeat_their_elements) {
    float one = 2;
    for (const std::int64_t side : {5, 50}) {
        GuardedMatrix c(Type::f32, side, side, Layout::rows_padded);
        const ConstView repeated{&one, Type::f32, side, side, 0, 0};
        gemm({1, repeated, repeated, 0, c.view()}, GetParam());
        EXPECT_EQ(c.get(0, 0), 4.0 * static_cast<double>(side));
        EXPECT_EQ(c.get(side - 1, side - 1), 4.0 * static_cast<double>(side));
    }
}

TEST_P(gemm_kernels, alpha_zero_or_k_zero_does_not_read_a_and_b) {
    for (const Type type : gemm_types) {
        for (const std::int64_t k : {0, 40}) {
            GuardedMatrix c(type, 33, 9, Layout::rows);
            c.fill(2);
            gemm({k == 0 ? 1.0 : 0.0, {nullptr, type, 33, k, k, 1}, {nullptr, type, k, 9, 9, 1}, -3, c.view()},
                 GetParam());
            EXPECT_EQ(c.get(32, 8), -6);
        }
    }
}

TEST_P(gemm_kernels, alpha_and_beta_that_underflow_count_as_zero) {
    GuardedMatrix c(Type::f32, 3, 9, Layout::rows);
    c.fill(nan);
    gemm({1e-60, {nullptr, Type::f32, 3, 40, 40, 1}, {nullptr, Type::f32, 40, 9, 9, 1}, 1e-60, c.view()}, GetParam());
    EXPECT_EQ(c.get(2, 8), 0);
}

TEST_P(gemm_kernels, i32_wraps_as_the_reference_does) {
    for (const std::int64_t side : {7, 45}) {
        GuardedMatrix a(Type::i32, side, side, Layout::rows), b = a, c = a;
        a.fill_random(random_, 2000000000);
        b.fill_random(random_, 2000000000);
        c.fill_random(random_, 2000000000);
        GuardedMatrix expected = c;
        const Product reference{-3, a.view(), b.view(), 7, expected.view()};
        ReferenceBackend().multiply({&reference, 1}, "");
        gemm({-3, a.view(), b.view(), 7, c.view()}, GetParam());
        EXPECT_TRUE(c.equals_byte_for_byte(expected));
    }
}

TEST_P(gemm_kernels, nan_and_infinity_reach_exactly_their_row_and_column) {
    for (const Type type : {Type::f64, Type::bf16}) {
        for (const std::int64_t side : {9, 45, 100}) {
            GuardedMatrix a(type, side, side, Layout::rows), b = a, c = a;
            a.fill(1);
            b.fill(1);
            a.set(2, 3, nan);
            b.set(4, 5, std::numeric_limits<double>::infinity());
            gemm({1, a.view(), b.view(), 0, c.view()}, GetParam());
            for (std::int64_t i = 0; i < side; ++i) {
                for (std::int64_t j = 0; j < side; ++j) {
                    EXPECT_EQ(std::isnan(c.get(i, j)), i == 2);
                    EXPECT_EQ(std::isinf(c.get(i, j)), i != 2 && j == 5);
                }
            }
        }
    }
}

TEST_P(gemm_kernels, an_element_does_not_depend_on_the_tile_it_is_computed_in) {
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16}) {
        for (const std::int64_t k : {31, 50, 700, 1100}) {
            GuardedMatrix a(type, 70, k, Layout::rows), b(type, k, 75, Layout::rows), whole(type, 70, 75, Layout::rows);
            std::uniform_real_distribution<double> entries(-1, 1);
            for (GuardedMatrix* x : {&a, &b, &whole}) {
                for (std::int64_t i = 0; i < x->view().rows; ++i) {
                    for (std::int64_t j = 0; j < x->view().cols; ++j) {
                        x->set(i, j, entries(random_));
                    }
                }
            }
            GuardedMatrix tiled = whole;
            gemm({0.3, a.view(), b.view(), 0.7, whole.view()}, GetParam());
            for (std::int64_t i = 0; i < 70; i += 23) {
                for (std::int64_t j = 0; j < 75; j += 19) {
                    const std::int64_t rows = std::min<std::int64_t>(23, 70 - i),
                                       cols = std::min<std::int64_t>(19, 75 - j);
                    gemm({0.3, block(a.view(), i, 0, rows, k), block(b.view(), 0, j, k, cols), 0.7,
                          block(tiled.view(), i, j, rows, cols)},
                         GetParam());
                }
            }
            EXPECT_TRUE(tiled.equals_byte_for_byte(whole));
        }
    }
}

TEST_P(gemm_kernels, short_floats_are_added_up_in_f32_and_rounded_once) {
    constexpr std::int64_t m = 40, k = 1500, n = 50;
    std::uniform_real_distribution<double> entries(-1, 1);
    for (const Type type : {Type::tf32, Type::bf16, Type::f16}) {
        for (const Type result_type : {type, Type::f32}) {
            GuardedMatrix a(type, m, k, Layout::rows), b(type, k, n, Layout::columns),
                c(result_type, m, n, Layout::rows_padded);
            for (GuardedMatrix* x : {&a, &b, &c}) {
                for (std::int64_t i = 0; i < x->view().rows; ++i) {
                    for (std::int64_t j = 0; j < x->view().cols; ++j) {
                        x->set(i, j, entries(random_));
                    }
                }
            }
            const GuardedMatrix before = c;
            gemm({0.5, a.view(), b.view(), 2, c.view()}, GetParam());
            const auto factor = [&](double x) {
                return type == Type::tf32 ? static_cast<double>(round_to_tf32(static_cast<float>(x))) : x;
            };
            const double written = result_type == Type::bf16 ? 0x1p-8 : result_type == Type::f16 ? 0x1p-11 : 0x1p-24;
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    double sum = 0, magnitude = 0;
                    for (std::int64_t p = 0; p < k; ++p) {
                        const double product = factor(a.get(i, p)) * factor(b.get(p, j));
                        sum += product;
                        magnitude += std::abs(product);
                    }
                    const double expected = 0.5 * sum + 2 * before.get(i, j);
                    ASSERT_NEAR(c.get(i, j), expected, written * std::abs(expected) + 0x1p-24 * 60 * magnitude)
                        << type_name(type) << " into " << type_name(result_type);
                }
            }
        }
    }
}

TEST_P(gemm_kernels, many_threads_at_once_get_their_own_scratch) {
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (std::size_t t = 0; t < wrong.size(); ++t) {
        threads.emplace_back([&, t] {
            const auto side = static_cast<std::int64_t>(90 + t);  // packed
            GuardedMatrix a(Type::f32, side, side, Layout::rows), c = a;
            a.fill(static_cast<double>(t + 1));
            for (int round = 0; round < 20; ++round) {
                gemm({1, a.view(), a.view(), 0, c.view()}, GetParam());
                wrong[t] +=
                    c.get(side - 1, side - 1) != static_cast<double>((t + 1) * (t + 1)) * static_cast<double>(side);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

INSTANTIATE_TEST_SUITE_P(every_set, gemm_kernels, testing::ValuesIn(available_instruction_sets()),
                         [](const auto& set) { return std::string(instruction_set_name(set.param)); });

TEST(gemm, unsupported_type_is_a_usage_error) {
    GuardedMatrix a(Type::gf2, 2, 2, Layout::rows), c = a;
    EXPECT_FALSE(gemm_supports(Type::gf2));
    try {
        gemm({1, a.view(), a.view(), 0, c.view()});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
    }
}

}  // namespace
}  // namespace heptad::cpu
