// Windows, transposes and the bytes that a view may touch.
#include "base/view.hpp"

#include <gtest/gtest.h>

#include <array>

namespace heptad {
namespace {

TEST(view, a_block_and_its_transpose_point_at_the_elements_of_the_whole) {
    std::array<float, 40> memory{};
    const View whole(memory.data(), Type::f32, 4, 5, 10, 2);
    const View part = block(whole, 1, 2, 3, 2);
    const View turned = transposed(part);
    EXPECT_EQ(turned.rows, 2);
    EXPECT_EQ(turned.cols, 3);
    for (std::int64_t i = 0; i < part.rows; ++i) {
        for (std::int64_t j = 0; j < part.cols; ++j) {
            const std::int64_t place = (i + 1) * 10 + (j + 2) * 2;
            const void* expected = memory.data() + place;
            EXPECT_EQ(element_pointer(part, i, j), expected);
            EXPECT_EQ(element_pointer(turned, j, i), expected);
        }
    }
}

TEST(view, an_empty_block_at_the_far_end_does_not_leave_the_memory) {
    std::array<double, 6> memory{};
    const View whole(memory.data(), Type::f64, 2, 3, 3, 1);
    EXPECT_EQ(block(whole, 2, 3, 0, 0).data, whole.data);
    EXPECT_EQ(block(whole, 2, 0, 0, 3).data, whole.data);
}

TEST(view, its_bytes_reach_from_the_lowest_element_to_the_end_of_the_highest) {
    std::array<double, 100> memory{};
    const auto at = [&](std::int64_t index) { return reinterpret_cast<std::uintptr_t>(memory.data() + index); };
    const ByteRange forward = byte_range(View(memory.data(), Type::f64, 3, 4, 10, 2));
    EXPECT_EQ(forward.begin, at(0));
    EXPECT_EQ(forward.end, at(2 * 10 + 3 * 2 + 1));
    const ByteRange backward = byte_range(View(memory.data() + 50, Type::f64, 3, 4, -10, 2));
    EXPECT_EQ(backward.begin, at(30));
    EXPECT_EQ(backward.end, at(57));
    const ByteRange empty = byte_range(View(memory.data(), Type::f64, 0, 4, 10, 2));
    EXPECT_EQ(empty.begin, empty.end);
}

TEST(view, a_single_row_or_column_is_contiguous_either_way) {
    std::array<float, 30> memory{};
    const auto view = [&](std::int64_t rows, std::int64_t cols) {
        return ConstView(memory.data(), Type::f32, rows, cols, 3, 2);
    };
    EXPECT_FALSE(is_row_contiguous(view(2, 2)));
    EXPECT_FALSE(is_column_contiguous(view(2, 2)));
    EXPECT_TRUE(is_row_contiguous(view(5, 1)));
    EXPECT_TRUE(is_column_contiguous(view(1, 5)));
}

}  // namespace
}  // namespace heptad
