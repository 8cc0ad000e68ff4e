// Which part of which product a block makes, and when it may update a target; the same on the host, for tests.
#pragma once

#include <cstdint>

#include "base/host_and_device.hpp"
#include "kernels/cuda/fused/fused_arguments.hpp"

namespace heptad::cuda::fused {

struct TilePlace {
    int instance, number, row, col;
};

/// Neighbours in time are neighbours in M, so that what they read is in the L2 cache.
template <class T>
HEPTAD_HOST_AND_DEVICE TilePlace tile_place(const FusedArguments<T>& args, int index) {
    const int per_instance = args.tiles_down * args.tiles_across;
    const int instance = index / per_instance, number = index - instance * per_instance;
    const int per_strip = args.strip * args.tiles_across;
    const int first = number / per_strip * args.strip, within = number % per_strip;
    const int left = args.tiles_down - first, height = args.strip < left ? args.strip : left;
    return {instance, number, first + within % height, within / height};
}

/// Tiles from args.whole_tiles on are made by several blocks, each with a part of k, so that the last ones do not leave
/// most of the device idle: in pieces of equal length, or, where updates may come in any order, in ranges, each an
/// equal share of all slabs that are left, end to end across the borders of tiles. What a block draws is the number of
/// an item: a whole tile, a piece or a range.
template <class T>
HEPTAD_HOST_AND_DEVICE int item_count(const FusedArguments<T>& args) {
    const int tiles = args.instance_count * args.tiles_down * args.tiles_across;
    return args.whole_tiles + (args.ranges > 0 ? args.ranges : (tiles - args.whole_tiles) * args.pieces);
}

/// What a block makes of a tile at a time.
struct Item {
    int tile, piece;
    int first_slab, slabs;
    int left;  // slabs of the item that come after these
};

/// `made`: slabs of the item that have been made.
template <class T>
HEPTAD_HOST_AND_DEVICE Item item_of(const FusedArguments<T>& args, int number, int made, int slabs) {
    if (number < args.whole_tiles) {
        return {number, 0, 0, slabs, 0};
    }
    const int within = number - args.whole_tiles;
    if (args.ranges > 0) {
        const int tiles = args.instance_count * args.tiles_down * args.tiles_across;
        const int all = (tiles - args.whole_tiles) * slabs;
        const int share = all / args.ranges, longer = all - share * args.ranges;  // so many have one slab more
        const int at = within * share + (within < longer ? within : longer) + made;
        const int left = share + (within < longer ? 1 : 0) - made;
        const int tile = at / slabs, first = at - tile * slabs;
        const int taken = left < slabs - first ? left : slabs - first;
        return {args.whole_tiles + tile, first > 0 ? 1 : 0, first, taken, left - taken};
    }
    const int piece = within % args.pieces;
    const int first = static_cast<int>(static_cast<std::int64_t>(slabs) * piece / args.pieces);
    const int last = static_cast<int>(static_cast<std::int64_t>(slabs) * (piece + 1) / args.pieces);
    return {args.whole_tiles + within / args.pieces, piece, first, last - first, 0};
}

/// Updates that a tile of a target has before a piece of tile `number` of a product is added to it. They are counted so
/// that they come in the order of the items.
template <class T>
HEPTAD_HOST_AND_DEVICE int turn_of(const FusedArguments<T>& args, const FusedTargetArgument<T>& target, int number,
                                   int piece) {
    const bool whole_once_more = number < args.whole_tiles % (args.tiles_down * args.tiles_across);
    const int whole = target.whole_turns[whole_once_more ? 1 : 0];
    return target.turn < whole ? target.turn : whole + (target.turn - whole) * args.pieces + piece;
}

}  // namespace heptad::cuda::fused
