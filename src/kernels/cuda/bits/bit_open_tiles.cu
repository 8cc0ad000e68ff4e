#include "kernels/cuda/bits/bit_open_tiles.cuh"

namespace heptad::cuda {
namespace {

constexpr int kScanThreads = 256, kCollectThreads = 1024, kWarps = kCollectThreads / 32;

/// list[1 + t] = whether tile t has a zero, one block for each.
__global__ void __launch_bounds__(kScanThreads)
    scan_tiles(const LeafResult c, const TileOrder order, int rows, int cols, OpenTiles list) {
    const TilePlace tile = tile_at(order, blockIdx.x);
    const std::int64_t first_row = tile.row * rows, first_word = tile.col * cols / 64;
    const auto used_rows = static_cast<int>(min(static_cast<std::int64_t>(rows), c.m - first_row));
    const auto used_words = static_cast<int>(min(static_cast<std::int64_t>(cols / 64), (c.n + 63) / 64 - first_word));
    const std::uint64_t* const words =
        static_cast<const std::uint64_t*>(c.data) + tile.block * c.block_stride + first_row * c.row_stride + first_word;
    bool full = true;
    for (int i = static_cast<int>(threadIdx.x); full && i < used_rows * used_words; i += kScanThreads) {
        const int row = i / used_words, word = i - row * used_words;
        const std::int64_t bits = c.n - (first_word + word) * 64;
        const std::uint64_t beyond = bits >= 64 ? 0 : ~std::uint64_t{0} << bits;
        full = (words[row * c.row_stride + word] | beyond) == ~std::uint64_t{0};
    }
    const bool all_full = __syncthreads_and(full ? 1 : 0) != 0;
    if (threadIdx.x == 0) {
        list[1 + blockIdx.x] = all_full ? 0 : 1;
    }
}

/// From that to the numbers of the open ones and their count, in place: what is written lies before what is still to
/// be read.
__global__ void __launch_bounds__(kCollectThreads) collect_tiles(std::uint32_t tiles, OpenTiles list) {
    __shared__ std::uint32_t of_warp[kWarps];
    const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    std::uint32_t found = 0;
    for (std::int64_t first = 0; first < tiles; first += kCollectThreads) {
        const std::int64_t tile = first + threadIdx.x;
        const bool open = tile < tiles && list[1 + tile] != 0;
        const std::uint32_t votes = __ballot_sync(0xffffffffU, open);
        if (lane == 0) {
            of_warp[warp] = __popc(votes);
        }
        __syncthreads();  // also: all of these have been read
        std::uint32_t before = 0, all = 0;
        for (std::uint32_t other = 0; other < kWarps; ++other) {
            before += other < warp ? of_warp[other] : 0;
            all += of_warp[other];
        }
        if (open) {
            list[1 + found + before + __popc(votes & ((1U << lane) - 1))] = static_cast<std::uint32_t>(tile);
        }
        found += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        list[0] = found;
    }
}

}  // namespace

cudaError_t find_open_tiles(const LeafResult& c, const TileOrder& order, int rows, int cols, OpenTiles list,
                            cudaStream_t stream) {
    const auto tiles = static_cast<std::uint32_t>(order.tiles);
    scan_tiles<<<tiles, kScanThreads, 0, stream>>>(c, order, rows, cols, list);
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
        return status;
    }
    collect_tiles<<<1, kCollectThreads, 0, stream>>>(tiles, list);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
