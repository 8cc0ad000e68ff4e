// A product cut into tiles of C, each a product of its own: rows of A times columns of B. k is never cut, so the sum
// of an element is always formed by one call.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/backend.hpp"

namespace heptad::cpu {

struct TileGrid {
    std::int64_t rows = 1, cols = 1;            // size of a full tile
    std::int64_t row_tiles = 0, col_tiles = 0;  // how many of them
    std::int64_t count() const { return row_tiles * col_tiles; }
};

/// The grid for one product out of a batch. `share` is the part of the batch's work it makes (1 for a lone product).
///
/// The grid is the one whose predicted time is least: rounds of equal tiles over the threads, each tile with the cost
/// of packing its rows and columns, part of a tile to wait for the slowest core, and the start of the other threads.
/// Precondition: m, n >= 1.
TileGrid tile_grid(std::int64_t m, std::int64_t k, std::int64_t n, int threads, double share);

/// Tile number `index` of a product, 0 <= index < grid.count().
Product tile_of(const Product& product, const TileGrid& grid, std::int64_t index);

/// All tiles of a batch, to be taken by threads in the order of their numbers. Of equal products, as many as there are
/// rounds of all threads are one tile each, and come first; at least one is cut.
class BatchTiles {
public:
    BatchTiles(std::span<const Product> batch, int threads);
    std::int64_t count() const { return first_.back(); }
    Product tile(std::int64_t index) const;

private:
    std::span<const Product> batch_;
    std::vector<TileGrid> grids_;
    std::vector<std::int64_t> first_;  // number of the first tile of each product, and the total
};

}  // namespace heptad::cpu
