// The order in which the tiles of C are made.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace heptad::cuda {

struct TileOrder {
    std::int64_t tiles;                 // in all products
    std::int64_t tile_rows, tile_cols;  // in one product
    std::int64_t raster;                // rows of tiles that are gone through column by column
};

struct TilePlace {
    std::int64_t block, row, col;  // which product; in tiles
};

/// Neighbours in time are neighbours in C, so that what they read is in the L2 cache.
__device__ __forceinline__ TilePlace tile_at(const TileOrder& order, std::int64_t index) {
    const std::int64_t per_block = order.tile_rows * order.tile_cols;
    const std::int64_t block = index / per_block, within = index - block * per_block;
    const std::int64_t band = within / (order.raster * order.tile_cols), first = band * order.raster;
    const std::int64_t rows = min(order.raster, order.tile_rows - first);
    const std::int64_t in_band = within - first * order.tile_cols;
    return {block, first + in_band % rows, in_band / rows};
}

}  // namespace heptad::cuda
