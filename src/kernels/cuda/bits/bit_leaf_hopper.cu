// How the product of bits on Hopper is started: as tiles in squares, pairs or alone, whatever leaves the fewest
// multiprocessors idle at the end.
#include <algorithm>
#include <limits>

#include "kernels/cuda/bits/bit_leaf_hopper.cuh"
#include "kernels/cuda/device/hopper_launch.cuh"

namespace heptad::cuda {
namespace {

ByteBlocks byte_blocks(const BitBlocks& blocks, std::int64_t lines, const BitLeafLaunch& launch) {
    return {blocks.data, (launch.k + 63) / 64 * 8, lines, launch.batch, 8 * blocks.row_words, 8 * blocks.block_words};
}

template <class Shape>
std::int64_t tiles_of(const BitLeafLaunch& launch) {
    return launch.batch * ((launch.m + Shape::cluster_rows - 1) / Shape::cluster_rows) *
           ((launch.n + Shape::cluster_cols - 1) / Shape::cluster_cols);
}

template <BitOperation operation, class Shape>
DeviceStatus start(const BitLeafLaunch& launch, EncodeTiled encode, cudaStream_t stream, Turn turn = Turn::after,
                   int most_clusters = std::numeric_limits<int>::max()) {
    int device = 0, clusters = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = resident_clusters<BitLeaf<operation>, Shape>(device, clusters);
        clusters = std::min(clusters, most_clusters);
    }
    CUtensorMap map_a, map_b;
    if (status == cudaSuccess) {
        status = describe(encode, byte_blocks(launch.a, launch.m, launch), Shape::fetched_rows, map_a);
    }
    if (status == cudaSuccess) {
        status = describe(encode, byte_blocks(launch.b, launch.n, launch), Shape::fetched_cols, map_b);
    }
    if (status != cudaSuccess) {
        return status;
    }
    typename BitLeaf<operation>::Arguments args{};
    args.c = leaf_result(launch);
    args.order.tile_rows = (launch.m + Shape::cluster_rows - 1) / Shape::cluster_rows;
    args.order.tile_cols = (launch.n + Shape::cluster_cols - 1) / Shape::cluster_cols;
    args.order.tiles = tiles_of<Shape>(launch);
    args.order.raster = kRasterRows / Shape::cluster_rows;
    args.steps = static_cast<int>((launch.k + 8 * kStepBytes - 1) / (8 * kStepBytes));
    if constexpr (operation == BitOperation::any) {
        constexpr auto kMostListed = std::int64_t{std::numeric_limits<std::int32_t>::max()};
        if (launch.accumulate && launch.open_tiles != nullptr && args.order.tiles <= kMostListed) {
            static_assert(Shape::cluster_rows >= 128 && Shape::cluster_cols >= 256);  // see bit_open_tile_words
            args.open = reinterpret_cast<OpenTiles>(launch.open_tiles);
            status = find_open_tiles(args.c, args.order, Shape::cluster_rows, Shape::cluster_cols, args.open, stream);
            if (status != cudaSuccess) {
                return status;
            }
        }
    }
    const LaunchShape<Shape> shape(std::min<std::int64_t>(clusters, args.order.tiles), stream, turn);
    return cudaLaunchKernelEx(&shape.config, multiply_tiles<BitLeaf<operation>, Shape>, map_a, map_b, args);
}

/// What a launch takes with these tiles, in arbitrary units: rounds of clusters, the last of which may be nearly empty,
/// by what a cluster makes. `rate` is how fast the multiprocessors are with them on long products.
template <BitOperation operation, class Shape>
double cost_of(const BitLeafLaunch& launch, int device, double rate) {
    int clusters = 0;
    if (resident_clusters<BitLeaf<operation>, Shape>(device, clusters) != cudaSuccess) {
        cudaGetLastError();
        return std::numeric_limits<double>::infinity();
    }
    const std::int64_t rounds = (tiles_of<Shape>(launch) + clusters - 1) / clusters;
    return static_cast<double>(rounds) * Shape::rows * Shape::cols / rate;
}

constexpr double kSquareRate = 1.155, kPairRate = 1.12;

BitLeafLaunch columns_of(const BitLeafLaunch& launch, std::int64_t first, std::int64_t count) {
    BitLeafLaunch part = launch;
    part.n = count;
    part.b.data += first * launch.b.row_words;
    part.c = launch.operation == BitOperation::count ? static_cast<void*>(static_cast<std::int32_t*>(launch.c) + first)
                                                     : static_cast<std::uint64_t*>(launch.c) + first / 64;
    return part;
}

/// How squares of tiles and pairs of them share a product. Squares do not fill a device: where 18 multiprocessors form
/// a group, two are left over, and pairs fit there.
struct Shares {
    std::int64_t square_cols;  // the first columns; all of them: no pairs
    double cost;               // as of cost_of
};

/// The best way, if a second launch is worth it; `pairs`: how many fit beside the squares.
Shares share_out(const BitLeafLaunch& launch, int squares, int pairs) {
    if (squares == 0) {
        return {launch.n, std::numeric_limits<double>::infinity()};
    }
    constexpr double kLeastRounds = 16, kWorthIt = 0.98;
    constexpr std::int64_t kCols = SquareOfTiles::cluster_cols;
    static_assert(PairOfTiles::cluster_cols == kCols && PairOfTiles::rows == SquareOfTiles::rows);
    const auto rounds = [&](std::int64_t cluster_rows, std::int64_t tile_cols, int clusters) {
        const std::int64_t tiles = launch.batch * ((launch.m + cluster_rows - 1) / cluster_rows) * tile_cols;
        return static_cast<double>((tiles + clusters - 1) / clusters);
    };
    const auto by_squares = [&](std::int64_t tile_cols) {
        return rounds(SquareOfTiles::cluster_rows, tile_cols, squares) / kSquareRate;
    };
    const std::int64_t tile_cols = (launch.n + kCols - 1) / kCols;
    const double alone = by_squares(tile_cols);
    std::int64_t best_given = 0;
    double best = alone;
    if (pairs > 0 && rounds(SquareOfTiles::cluster_rows, tile_cols, squares) >= kLeastRounds) {
        for (std::int64_t given = 1; given < tile_cols; ++given) {
            const double by_pairs = rounds(PairOfTiles::cluster_rows, given, pairs) / kPairRate;
            const double both = std::max(by_pairs, by_squares(tile_cols - given));
            if (both < std::min(best, kWorthIt * alone)) {
                best = both;
                best_given = given;
            }
            if (by_pairs >= best) {
                break;
            }
        }
    }
    return {std::min((tile_cols - best_given) * kCols, launch.n), best * SquareOfTiles::rows * SquareOfTiles::cols};
}

template <BitOperation operation>
DeviceStatus start(const BitLeafLaunch& launch, EncodeTiled encode, cudaStream_t stream) {
    if (launch.m <= FlatTile::rows) {  // nobody to share B with
        return start<operation, FlatTile>(launch, encode, stream);
    }
    int device = 0, squares = 0, multiprocessors = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    }
    if (status != cudaSuccess) {
        return status;
    }
    if (resident_clusters<BitLeaf<operation>, SquareOfTiles>(device, squares) != cudaSuccess) {
        cudaGetLastError();
        squares = 0;
    }
    // Which tiles of a list are left is not known here, so neither is how to share them out.
    const bool listed = launch.accumulate && launch.open_tiles != nullptr;
    const int pairs = listed ? 0 : (multiprocessors - SquareOfTiles::cluster * squares) / PairOfTiles::cluster;
    const Shares shares = share_out(launch, squares, pairs);
    const double pair = cost_of<operation, PairOfTiles>(launch, device, kPairRate);
    const double small = cost_of<operation, SmallTiles>(launch, device, 1);
    if (shares.cost > pair || shares.cost > small) {
        return pair <= small ? start<operation, PairOfTiles>(launch, encode, stream)
                             : start<operation, SmallTiles>(launch, encode, stream);
    }
    const DeviceStatus started =
        start<operation, SquareOfTiles>(columns_of(launch, 0, shares.square_cols), encode, stream);
    return started != cudaSuccess || shares.square_cols == launch.n
               ? started
               : start<operation, PairOfTiles>(columns_of(launch, shares.square_cols, launch.n - shares.square_cols),
                                               encode, stream, Turn::beside, pairs);
}

}  // namespace

DeviceStatus find_bit_leaf_hopper(bool& compiled) {
    return is_compiled_for_hopper<BitLeaf<BitOperation::parity>>(compiled);
}

DeviceStatus launch_bit_leaf_hopper(const BitLeafLaunch& launch, StreamHandle stream) {
    if (launch.m == 0 || launch.n == 0 || launch.batch == 0) {
        return 0;
    }
    static const EncodeTiled encode = find_encoder();
    if (encode == nullptr) {
        return cudaErrorSymbolNotFound;
    }
    auto* const queue = static_cast<cudaStream_t>(stream);
    switch (launch.operation) {
        case BitOperation::parity:
            return start<BitOperation::parity>(launch, encode, queue);
        case BitOperation::any:
            return start<BitOperation::any>(launch, encode, queue);
        default:
            return start<BitOperation::count>(launch, encode, queue);
    }
}

}  // namespace heptad::cuda
