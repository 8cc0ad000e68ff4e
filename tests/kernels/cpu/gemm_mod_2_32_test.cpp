// Products of i32 are exact mod 2^32: every instruction set of the machine against plain loops on unsigned integers,
// with entries from the full range, where a lost carry or limb shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernels/cpu/cpu_features.hpp"
#include "kernels/cpu/instruction_sets.hpp"
#include "kernels/guarded_matrix.hpp"

namespace heptad::cpu {
namespace {

using test::GuardedMatrix;
using test::Layout;

std::uint32_t entry(const ConstView& v, std::int64_t i, std::int64_t j) {
    std::uint32_t x = 0;
    std::memcpy(&x, element_pointer(v, i, j), sizeof x);
    return x;
}
void set_entry(const View& v, std::int64_t i, std::int64_t j, std::uint32_t x) {
    std::memcpy(element_pointer(v, i, j), &x, sizeof x);
}
template <class Entries>
void fill_with(GuardedMatrix& x, Entries entries) {
    const View& v = x.view();
    for (std::int64_t i = 0; i < v.rows; ++i) {
        for (std::int64_t j = 0; j < v.cols; ++j) {
            set_entry(v, i, j, entries());
        }
    }
}

void multiply_by_plain_loops(std::uint32_t alpha, const ConstView& a, const ConstView& b, std::uint32_t beta,
                             const View& c) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.cols; ++j) {
            std::uint32_t sum = 0;
            for (std::int64_t p = 0; p < a.cols; ++p) {
                sum += entry(a, i, p) * entry(b, p, j);
            }
            set_entry(c, i, j, alpha * sum + beta * entry(c, i, j));
        }
    }
}

struct Shape {
    std::int64_t m = 0, k = 0, n = 0;
    Layout a = Layout::rows, b = Layout::rows, c = Layout::rows;
};

class gemm_mod_2_32 : public testing::TestWithParam<InstructionSet> {
protected:
    std::uint32_t any() { return static_cast<std::uint32_t>(random_()); }

    /// Guards of C included.
    void expect_exact(const Shape& shape, std::int32_t alpha, std::int32_t beta) {
        GuardedMatrix a(Type::i32, shape.m, shape.k, shape.a), b(Type::i32, shape.k, shape.n, shape.b);
        GuardedMatrix c(Type::i32, shape.m, shape.n, shape.c);
        for (GuardedMatrix* x : {&a, &b, &c}) {
            fill_with(*x, [this] { return any(); });
        }
        GuardedMatrix expected = c;
        multiply_by_plain_loops(static_cast<std::uint32_t>(alpha), a.view(), b.view(), static_cast<std::uint32_t>(beta),
                                expected.view());
        gemm({static_cast<double>(alpha), a.view(), b.view(), static_cast<double>(beta), c.view()}, GetParam());
        ASSERT_TRUE(c.equals_byte_for_byte(expected))
            << shape.m << "x" << shape.k << "x" << shape.n << " alpha " << alpha << " beta " << beta << " layouts "
            << static_cast<int>(shape.a) << static_cast<int>(shape.b) << static_cast<int>(shape.c);
    }

    std::mt19937 random_{11};
};

/// Packs parts of panels and multiplies one tile, without the thresholds of gemm(), which keep some kernels away from
/// small depths.
TEST_P(gemm_mod_2_32, one_tile_of_any_depth_width_and_layout_is_exact) {
    const GemmKernels<std::uint32_t>& kernels = kernel_table_of(GetParam()).gemm_i32;
    const std::int64_t rows = kernels.tile_rows, cols = kernels.tile_cols;
    for (std::int64_t k = 1; k <= 41; ++k) {
        const std::int64_t packed_k = (k + kernels.depth_unit - 1) / kernels.depth_unit * kernels.depth_unit;
        for (const std::int64_t missing : {0, 1, 2, 3}) {
            for (const Layout layout : {Layout::rows, Layout::columns_padded, Layout::general, Layout::reversed}) {
                const std::int64_t m = std::max<std::int64_t>(1, rows - missing);
                const std::int64_t n = std::max<std::int64_t>(1, cols - missing);
                GuardedMatrix a(Type::i32, m, k, layout), b(Type::i32, k, n, layout);
                fill_with(a, [this] { return any(); });
                fill_with(b, [this] { return any(); });
                // What packing does not write is not zero.
                std::vector<std::uint32_t> packed_a(static_cast<std::size_t>(rows * packed_k), 0xdeadbeef);
                std::vector<std::uint32_t> packed_b(static_cast<std::size_t>(cols * packed_k), 0xdeadbeef);
                const auto words = [](const GuardedMatrix& x) {
                    return static_cast<const std::uint32_t*>(x.view().data);
                };
                kernels.pack_a(m, k, words(a), a.view().row_stride, a.view().col_stride, packed_a.data());
                kernels.pack_b(n, k, words(b), b.view().col_stride, b.view().row_stride, packed_b.data());
                for (const std::uint32_t beta : {0U, 1U, any()}) {
                    GuardedMatrix c(Type::i32, rows, cols, Layout::rows_padded);
                    fill_with(c, [this] { return any(); });
                    const std::uint32_t alpha = beta == 0 ? 1 : any();
                    GuardedMatrix expected = c;
                    multiply_by_plain_loops(alpha, a.view(), b.view(), beta, block(expected.view(), 0, 0, m, n));
                    for (std::int64_t i = 0; i < rows; ++i) {  // rows and columns that do not exist are zero
                        for (std::int64_t j = 0; j < cols; ++j) {
                            if (i >= m || j >= n) {
                                set_entry(expected.view(), i, j, beta * entry(c.view(), i, j));
                            }
                        }
                    }
                    kernels.tile(packed_k, packed_a.data(), packed_b.data(), alpha, beta,
                                 static_cast<std::uint32_t*>(c.view().data), c.view().row_stride);
                    ASSERT_TRUE(c.equals_byte_for_byte(expected))
                        << "depth " << k << " missing " << missing << " layout " << static_cast<int>(layout);
                }
            }
        }
    }
}

