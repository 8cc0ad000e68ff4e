// Which tiles of a Boolean C are not all ones yet: only those can gain from another panel of k. Two launches make the
// list, so that the kernel that multiplies reads it like any other input and all of its threads agree on what is left.
#pragma once

#include "kernels/cuda/bits/bit_leaf_pack.cuh"
#include "kernels/cuda/device/tile_order.cuh"

namespace heptad::cuda {

/// How many there are, then their numbers in the order of the tiles.
using OpenTiles = std::uint32_t*;

/// The tiles are `rows` x `cols` each, and fewer than 2^32; `cols` is a multiple of 64.
cudaError_t find_open_tiles(const LeafResult& c, const TileOrder& order, int rows, int cols, OpenTiles list,
                            cudaStream_t stream);

}  // namespace heptad::cuda
