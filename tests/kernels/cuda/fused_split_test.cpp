// How tiles of fused products are dealt out: what the device computes for each block, done here for all of them.
#include "kernels/cuda/fused/fused_split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/fused/fused_walk.hpp"

namespace heptad::test {
namespace {

using Arguments = cuda::FusedArguments<float>;

/// Products whose targets are the blocks named, turns counted as build_fused() counts them.
std::unique_ptr<Arguments> products_with(const std::vector<std::vector<int>>& targets, int down, int across) {
    auto args = std::make_unique<Arguments>();
    args->tiles_down = down;
    args->tiles_across = across;
    args->strip = 3;
    std::map<int, int> updates;
    std::int16_t used = 0;
    for (const std::vector<int>& blocks : targets) {
        cuda::FusedInstanceArgument& instance = args->instances[args->instance_count++];
        instance.target_begin = used;
        instance.target_count = static_cast<std::int16_t>(blocks.size());
        for (const int block : blocks) {
            args->targets[used].block = block;
            args->targets[used++].turn = updates[block]++;
        }
    }
    return args;
}

const std::vector<std::vector<int>> strassen_targets{{2, 3}, {0, 1}, {3}, {0}, {1, 3}, {0, 2}, {0, 3}};

/// All items in their order: k is covered once, and the updates of a tile of a block come one after another.
void expect_sound(const Arguments& args, int slabs) {
    std::map<int, int> made;                          // slabs of a tile
    std::map<std::pair<int, int>, int> updates_seen;  // of a block and a tile
    for (int number = 0; number < cuda::fused::item_count(args); ++number) {
        const cuda::fused::Item item = cuda::fused::item_of(args, number, 0, slabs);
        ASSERT_EQ(made[item.tile], item.first_slab) << "item " << number;
        ASSERT_GT(item.slabs, 0) << "item " << number;
        ASSERT_EQ(item.left, 0) << "item " << number;
        made[item.tile] += item.slabs;
        const cuda::fused::TilePlace place = cuda::fused::tile_place(args, item.tile);
        ASSERT_TRUE(place.row >= 0 && place.row < args.tiles_down && place.col >= 0 && place.col < args.tiles_across);
        const cuda::FusedInstanceArgument& instance = args.instances[place.instance];
        for (int t = 0; t < instance.target_count; ++t) {
            const auto& target = args.targets[instance.target_begin + t];
            ASSERT_EQ(cuda::fused::turn_of(args, target, place.number, item.piece),
                      (updates_seen[{target.block, place.number}]++))
                << "item " << number << ", block " << target.block;
        }
    }
    ASSERT_EQ(made.size(), static_cast<std::size_t>(args.instance_count * args.tiles_down * args.tiles_across));
    for (const auto& [tile, count] : made) {
        ASSERT_EQ(count, slabs) << "tile " << tile;
    }
}

TEST(fused_split, every_tile_is_made_once_and_updated_in_the_order_of_the_items) {
    int split = 0;
    for (const int down : {1, 2, 5, 8}) {
        for (const int across : {1, 3, 4}) {
            for (const int resident : {1, 3, 7, 32, 132, 1000}) {
                for (const int slabs : {1, 8, 16, 61, 512}) {
                    const auto args = products_with(strassen_targets, down, across);
                    cuda::split_last_tiles(*args, resident, slabs);
                    expect_sound(*args, slabs);
                    split += args->pieces > 1 ? 1 : 0;
                    if (HasFatalFailure()) {
                        FAIL() << down << " x " << across << " tiles, " << resident << " blocks, " << slabs << " slabs";
                    }
                }
            }
        }
    }
    EXPECT_GT(split, 30);
}

TEST(fused_split, a_short_last_round_is_cut_and_a_full_one_is_not) {
    // n = 8192 on 132 multiprocessors by tiles of 128 x 256: 27 rounds, and 20 tiles.
    const auto eight = products_with(strassen_targets, 32, 16);
    cuda::split_last_tiles(*eight, 132, 512);
    EXPECT_EQ(eight->whole_tiles, 27 * 132);
    EXPECT_GT(eight->pieces, 3);
    EXPECT_LE(cuda::fused::item_count(*eight), 28 * 132);
    const auto even = products_with(strassen_targets, 4, 4);
    cuda::split_last_tiles(*even, 16, 512);
    EXPECT_EQ(even->pieces, 1);
    EXPECT_EQ(even->whole_tiles, 7 * 16);
}

TEST(fused_split, products_whose_targets_have_addends_keep_their_tiles_whole) {
    const auto args = products_with(strassen_targets, 3, 3);
    args->targets[4].addend_coefficient = 1;
    cuda::split_last_tiles(*args, 40, 512);
    EXPECT_EQ(args->pieces, 1);
    expect_sound(*args, 512);
    cuda::share_last_tiles(*args, 40, 512);
    EXPECT_EQ(args->ranges, 0);
    expect_sound(*args, 512);
}

/// Every slab of every tile is made once, whoever makes it, and no range is more than a slab longer than another.
void expect_shared(const Arguments& args, int slabs) {
    const int tiles = args.instance_count * args.tiles_down * args.tiles_across;
    std::vector<std::vector<int>> made(static_cast<std::size_t>(tiles),
                                       std::vector<int>(static_cast<std::size_t>(slabs)));
    int shortest = tiles * slabs, longest = 0;
    for (int number = 0; number < cuda::fused::item_count(args); ++number) {
        int of_item = 0, left = 1;
        while (left > 0) {
            const cuda::fused::Item item = cuda::fused::item_of(args, number, of_item, slabs);
            ASSERT_TRUE(item.tile >= 0 && item.tile < tiles) << "item " << number;
            ASSERT_TRUE(item.slabs > 0 && item.first_slab >= 0 && item.first_slab + item.slabs <= slabs)
                << "item " << number << ": " << item.slabs << " slabs from " << item.first_slab << " on";
            for (int slab = item.first_slab; slab < item.first_slab + item.slabs; ++slab) {
                ++made[static_cast<std::size_t>(item.tile)][static_cast<std::size_t>(slab)];
            }
            of_item += item.slabs;
            left = item.left;
        }
        if (number >= args.whole_tiles) {
            shortest = std::min(shortest, of_item);
            longest = std::max(longest, of_item);
        }
    }
    for (const std::vector<int>& tile : made) {
        ASSERT_EQ(tile, std::vector<int>(static_cast<std::size_t>(slabs), 1));
    }
    ASSERT_TRUE(args.ranges == 0 || longest - shortest <= 1) << shortest << " to " << longest;
}

TEST(fused_split, shared_tiles_are_made_once_in_ranges_of_equal_length) {
    int shared = 0, across_tiles = 0;
    for (const int down : {1, 2, 5, 8}) {
        for (const int across : {1, 3, 4}) {
            for (const int multiprocessors : {1, 3, 7, 32, 132, 1000}) {
                for (const int slabs : {1, 8, 16, 61, 512}) {
                    const auto args = products_with(strassen_targets, down, across);
                    cuda::share_last_tiles(*args, multiprocessors, slabs);
                    expect_shared(*args, slabs);
                    shared += args->ranges > 0 ? 1 : 0;
                    across_tiles +=
                        args->ranges > 0 && 7 * down * across - args->whole_tiles > args->ranges / 2 ? 1 : 0;
                    if (HasFatalFailure()) {
                        FAIL() << down << " x " << across << " tiles, " << multiprocessors << " multiprocessors, "
                               << slabs << " slabs";
                    }
                }
            }
        }
    }
    EXPECT_GT(shared, 30);
    EXPECT_GT(across_tiles, 5);
}

TEST(fused_split, two_half_empty_rounds_are_shared_and_full_ones_or_short_sums_are_not) {
    // n = 2048 on 132 multiprocessors by tiles of 128 x 256: one round, and 92 tiles of 128 slabs.
    const auto two = products_with(strassen_targets, 8, 4);
    cuda::share_last_tiles(*two, 132, 128);
    EXPECT_EQ(two->whole_tiles, 0);
    EXPECT_EQ(two->ranges, 132);
    // n = 8192: 27 rounds, and 20 tiles.
    const auto many = products_with(strassen_targets, 32, 16);
    cuda::share_last_tiles(*many, 132, 512);
    EXPECT_EQ(many->whole_tiles, 27 * 132);
    EXPECT_EQ(many->ranges, 132);
    // n = 1536: one round, nearly full.
    const auto one = products_with(strassen_targets, 6, 3);
    cuda::share_last_tiles(*one, 132, 96);
    EXPECT_EQ(one->ranges, 0);
    const auto even = products_with(strassen_targets, 4, 4);
    cuda::share_last_tiles(*even, 16, 512);
    EXPECT_EQ(even->whole_tiles, 7 * 16);
    EXPECT_EQ(even->ranges, 0);
    const auto flat = products_with(strassen_targets, 8, 4);
    cuda::share_last_tiles(*flat, 132, 16);  // an update takes as long as what could be saved
    EXPECT_EQ(flat->ranges, 0);
    const auto deep = products_with(strassen_targets, 8, 4);
    cuda::share_last_tiles(*deep, 132, 1 << 26);  // slabs are counted in 32 bits
    EXPECT_EQ(deep->ranges, 0);
}

}  // namespace
}  // namespace heptad::test