TEST_P(gemm_mod_2_32, sizes_around_tiles_units_and_blocks_are_exact) {
    for (const std::int64_t k : {33, 39, 40, 41, 47, 48, 49, 63, 64, 65}) {
        for (const std::int64_t m : {1, 2, 5, 6, 7, 8, 12, 13, 29, 48}) {
            for (const std::int64_t n : {1, 3, 4, 5, 8, 11, 12, 13, 33}) {
                expect_exact({m, k, n}, 1, 0);
                expect_exact({m, k, n}, -77777, 2000000011);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
    for (const std::int64_t k : {255, 256, 257, 511, 512, 513, 520, 1023, 1025, 1100}) {
        expect_exact({13, k, 9}, 3, -1);
        expect_exact({7, k, 17, Layout::columns, Layout::columns}, -2147483647, 5);
    }
    for (const std::int64_t m : {251, 252, 253, 257, 505}) {
        expect_exact({m, 45, 19}, 1, 1);
        expect_exact({m, 45, 19, Layout::columns}, 1, 0);
    }
    for (const std::int64_t n : {2039, 2040, 2041, 4081}) {
        expect_exact({7, 45, n}, 1, 1);
        expect_exact({7, 45, n, Layout::rows, Layout::columns}, 1, 0);
    }
}

TEST_P(gemm_mod_2_32, every_combination_of_layouts_is_exact) {
    for (const Layout a : test::all_layouts) {
        for (const Layout b : test::all_layouts) {
            for (const Layout c : test::all_layouts) {
                expect_exact({50, 53, 37, a, b, c}, -3, a == b ? 0 : 7);
                expect_exact({48, 64, 48, a, b, c}, 1, a == b ? 1 : 0);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

TEST_P(gemm_mod_2_32, extreme_entries_are_exact) {
    constexpr std::uint32_t extremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00ff00ff, 0xff00ff00, 0x01010101};
    for (const std::uint32_t x : extremes) {
        for (const std::uint32_t y : extremes) {
            GuardedMatrix a(Type::i32, 20, 700, Layout::rows), b(Type::i32, 700, 20, Layout::rows);
            GuardedMatrix c(Type::i32, 20, 20, Layout::rows);
            fill_with(a, [x] { return x; });
            fill_with(b, [y] { return y; });
            gemm({1, a.view(), b.view(), 0, c.view()}, GetParam());
            for (std::int64_t i = 0; i < 20; ++i) {
                for (std::int64_t j = 0; j < 20; ++j) {
                    ASSERT_EQ(entry(c.view(), i, j), 700 * x * y) << x << " times " << y;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(every_set, gemm_mod_2_32, testing::ValuesIn(test::sets_with_tables_of_their_own()),
                         [](const auto& set) { return std::string(instruction_set_name(set.param)); });

TEST(instruction_sets, i8mm_comes_before_neon_and_brings_its_own_product_of_i32) {
    const std::vector<InstructionSet>& sets = available_instruction_sets();
    const auto i8mm = std::find(sets.begin(), sets.end(), InstructionSet::i8mm);
    if (i8mm == sets.end()) {
        GTEST_SKIP() << "this processor has no i8mm";
    }
    const auto neon = std::find(sets.begin(), sets.end(), InstructionSet::neon);
    ASSERT_LT(i8mm, neon);
    ASSERT_NE(neon, sets.end());
    const KernelTable& with = kernel_table_of(InstructionSet::i8mm);
    const KernelTable& without = kernel_table_of(InstructionSet::neon);
    EXPECT_NE(with.gemm_i32.tile, without.gemm_i32.tile);
    EXPECT_EQ(with.gemm_f32.tile, without.gemm_f32.tile);
}

}  // namespace
}  // namespace heptad::cpu
