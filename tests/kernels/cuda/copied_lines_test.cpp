#include "kernels/cuda/device/copied_lines.hpp"

#include <gtest/gtest.h>

namespace heptad::cuda {
namespace {

TEST(copied_lines, what_lies_well_needs_no_room) {
    EXPECT_EQ(lines_at_once({5000, false}, {7000, false}, 64, 0), (LinesAtOnce{5000, 7000}));
}

TEST(copied_lines, all_are_copied_at_once_where_there_is_room) {
    EXPECT_EQ(lines_at_once({5000, true}, {7000, true}, 64, 64 * 12000), (LinesAtOnce{5000, 7000}));
    EXPECT_EQ(lines_at_once({5000, false}, {7000, true}, 64, 64 * 7000), (LinesAtOnce{5000, 7000}));
    EXPECT_EQ(lines_at_once({3, true}, {1, true}, 64, 64 * 4), (LinesAtOnce{3, 1}));
}

TEST(copied_lines, parts_are_whole_tiles_and_fit) {
    for (const bool copies_a : {false, true}) {
        for (const bool copies_b : {false, true}) {
            for (std::int64_t room = 0; room < 13000; room += 97) {
                const auto some = lines_at_once({5000, copies_a}, {7000, copies_b}, 64, 64 * room);
                if (!some) {
                    continue;
                }
                EXPECT_TRUE(some->a == 5000 || some->a % 768 == 0) << room;
                EXPECT_TRUE(some->b == 7000 || some->b % 768 == 0) << room;
                EXPECT_LE((copies_a ? some->a : 0) + (copies_b ? some->b : 0), room);
                EXPECT_GE(some->a * 8, 5000);
                EXPECT_GE(some->b * 8, 7000);
            }
        }
    }
}

TEST(copied_lines, too_little_room_is_none) {
    EXPECT_FALSE(lines_at_once({5000, true}, {7000, true}, 64, 64 * 700));
    EXPECT_FALSE(lines_at_once({5000, false}, {7000, true}, 64, 64 * 767));
    EXPECT_FALSE(lines_at_once({1, true}, {1, true}, 64, 64));
    EXPECT_FALSE(lines_at_once({50000, false}, {70000, true}, 64, 64 * 1000));
}

}  // namespace
}  // namespace heptad::cuda
