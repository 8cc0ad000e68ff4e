// Largest absolute value against the reference: numbers, infinities and NaN at every position.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend/cpu/kernels.hpp"
#include "backend/guarded_matrix.hpp"
#include "backend/reference/reference_backend.hpp"

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
                EXPECT_EQ(scan_max_abs(x.view(), GetParam()), ReferenceBackend().scan(x.view()).max_abs);
            }
        }
    }
}

TEST_P(scan_kernels, a_special_value_is_seen_at_every_position) {
    for (const Type type : float_types) {
        GuardedMatrix x(type, 1, 150, Layout::rows);
        x.fill(-1);
        for (std::int64_t j = 0; j < 150; ++j) {
            x.set(0, j, -2);
            EXPECT_EQ(scan_max_abs(x.view(), GetParam()), 2);
            x.set(0, j, -infinity);
            EXPECT_EQ(scan_max_abs(x.view(), GetParam()), infinity);
            x.set(0, (j + 1) % 150, -nan);
            EXPECT_TRUE(std::isnan(scan_max_abs(x.view(), GetParam())));
            x.set(0, (j + 1) % 150, -1);
            x.set(0, j, -1);
        }
    }
}

TEST_P(scan_kernels, exact_types_give_zero) {
    GuardedMatrix x(Type::i32, 2, 2, Layout::rows);
    EXPECT_EQ(scan_max_abs(x.view(), GetParam()), 0);
}

INSTANTIATE_TEST_SUITE_P(every_set, scan_kernels, testing::ValuesIn(available_instruction_sets()),
                         [](const auto& set) { return std::string(instruction_set_name(set.param)); });

TEST(merge_max_abs, nan_wins_then_the_larger) {
    EXPECT_EQ(merge_max_abs(1, 2), 2);
    EXPECT_EQ(merge_max_abs(2, 1), 2);
    EXPECT_EQ(merge_max_abs(infinity, 1), infinity);
    EXPECT_TRUE(std::isnan(merge_max_abs(nan, infinity)));
    EXPECT_TRUE(std::isnan(merge_max_abs(infinity, nan)));
}

}  // namespace
}  // namespace heptad::cpu
