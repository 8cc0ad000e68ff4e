// Numbers on their way to bytes, where there are no levels: every number is read once, and lines that do not lie along
// k are turned on the way.
#pragma once

#include <algorithm>

#include "kernels/cuda/residue/residue_complex.cuh"
#include "kernels/cuda/residue/residue_integers.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kEach = 4, kTileDepth = 32 * kEach;  // neighbours along k to a lane, and to a warp
/// As many as shared memory holds.
template <class T>
constexpr int kTileLines = sizeof(T) == 16 ? 16 : 32;
template <class T>
constexpr int kOwnLines = kTileLines<T> / kWarps;  // to a warp

/// How the lines of a launch's operands are read.
struct LineWays {
    bool along_k[2], by_vectors[2];
};
template <class T>
LineWays line_ways(const ResidueConvert& launch) {
    LineWays ways{};
    for (int i = 0; i < launch.count; ++i) {
        const ResidueLines& from = launch.from[i];
        ways.along_k[i] = !(from.line_stride == 1 && from.depth_stride != 1);
        ways.by_vectors[i] = from.depth_stride == 1 &&
                             from.line_stride * static_cast<std::int64_t>(sizeof(T)) % 16 == 0 &&
                             reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0;
    }
    return ways;
}

/// A thread block to so many lines and places along k of each operand.
dim3 grid_of_tiles(const ResidueConvert& launch, int lines, int depth) {
    std::int64_t most_bytes = 0, most_lines = 0;
    for (int i = 0; i < launch.count; ++i) {
        most_bytes = std::max(most_bytes, launch.to[i].line_bytes);
        most_lines = std::max(most_lines, launch.to[i].lines);
    }
    return dim3(static_cast<unsigned>((most_bytes + depth - 1) / depth),
                static_cast<unsigned>((most_lines + lines - 1) / lines), static_cast<unsigned>(launch.count));
}

/// In shared memory.
template <class T>
struct alignas(16) NumberTile {
    T number[kTileLines<T>][kTileDepth + 4];
};

/// What the threads of a block read: some lines to a warp, of each four neighbours along k to a lane. All of them
/// construct it. Behind the last line, and behind the end of a line, are zeros.
template <class T>
struct LineReader {
    const ResidueLines& from;
    const NumberTile<T>& tile;
    const T* data;
    bool along_k, by_vectors;
    std::int64_t first_line, depth;  // of the warp and of the lane

    __device__ __forceinline__ LineReader(const ResidueLines& lines, const LineWays& ways, NumberTile<T>& turned)
        : from(lines),
          tile(turned),
          data(static_cast<const T*>(lines.data)),
          along_k(ways.along_k[blockIdx.z]),
          by_vectors(ways.by_vectors[blockIdx.z]),
          first_line(static_cast<std::int64_t>(blockIdx.y) * kTileLines<T> + own_warp() * kOwnLines<T>),
          depth(static_cast<std::int64_t>(blockIdx.x) * kTileDepth + own_lane() * kEach) {
        if (along_k) {
            return;
        }
        constexpr int kLines = kTileLines<T>, kStep = kThreads / kLines;
        const int in_tile = static_cast<int>(threadIdx.x) % kLines, place = static_cast<int>(threadIdx.x) / kLines;
        const std::int64_t line = static_cast<std::int64_t>(blockIdx.y) * kLines + in_tile;
        T kept[kTileDepth / kStep];
#pragma unroll
        for (int i = 0; i < kTileDepth / kStep; ++i) {
            kept[i] = number_at(line, static_cast<std::int64_t>(blockIdx.x) * kTileDepth + place + i * kStep);
        }
#pragma unroll
        for (int i = 0; i < kTileDepth / kStep; ++i) {
            turned.number[in_tile][place + i * kStep] = kept[i];
        }
        __syncthreads();
    }
    static __device__ __forceinline__ unsigned own_warp() {
        return threadIdx.x / 32;
    }
    static __device__ __forceinline__ unsigned own_lane() {
        return threadIdx.x % 32;
    }
    __device__ __forceinline__ T number_at(std::int64_t line, std::int64_t p) const {
        return line < from.lines && p < from.depth ? data[line * from.line_stride + p * from.depth_stride] : T{};
    }
    /// Of the warp's line `i`.
    __device__ __forceinline__ void read(int i, T (&to)[kEach]) const {
        const std::int64_t line = first_line + i;
        if (!along_k) {
#pragma unroll
            for (int e = 0; e < kEach; ++e) {
                to[e] = tile.number[own_warp() * kOwnLines<T> + i][own_lane() * kEach + e];
            }
            return;
        }
        const T* const at = data + line * from.line_stride + depth * from.depth_stride;
        if (by_vectors && line < from.lines && depth + kEach <= from.depth) {
#pragma unroll
            for (int v = 0; v < static_cast<int>(sizeof(to)) / 16; ++v) {
                reinterpret_cast<uint4*>(to)[v] = __ldg(reinterpret_cast<const uint4*>(at) + v);
            }
            return;
        }
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            to[e] = line < from.lines && depth + e < from.depth ? at[e * from.depth_stride] : T{};
        }
    }
};

/// Of four neighbours.
template <class Integer, class Constants>
__device__ __forceinline__ unsigned four_residues(const Integer (&integers)[kEach], const Constants& constants, int t) {
    unsigned bytes[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        bytes[e] = integers[e].modulo(constants, t);
    }
    return lowest_bytes(bytes);
}

/// All residues of a few lines' neighbours, of which there are `lines`.
template <int Lines, class Integer, class Constants>
__device__ __forceinline__ void store_residues(const Integer (&integers)[Lines][kEach], int lines, int taken,
                                               const Constants& constants, std::uint8_t* to, const BytePlanes& planes) {
    for (int t = 0; t < taken; ++t) {
#pragma unroll
        for (int i = 0; i < Lines; ++i) {
            const unsigned bytes = four_residues(integers[i], constants, t);
            if (i < lines) {
                *reinterpret_cast<unsigned*>(to + i * planes.line_bytes) = bytes;
            }
        }
        to += planes.plane_bytes;
    }
}

}  // namespace
}  // namespace heptad::cuda
