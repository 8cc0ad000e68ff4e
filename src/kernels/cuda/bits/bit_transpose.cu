// target = the transpose of a sum of windows, in squares of 512 x 512 bits. Rows are read and written 64 bytes at a
// time; in between, every thread turns 32 x 32 bits in its registers. Shared memory is laid out so that neither way has
// two threads of a warp in one bank.
#include "kernels/cuda/bits/bit_windows.cuh"

namespace heptad::cuda {
namespace {

constexpr int kTurnThreads = 256;
constexpr int kSquare = 512;
constexpr int kWords = kSquare / 32;         // 32-bit words of a row of the square
constexpr int kRowPieces = kSquare / 128;    // 16-byte pieces of a row
constexpr int kColumnPitch = kSquare + 18;   // of a column of words: one word in between every 32, and 2 mod 32 in all
constexpr int kBandPitch = 32 * kWords + 2;  // of 32 rows of the result

struct TransposeArguments {
    DeviceWindows source;
    uint4* target;
    std::int64_t rows, across;  // of the target, in 16-byte pieces
    unsigned squares;           // along a row of the source
};

/// Bit j of word i becomes bit i of word j.
__device__ __forceinline__ void transpose_32x32(std::uint32_t (&x)[32]) {
    std::uint32_t mask = 0x0000ffffU;
#pragma unroll
    for (int side = 16; side > 0; side /= 2, mask ^= mask << side) {
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            if ((i & side) == 0) {
                const std::uint32_t t = ((x[i] >> side) ^ x[i + side]) & mask;
                x[i + side] ^= t;
                x[i] ^= t << side;
            }
        }
    }
}

__global__ void __launch_bounds__(kTurnThreads, 2) transpose(const __grid_constant__ TransposeArguments args) {
    __shared__ std::uint32_t words[kWords * kColumnPitch];
    static_assert(kWords * kBandPitch <= kWords * kColumnPitch);
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t source_row = blockIdx.x / args.squares * std::int64_t{kSquare};
    const std::int64_t source_col = blockIdx.x % args.squares * std::int64_t{kSquare};
    uint4 pieces[kSquare * kRowPieces / kTurnThreads] = {};
    for (int window = 0; window < args.source.windows.count; ++window) {
#pragma unroll
        for (int i = 0; i < kSquare * kRowPieces / kTurnThreads; ++i) {
            const int at = i * kTurnThreads + thread;
            pieces[i] = pieces[i] ^ load_window<false>(args.source, window, 0, source_row + at / kRowPieces,
                                                       source_col / 64 + 2 * (at % kRowPieces));
        }
    }
#pragma unroll
    for (int i = 0; i < kSquare * kRowPieces / kTurnThreads; ++i) {
        const int row = (i * kTurnThreads + thread) / kRowPieces, word = 4 * (thread % kRowPieces);
        std::uint32_t* const to = words + word * kColumnPitch + row + row / 32;
        to[0] = pieces[i].x;
        to[kColumnPitch] = pieces[i].y;
        to[2 * kColumnPitch] = pieces[i].z;
        to[3 * kColumnPitch] = pieces[i].w;
    }
    __syncthreads();
    const int word = thread % kWords, band = thread / kWords;  // 32 columns and 32 rows of the source
    std::uint32_t square[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
        square[i] = words[word * kColumnPitch + band * 33 + i];
    }
    transpose_32x32(square);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; ++i) {
        words[word * kBandPitch + i * kWords + band] = square[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSquare * kRowPieces / kTurnThreads; ++i) {
        const int at = i * kTurnThreads + thread, row = at / kRowPieces, piece = at % kRowPieces;
        const auto* const from =
            reinterpret_cast<const uint2*>(words + row / 32 * kBandPitch + row % 32 * kWords + 4 * piece);
        const uint2 low = from[0], high = from[1];
        const std::int64_t to_row = source_col + row, to_piece = source_row / 128 + piece;
        if (to_row < args.rows && to_piece < args.across) {
            args.target[to_row * args.across + to_piece] = {low.x, low.y, high.x, high.y};
        }
    }
}

}  // namespace

DeviceStatus launch_bit_transpose(const BitTransposeLaunch& launch, StreamHandle stream) {
    if (launch.rows == 0 || launch.words == 0) {
        return 0;
    }
    const auto across = static_cast<unsigned>((launch.rows + kSquare - 1) / kSquare);
    const auto down = static_cast<unsigned>((64 * launch.words + kSquare - 1) / kSquare);
    const TransposeArguments args{device_windows(launch.source), reinterpret_cast<uint4*>(launch.target), launch.rows,
                                  launch.words / 2, across};
    transpose<<<across * down, kTurnThreads, 0, static_cast<cudaStream_t>(stream)>>>(args);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
