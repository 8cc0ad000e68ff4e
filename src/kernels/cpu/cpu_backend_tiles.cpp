#include "kernels/cpu/cpu_backend_tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/size.hpp"

namespace heptad::cpu {
namespace {

constexpr std::int64_t kLargestTile = std::int64_t{1} << 30;  // BLAS counts in 32 bits
constexpr std::int64_t kSmallestTile = 32;
constexpr double kTasksPerThread = 8;   // at most
constexpr double kTasksPerProduct = 4;  // always allowed: what evens out the last round of a batch
constexpr double kPackingWork = 16;     // multiplications that packing one element costs
constexpr double kUnevenCores = 0.15;   // how much slower the slowest core may be
constexpr double kStartWork = 150e3;    // multiplications that are done while a second thread wakes up

/// Register tiles of the kernels in use are 4 to 48 wide; 16 is a multiple or a divisor of most of them, and the halves
/// and quarters of round sizes stay what they are.
std::int64_t rounded_tile(std::int64_t size, std::int64_t parts) {
    constexpr std::int64_t unit = 16;
    return parts == 1 ? size : std::min(size, ceil_div(ceil_div(size, parts), unit) * unit);
}

TileGrid grid_of(std::int64_t m, std::int64_t n, std::int64_t row_parts, std::int64_t col_parts) {
    TileGrid grid{.rows = rounded_tile(m, row_parts), .cols = rounded_tile(n, col_parts)};
    grid.row_tiles = ceil_div(m, grid.rows);
    grid.col_tiles = ceil_div(n, grid.cols);
    return grid;
}

/// Multiplications per column of A that the busiest thread has to do or to wait for, over a batch of `copies` such
/// products: its tiles go around the threads together, so seven products on two threads need not take four rounds.
double cost_of(const TileGrid& grid, double copies, double threads, double k) {
    const auto rows = static_cast<double>(grid.rows), cols = static_cast<double>(grid.cols);
    const double tiles = static_cast<double>(grid.count()) * copies;
    const double rounds = std::ceil(tiles / threads);
    const double waiting = tiles > 1 ? kUnevenCores : 0;
    const double starting = tiles > 1 ? kStartWork / k : 0;
    return (rounds + waiting) * (rows * cols + kPackingWork * (rows + cols)) + starting;
}

double volume(const Product& p) {
    return static_cast<double>(p.c.rows) * static_cast<double>(p.a.cols) * static_cast<double>(p.c.cols);
}

/// How many products at the front of a batch are left whole, the same number for each thread: what is packed serves
/// longest there, and the pieces of the others even out the end. Only where all products are alike.
std::size_t whole_products(std::span<const Product> batch, int threads) {
    if (threads == 1 || batch.empty()) {
        return 0;
    }
    const auto size = [](const Product& p) { return std::array{p.c.rows, p.a.cols, p.c.cols}; };
    const auto like_first = [&](const Product& p) { return size(p) == size(batch.front()); };
    const Product& first = batch.front();
    if (std::max(first.c.rows, first.c.cols) > kLargestTile || !std::ranges::all_of(batch, like_first)) {
        return 0;
    }
    const auto together = static_cast<std::size_t>(threads);
    return (batch.size() - 1) / together * together;
}

}  // namespace

TileGrid tile_grid(std::int64_t m, std::int64_t k, std::int64_t n, int threads, double share) {
    const std::int64_t least_row_parts = ceil_div(m, kLargestTile), least_col_parts = ceil_div(n, kLargestTile);
    TileGrid best = grid_of(m, n, least_row_parts, least_col_parts);
    if (threads == 1) {
        return best;
    }
    const double copies = std::max(1.0, std::round(1 / share));
    const double most_tasks = std::max(kTasksPerProduct, kTasksPerThread * threads * share);
    double best_cost = cost_of(best, copies, threads, static_cast<double>(k));
    const std::int64_t most_row_parts = std::max(least_row_parts, m / kSmallestTile);
    const std::int64_t most_col_parts = std::max(least_col_parts, n / kSmallestTile);
    for (std::int64_t r = least_row_parts; r <= most_row_parts && static_cast<double>(r) <= most_tasks; ++r) {
        for (std::int64_t c = least_col_parts; c <= most_col_parts && static_cast<double>(r * c) <= most_tasks; ++c) {
            const TileGrid grid = grid_of(m, n, r, c);
            const double cost = cost_of(grid, copies, threads, static_cast<double>(k));
            if (cost < best_cost) {
                best = grid;
                best_cost = cost;
            }
        }
    }
    return best;
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
    const std::size_t whole = whole_products(batch, threads);
    double total = 0;  // of those that are cut
    for (const Product& product : batch.subspan(whole)) {
        total += volume(product);
    }
    grids_.reserve(batch.size());
    first_.reserve(batch.size() + 1);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const Product& p = batch[i];
        TileGrid grid;
        if (p.c.rows > 0 && p.c.cols > 0) {
            const double share = total > 0 ? volume(p) / total : 1.0 / static_cast<double>(batch.size());
            grid =
                i < whole ? grid_of(p.c.rows, p.c.cols, 1, 1) : tile_grid(p.c.rows, p.a.cols, p.c.cols, threads, share);
        }
        grids_.push_back(grid);
        first_.push_back(first_.back() + grid.count());
    }
}

Product BatchTiles::tile(std::int64_t index) const {
    const auto after = std::ranges::upper_bound(first_, index);
    const auto p = static_cast<std::size_t>(after - first_.begin() - 1);
    return tile_of(batch_[p], grids_[p], index - first_[p]);
}

}  // namespace heptad::cpu
