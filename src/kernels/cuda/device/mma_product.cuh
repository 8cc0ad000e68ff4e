// C = A * B' by warp products of the tensor cores that all chips from compute capability 8.0 on have, of whatever a
// leaf multiplies in lines of bytes along k. A block makes 128 x 256 of C, a warp 32 x 128; shared memory is a ring of
// four stages of 64 bytes of k, filled by asynchronous copies: 96 KiB, which the smallest of those chips have.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace heptad::cuda {
namespace {

struct MmaShape {
    static constexpr int rows = 128, cols = 256, warp_rows = 32, warp_cols = 128, warps_down = rows / warp_rows;
    static constexpr int threads = 32 * warps_down * (cols / warp_cols);
    static constexpr int step_bytes = 64, pieces = step_bytes / 16, stages = 4;  // of k, per stage
    static constexpr int a_bytes = rows * step_bytes, stage_bytes = a_bytes + cols * step_bytes;
    static constexpr int shared_bytes = stages * stage_bytes;
};
static_assert(MmaShape::shared_bytes <= 99 << 10);

/// One line for each row or column of C, in several blocks. Lines and blocks begin on 16-byte boundaries.
struct MmaLines {
    const void* data;
    std::int64_t lines, line_distance, block_distance;  // in bytes
};

struct MmaOperands {
    MmaLines a, b;
    std::int64_t line_bytes;  // of k that there are
    int steps;
    unsigned tile_cols;  // of C

    MmaOperands(const MmaLines& of_a, const MmaLines& of_b, std::int64_t bytes)
        : a(of_a),
          b(of_b),
          line_bytes(bytes),
          steps(static_cast<int>((bytes + MmaShape::step_bytes - 1) / MmaShape::step_bytes)),
          tile_cols(tiles(of_b.lines, MmaShape::cols)) {}
    static unsigned tiles(std::int64_t lines, int of_tile) {
        return static_cast<unsigned>((lines + of_tile - 1) / of_tile);
    }
    /// Tiles are numbered along one side of the grid: the others are too short for the rows of a tall matrix.
    dim3 grid(std::int64_t blocks) const {
        return dim3(tile_cols * tiles(a.lines, MmaShape::rows), static_cast<unsigned>(blocks));
    }
};

/// Where 16-byte piece `piece` of a line lies: eight lines of one piece are in eight different groups of banks.
__device__ __forceinline__ std::uint32_t mma_place(int line, int piece) {
    return static_cast<std::uint32_t>(line * MmaShape::step_bytes + (piece ^ (line / 2 % MmaShape::pieces)) * 16);
}

/// Starts the copy of `lines` lines of a stage; what lies outside of the matrix becomes zero.
template <int lines>
__device__ __forceinline__ void mma_fetch(const MmaLines& from, std::int64_t first, std::int64_t block,
                                          std::int64_t byte, std::int64_t line_bytes, std::uint32_t to) {
    const auto* const data = static_cast<const unsigned char*>(from.data) + block * from.block_distance;
#pragma unroll
    for (int i = 0; i < lines * MmaShape::pieces / MmaShape::threads; ++i) {
        const int at = i * MmaShape::threads + static_cast<int>(threadIdx.x);
        const int line = at / MmaShape::pieces, piece = at % MmaShape::pieces;
        const std::int64_t left = line_bytes - byte - piece * 16;
        const bool there = first + line < from.lines && left > 0;
        const unsigned char* const source =
            there ? data + (first + line) * from.line_distance + byte + piece * 16 : data;
        const int bytes = !there ? 0 : left < 16 ? static_cast<int>(left) : 16;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + mma_place(line, piece)), "l"(source),
                     "r"(bytes)
                     : "memory");
    }
}

__device__ __forceinline__ void mma_load(std::uint32_t (&x)[4], std::uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
}

/// The first row and column of C that a warp makes.
struct MmaPlace {
    std::int64_t block, row, col;
};

/// What the warp's place in the grid is, and its sums: 16 rows in each of d. Lane 4 g + q has of every eight columns j
/// columns 8 j + 2 q and 8 j + 2 q + 1 of row g in d[4 j] and d[4 j + 1], and of row g + 8 behind them. `product(d, a,
/// b0, b1)` adds those of 16 rows by eight columns over 32 bytes of k.
template <class Product>
__device__ __forceinline__ MmaPlace multiply_by_warps(const MmaOperands& from, int (&d)[2][MmaShape::warp_cols / 2],
                                                      const Product& product) {
    using Shape = MmaShape;
    extern __shared__ __align__(128) unsigned char shared_ring[];
    const auto ring = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_ring));
    const std::int64_t row = blockIdx.x / from.tile_cols * std::int64_t{Shape::rows};
    const std::int64_t col = blockIdx.x % from.tile_cols * std::int64_t{Shape::cols}, block = blockIdx.y;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int warp_row = warp % Shape::warps_down * Shape::warp_rows;
    const int warp_col = warp / Shape::warps_down * Shape::warp_cols;
    const auto start_stage = [&](int step) {
        if (step < from.steps) {
            const std::uint32_t to = ring + static_cast<std::uint32_t>(step % Shape::stages * Shape::stage_bytes);
            const std::int64_t byte = static_cast<std::int64_t>(step) * Shape::step_bytes;
            mma_fetch<Shape::rows>(from.a, row, block, byte, from.line_bytes, to);
            mma_fetch<Shape::cols>(from.b, col, block, byte, from.line_bytes, to + Shape::a_bytes);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");  // an empty one keeps the count
    };
    for (int step = 0; step < Shape::stages - 1; ++step) {
        start_stage(step);
    }
    for (int step = 0; step < from.steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(Shape::stages - 2) : "memory");
        __syncthreads();
        start_stage(step + Shape::stages - 1);
        const std::uint32_t at_a = ring + static_cast<std::uint32_t>(step % Shape::stages * Shape::stage_bytes);
        const std::uint32_t at_b = at_a + Shape::a_bytes;
#pragma unroll
        for (int half = 0; half < Shape::step_bytes / 32; ++half) {
            // Four matrices of 8 lines x 16 bytes: for A lines 0-7 and 8-15, then their next 16 bytes; for B lines 0-7
            // with both pieces, then lines 8-15.
            std::uint32_t a[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                mma_load(a[i], at_a + mma_place(warp_row + 16 * i + lane % 16, 2 * half + lane / 16));
            }
#pragma unroll
            for (int j = 0; j < Shape::warp_cols / 16; ++j) {
                std::uint32_t b[4];
                mma_load(b, at_b + mma_place(warp_col + 16 * j + lane % 8 + lane / 16 * 8, 2 * half + lane / 8 % 2));
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    product(d[i] + 8 * j, a[i], b[0], b[1]);
                    product(d[i] + 8 * j + 4, a[i], b[2], b[3]);
                }
            }
        }
    }
    return {block, row + warp_row, col + warp_col};
}

/// A launch of `kernel`, which calls multiply_by_warps().
template <class Arguments>
cudaError_t launch_by_warps(void (*kernel)(Arguments), const Arguments& args, const dim3& grid, cudaStream_t stream) {
    const cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MmaShape::shared_bytes);
    if (status != cudaSuccess) {
        return status;
    }
    kernel<<<grid, MmaShape::threads, MmaShape::shared_bytes, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace
}  // namespace heptad::cuda
