// Largest absolute values of rows and columns against the reference: numbers, infinities and NaN at every position.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/cpu/instruction_sets.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace heptad::cpu {
namespace {

using test::all_layouts;
using test::GuardedMatrix;
using test::Layout;

constexpr Type float_types[] = {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class scan_kernels : public testing::TestWithParam<InstructionSet> {};

TEST_P(scan_kernels, equal_reference_for_every_type_layout_and_shape) {
    std::mt19937 random(5);
    for (const Type type : float_types) {
        for (const Layout layout : all_layouts) {
            for (const auto& [rows, cols] : {std::pair{0, 4}, {4, 0}, {1, 1}, {3, 7}, {17, 65}, {2, 1000}}) {
                GuardedMatrix x(type, rows, cols, layout);
                x.fill_random(random, 1000);
                const ScanResult scan = scan_view(x.view(), GetParam()), expected = ReferenceBackend().scan(x.view());
                EXPECT_EQ(scan.max_abs, expected.max_abs);
                EXPECT_EQ(scan.rows, expected.rows);
                EXPECT_EQ(scan.cols, expected.cols);
                EXPECT_EQ(scan.row_sums, expected.row_sums);  // of integers: exact
                EXPECT_EQ(scan.col_sums, expected.col_sums);
            }
        }
    }
}

TEST_P(scan_kernels, a_special_value_is_seen_at_every_position) {
    for (const Type type : float_types) {
        GuardedMatrix x(type, 5, 150, Layout::rows);
        x.fill(-1);
        for (std::int64_t j = 0; j < 150; ++j) {
            const std::int64_t i = j % 5;
            const auto row = static_cast<std::size_t>(i), col = static_cast<std::size_t>(j);
            const auto scan = [&] { return scan_view(x.view(), GetParam()); };
            x.set(i, j, -2);
            EXPECT_EQ(scan().max_abs, 2);
            EXPECT_EQ(scan().rows[row], 2);
            EXPECT_EQ(scan().cols[col], 2);
            EXPECT_EQ(scan().rows[(row + 1) % 5], 1);
            EXPECT_EQ(scan().cols[(col + 1) % 150], 1);
            x.set(i, j, -infinity);
            EXPECT_EQ(scan().max_abs, infinity);
            EXPECT_EQ(scan().rows[row], infinity);
            x.set(i, (j + 1) % 150, -nan);
            EXPECT_TRUE(std::isnan(scan().max_abs));
            EXPECT_TRUE(std::isnan(scan().rows[row]));
            EXPECT_EQ(scan().cols[col], infinity);
            x.set(i, (j + 1) % 150, -1);
            x.set(i, j, -1);
        }
    }
}

TEST_P(scan_kernels, sums_of_long_lines_are_off_by_little) {
    for (const Type type : {Type::f64, Type::f32}) {
        for (const Layout layout : {Layout::rows, Layout::columns}) {
            GuardedMatrix x(type, 3, 600000, layout);
            x.fill(-1.0 / 3);
            const ScanResult scan = scan_view(x.view(), GetParam());
            const double third = x.get(0, 0) * -1;
            for (const double sum : scan.row_sums) {
                EXPECT_NEAR(sum, 600000 * third, kSumSlack / 4 * 600000 * third);
            }
            EXPECT_EQ(scan.row_sums.size(), 3U);
            EXPECT_EQ(scan.col_sums.size(), 600000U);
            EXPECT_NEAR(scan.col_sums.back(), third * 3, 1e-6);
        }
    }
}

TEST_P(scan_kernels, exact_types_give_zero) {
    GuardedMatrix x(Type::i32, 2, 2, Layout::rows);
    EXPECT_EQ(scan_view(x.view(), GetParam()).max_abs, 0);
    EXPECT_TRUE(scan_view(x.view(), GetParam()).rows.empty());
}

INSTANTIATE_TEST_SUITE_P(every_set, scan_kernels, testing::ValuesIn(test::sets_with_tables_of_their_own()),
                         [](const auto& set) { return std::string(instruction_set_name(set.param)); });

TEST(merge_scans, nan_wins_then_the_larger) {
    const auto merged = [](double x, double y) { return merge_scans({{x, {x}, {x}}, {y, {y}, {y}}}, true); };
    EXPECT_EQ(merged(1, 2).max_abs, 2);
    EXPECT_EQ(merged(2, 1).cols[0], 2);
    EXPECT_EQ(merged(2, 1).rows, (std::vector<double>{2, 1}));
    EXPECT_EQ(merged(infinity, 1).max_abs, infinity);
    EXPECT_TRUE(std::isnan(merged(nan, infinity).cols[0]));
    EXPECT_TRUE(std::isnan(merged(infinity, nan).max_abs));
    const ScanResult both = merge_scans({{2, {2}, {1, 2}, {3}, {1, 2}}, {4, {4}, {3, 4}, {7}, {3, 4}}}, true);
    EXPECT_EQ(both.row_sums, (std::vector<double>{3, 7}));
    EXPECT_EQ(both.col_sums, (std::vector<double>{4, 6}));
}

}  // namespace
}  // namespace heptad::cpu
