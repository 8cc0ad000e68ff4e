// Which part of which product a block makes, and when it may update a target; the same on the host, for tests.
#pragma once

#include <cstdint>

#include "backend/cuda/fused_arguments.hpp"

#if defined(__CUDACC__)
#define HEPTAD_HOST_AND_DEVICE __host__ __device__ __forceinline__
#else
#define HEPTAD_HOST_AND_DEVICE inline
#endif

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

/// Tiles from args.whole_tiles on are made by several blocks, each with a piece of k, so that the last ones do not
/// leave most of the device idle. What a block draws is the number of an item: a whole tile or a piece.
template <class T>
HEPTAD_HOST_AND_DEVICE int item_count(const FusedArguments<T>& args) {
    const int tiles = args.instance_count * args.tiles_down * args.tiles_across;
    return args.whole_tiles + (tiles - args.whole_tiles) * args.pieces;
}

struct Item {
    int tile, piece;
    int first_slab, slabs;
};

template <class T>
HEPTAD_HOST_AND_DEVICE Item item_of(const FusedArguments<T>& args, int number, int slabs) {
    if (number < args.whole_tiles) {
        return {number, 0, 0, slabs};
    }
    const int within = number - args.whole_tiles, piece = within % args.pieces;
    const int first = static_cast<int>(static_cast<std::int64_t>(slabs) * piece / args.pieces);
    const int last = static_cast<int>(static_cast<std::int64_t>(slabs) * (piece + 1) / args.pieces);
    return {args.whole_tiles + within / args.pieces, piece, first, last - first};
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
