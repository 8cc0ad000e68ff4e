// C = A * B' of bits on Hopper: counts of common ones by warpgroup products of the binary tensor cores (AND and POPC),
// packed to bits in registers, so that no count reaches memory unless counts are asked for.
#pragma once

#include "kernels/cuda/bits/bit_open_tiles.cuh"
#include "kernels/cuda/device/hopper_product.cuh"

namespace heptad::cuda {
namespace {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <BitOperation operation>
__device__ __forceinline__ void store_tile(const LeafResult& c, std::int64_t block, std::int64_t row, std::int64_t col,
                                           const int (&d)[1][128]) {
    if constexpr (operation == BitOperation::count) {
        store_counts<32>(c, block, row, col, d[0]);
    } else {
        const int lane = static_cast<int>(threadIdx.x) % 32, q = lane % 4;
        store_bits<operation>(c, block, row + lane / 4 + 8 * (q % 2), col + 128 * (q / 2),
                              pack_16x256<operation>(d[0]));
    }
}
template <BitOperation operation>
__device__ __forceinline__ void store_tile(const LeafResult& c, std::int64_t block, std::int64_t row, std::int64_t col,
                                           const int (&d)[2][96]) {
    if constexpr (operation == BitOperation::count) {
        store_counts<24>(c, block, row, col, d[0]);
        store_counts<24>(c, block, row + 64, col, d[1]);
    } else {
        const int lane = static_cast<int>(threadIdx.x) % 32, q = lane % 4;
        const std::int64_t own_row = row + lane / 4 + 8 * (q % 2) + 64 * (q / 2);
        store_bits<operation>(c, block, own_row, col, pack_32x128<operation>(d));
        store_bits<operation>(c, block, own_row, col + 128, pack_next_32x64<operation>(d));
    }
}

#endif

template <BitOperation operation>
struct BitLeaf {
    struct Arguments {
        LeafResult c;
        TileOrder order;  // of clusters
        int steps;        // of k
        OpenTiles open;   // those that are to be made; null: all of them
    };
    static constexpr bool stores_row_blocks = false;  // words are packed from both
    static constexpr bool has_narrow_tiles = false;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    static __device__ __forceinline__ std::int64_t tile_count(const Arguments& args) {
        return operation == BitOperation::any && args.open != nullptr ? args.open[0] : args.order.tiles;
    }
    static __device__ __forceinline__ TilePlace tile_to_make(const Arguments& args, std::int64_t index) {
        return tile_at(args.order,
                       operation == BitOperation::any && args.open != nullptr ? args.open[1 + index] : index);
    }
    template <int Count>
    static __device__ __forceinline__ void multiply(int (&d)[Count], std::uint64_t a, std::uint64_t b, int adds) {
        multiply_bits(d, a, b, adds);
    }
    template <int Blocks, int Count>
    static __device__ __forceinline__ void store(const Arguments& args, std::int64_t block, std::int64_t row,
                                                 std::int64_t col, const int (&d)[Blocks][Count]) {
        store_tile<operation>(args.c, block, row, col, d);
    }
#endif
};

}  // namespace
}  // namespace heptad::cuda
