#include "backend/cpu/cpu_backend_tiles.hpp"

#include <algorithm>

#include "base/size.hpp"

namespace heptad::cpu {
namespace {

constexpr std::int64_t kLargestTile = std::int64_t{1} << 30;  // BLAS counts in 32 bits
constexpr std::int64_t kComfortableTile = 256;
constexpr std::int64_t kSmallestTile = 32;
constexpr double kSmallestVolume = 48.0 * 48.0 * 48.0;

/// Register tiles of the kernels in use are 4 to 48 wide; 96 is divided by nearly all of them, 16 by many.
std::int64_t rounded_tile(std::int64_t size, std::int64_t parts) {
    const std::int64_t even = ceil_div(size, parts);
    const std::int64_t unit = even >= 6 * 96 ? 96 : 16;
    return parts == 1 ? size : std::min(size, ceil_div(even, unit) * unit);
}

}  // namespace

TileGrid tile_grid(std::int64_t m, std::int64_t k, std::int64_t n, int threads, double share) {
    std::int64_t row_parts = ceil_div(m, kLargestTile);
    std::int64_t col_parts = ceil_div(n, kLargestTile);
    const double volume = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    const double many = threads > 1 ? 4.0 * threads * share : 1;
    const double few = std::min(threads > 1 ? 2.0 * threads * share : 1, volume / kSmallestVolume);
    // Cut the longer side of a tile in one more part, until there are enough of them.
    for (;;) {
        const double parts = static_cast<double>(row_parts) * static_cast<double>(col_parts);
        const bool by_rows = m * col_parts >= n * row_parts;
        const std::int64_t size = by_rows ? m : n;
        std::int64_t& side = by_rows ? row_parts : col_parts;
        const std::int64_t next = size / (side + 1);
        const bool wanted = (parts < many && next >= kComfortableTile) || (parts < few && next >= kSmallestTile);
        if (!wanted) {
            break;
        }
        ++side;
    }
    TileGrid grid;
    grid.rows = rounded_tile(m, row_parts);
    grid.cols = rounded_tile(n, col_parts);
    grid.row_tiles = ceil_div(m, grid.rows);
    grid.col_tiles = ceil_div(n, grid.cols);
    return grid;
}

Product tile_of(const Product& product, const TileGrid& grid, std::int64_t index) {
    const std::int64_t row = index / grid.col_tiles * grid.rows;
    const std::int64_t col = index % grid.col_tiles * grid.cols;
    const std::int64_t rows = std::min(grid.rows, product.c.rows - row);
    const std::int64_t cols = std::min(grid.cols, product.c.cols - col);
    Product tile = product;
    tile.a = block(product.a, row, 0, rows, product.a.cols);
    tile.b = block(product.b, 0, col, product.b.rows, cols);
    tile.c = block(product.c, row, col, rows, cols);
    return tile;
}

BatchTiles::BatchTiles(std::span<const Product> batch, int threads) : batch_(batch), first_{0} {
    const auto volume = [](const Product& p) {
        return static_cast<double>(p.c.rows) * static_cast<double>(p.a.cols) * static_cast<double>(p.c.cols);
    };
    double total = 0;
    for (const Product& product : batch) {
        total += volume(product);
    }
    grids_.reserve(batch.size());
    first_.reserve(batch.size() + 1);
    for (const Product& p : batch) {
        TileGrid grid;
        if (p.c.rows > 0 && p.c.cols > 0) {
            const double share = total > 0 ? volume(p) / total : 1.0 / static_cast<double>(batch.size());
            grid = tile_grid(p.c.rows, p.a.cols, p.c.cols, threads, share);
        }
        grids_.push_back(grid);
        first_.push_back(first_.back() + grid.count());
    }
}

Product BatchTiles::tile(std::int64_t index) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), index);
    const auto p = static_cast<std::size_t>(after - first_.begin() - 1);
    return tile_of(batch_[p], grids_[p], index - first_[p]);
}

}  // namespace heptad::cpu
