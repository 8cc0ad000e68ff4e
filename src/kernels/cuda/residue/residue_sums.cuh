// What kernels that make bytes of numbers with levels inside share: tiles of all blocks of an operand, and the residues
// of the sums of blocks.
#pragma once

#include "base/moduli.hpp"
#include "kernels/cuda/residue/residue_levels.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kEach = 4;
constexpr int kTileLines = kNumberTileLines, kTileDepth = 64;  // of each block
static_assert(kTileLines * kTileDepth == kThreads * kEach);

/// Numbers as they wait for their residues.
template <class Kept>
using Tile = Kept[kTileLines][kNumberTilePitch];

/// Of four neighbours in every block, the residues of all sums.
template <bool OfB, int Levels, class Integer, class Kept, class Constants>
__device__ __forceinline__ void store_sums(const Tile<Kept>* tiles, int line, int depth, int taken,
                                           const Constants& constants, std::uint8_t* to, std::int64_t plane_bytes) {
    constexpr int kSide = kSideBlocks<Levels>;
    for (int t = 0; t < taken; ++t) {
        Four blocks[kBlocks<Levels>];
#pragma unroll
        for (int block = 0; block < kBlocks<Levels>; ++block) {
            // Lines of B are its columns: the block below another is beside it here.
            const int place = OfB ? block % kSide * kSide + block / kSide : block;
            alignas(16) Kept numbers[kEach];
#pragma unroll
            for (int v = 0; v < static_cast<int>(sizeof(numbers)) / 16; ++v) {
                reinterpret_cast<uint4*>(numbers)[v] = reinterpret_cast<const uint4*>(&tiles[place][line][depth])[v];
            }
            unsigned bytes[kEach];
#pragma unroll
            for (int e = 0; e < kEach; ++e) {
                bytes[e] = Integer(numbers[e]).modulo(constants, t);
            }
            blocks[block] = four_of_bytes(lowest_bytes(bytes) ^ 0x80808080U);
        }
        const ByteRemainder remainder(constants, t);
        const auto store = [&](const Four(&sums)[kWinogradProducts], bool of_blocks) {
#pragma unroll
            for (int r = 0; r < kWinogradProducts; ++r) {
                *reinterpret_cast<unsigned*>(to) =
                    of_blocks && is_one_block(OfB, r) ? ByteRemainder::as_it_is(sums[r]) : remainder.of(sums[r]);
                to += plane_bytes;
            }
        };
        if constexpr (Levels == 1) {
            Four sums[kWinogradProducts];
            winograd_sums<OfB>(blocks[0], blocks[1], blocks[2], blocks[3], sums);
            store(sums, true);
        } else {
            FourBlocks<Four> outer[kWinogradProducts];
            winograd_sums<OfB>(block_of_blocks<Levels>(blocks, 0, 0), block_of_blocks<Levels>(blocks, 0, 1),
                               block_of_blocks<Levels>(blocks, 1, 0), block_of_blocks<Levels>(blocks, 1, 1), outer);
#pragma unroll
            for (int r = 0; r < kWinogradProducts; ++r) {
                Four sums[kWinogradProducts];
                winograd_sums<OfB>(outer[r].block[0], outer[r].block[1], outer[r].block[2], outer[r].block[3], sums);
                store(sums, is_one_block(OfB, r));
            }
        }
    }
}

}  // namespace
}  // namespace heptad::cuda
