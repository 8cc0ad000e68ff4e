// What kernels that make bytes of numbers with levels inside share: tiles of all blocks of an operand, and the residues
// of the sums of blocks.
#pragma once

#include "base/moduli.hpp"
#include "kernels/cuda/residue/residue_levels.cuh"
#include "kernels/cuda/residue/residue_loads.cuh"

namespace heptad::cuda {
namespace {

constexpr int kBlockLines = kNumberTileLines, kBlockDepth = 64;  // of each block
static_assert(kBlockLines * kBlockDepth == kThreads * kEach);

/// Numbers as they wait for their residues.
template <class Kept>
using Tile = Kept[kBlockLines][kNumberTilePitch];

/// What `value` gives for the lines of every block; 0 behind the last one.
template <int Levels, class Value>
__device__ __forceinline__ void note_lines(const ResidueLines& from, const BytePlanes& to_planes,
                                           int (*noted)[kBlockLines], const Value& value) {
    const int tid = static_cast<int>(threadIdx.x);
    if (tid < kSideBlocks<Levels> * kBlockLines) {
        const std::int64_t in_block = static_cast<std::int64_t>(blockIdx.y) * kBlockLines + tid % kBlockLines;
        const std::int64_t line = tid / kBlockLines * to_planes.lines + in_block;
        const bool inside = in_block < to_planes.lines && line < from.lines;
        noted[tid / kBlockLines][tid % kBlockLines] = inside ? value(line) : 0;
    }
    __syncthreads();
}

/// The numbers of one block's tile, as `keep(number, line of the tile, place along k)` makes them.
template <class T, class Kept, class Keep>
__device__ __forceinline__ void load_tile(const ResidueLines& from, std::int64_t first_line, std::int64_t line_end,
                                          std::int64_t first_depth, std::int64_t depth_end, Tile<Kept>& tile,
                                          const Keep& keep) {
    const auto* const data = static_cast<const T*>(from.data);
    const bool along_k = !(from.line_stride == 1 && from.depth_stride != 1);
    T kept[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        const int i = static_cast<int>(threadIdx.x) + e * kThreads;
        const int line = along_k ? i / kBlockDepth : i % kBlockLines, p = along_k ? i % kBlockDepth : i / kBlockLines;
        const bool inside =
            first_line + line < min(from.lines, line_end) && first_depth + p < min(from.depth, depth_end);
        kept[e] = inside ? data[(first_line + line) * from.line_stride + (first_depth + p) * from.depth_stride] : T(0);
    }
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        const int i = static_cast<int>(threadIdx.x) + e * kThreads;
        const int line = along_k ? i / kBlockDepth : i % kBlockLines, p = along_k ? i % kBlockDepth : i / kBlockLines;
        tile[line][p] = keep(kept[e], line, first_depth + p);
    }
}

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

/// All blocks of a thread block's tile, and the residues of their sums. `keep` takes the row of blocks, too.
template <class T, int Levels, class Integer, class Kept, class Constants, class Keep>
__device__ __forceinline__ void convert_tile(const ResidueConvert& launch, int taken, const Constants& constants,
                                             Tile<Kept>* tiles, const Keep& keep) {
    constexpr int kSide = kSideBlocks<Levels>;
    const ResidueLines& from = launch.from[blockIdx.z];
    const BytePlanes& to_planes = launch.to[blockIdx.z];
    const std::int64_t first_line = static_cast<std::int64_t>(blockIdx.y) * kBlockLines;
    const std::int64_t first_depth = static_cast<std::int64_t>(blockIdx.x) * kBlockDepth;
    for (int block = 0; block < kBlocks<Levels>; ++block) {
        const std::int64_t line = block / kSide * to_planes.lines, depth = block % kSide * to_planes.line_bytes;
        load_tile<T, Kept>(from, line + first_line, line + to_planes.lines, depth + first_depth,
                           depth + to_planes.line_bytes, tiles[block],
                           [&](T x, int own_line, std::int64_t p) { return keep(x, block / kSide, own_line, p); });
    }
    __syncthreads();
    const int tid = static_cast<int>(threadIdx.x);
    const int own_line = tid / (kBlockDepth / kEach), own_depth = tid % (kBlockDepth / kEach) * kEach;
    if (first_line + own_line >= to_planes.lines || first_depth + own_depth >= to_planes.line_bytes) {
        return;
    }
    std::uint8_t* const to = to_planes.data + (first_line + own_line) * to_planes.line_bytes + first_depth + own_depth;
    if (launch.operand[blockIdx.z] == 1) {
        store_sums<true, Levels, Integer, Kept>(tiles, own_line, own_depth, taken, constants, to,
                                                to_planes.plane_bytes);
    } else {
        store_sums<false, Levels, Integer, Kept>(tiles, own_line, own_depth, taken, constants, to,
                                                 to_planes.plane_bytes);
    }
}

/// Is there something of the operand in this thread block's tile?
__device__ __forceinline__ bool has_tile(const BytePlanes& to_planes) {
    return blockIdx.y * std::int64_t{kBlockLines} < to_planes.lines &&
           blockIdx.x * std::int64_t{kBlockDepth} < to_planes.line_bytes;
}

/// A launch with tiles of so many bytes in all.
template <class Arguments>
DeviceStatus start_tiles(void (*kernel)(Arguments), const ResidueConvert& launch, const Arguments& args,
                         std::size_t shared_bytes, StreamHandle stream) {
    const cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
    if (status != cudaSuccess) {
        return status;
    }
    kernel<<<grid_of_tiles(launch, kBlockLines, kBlockDepth), kThreads, shared_bytes,
             static_cast<cudaStream_t>(stream)>>>(args);
    return cudaGetLastError();
}

}  // namespace
}  // namespace heptad::cuda
