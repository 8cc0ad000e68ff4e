// C = A * B' of bits without tensor cores: words of A and B are ANDed, and XORed (parity), ORed (any) or counted into a
// register for each bit of C, one instruction for 32 bits of k but for counts. The portable path, and the cross-check
// of the others. A block makes 128 x 128 of C, a thread 8 x 8.
#include "kernels/cuda/bits/bit_leaf_pack.cuh"

namespace heptad::cuda {
namespace {

constexpr int kSide = 128;         // of a tile
constexpr int kEach = 8;           // rows and columns of a thread
constexpr int kTileThreads = 256;  // 16 x 16
constexpr int kStep = 32;          // 32-bit words of k at a time
constexpr int kPitch = kStep + 1;  // neighbouring rows lie in different banks

struct WordArguments {
    LeafResult c;
    BitBlocks a, b;
    std::int64_t words;  // of k that there are, 32 bits each
    unsigned tile_cols;  // of C
};

template <int rows>
__device__ __forceinline__ void fetch_words(const BitBlocks& from, std::int64_t first, std::int64_t count,
                                            std::int64_t block, std::int64_t word, std::int64_t words,
                                            std::uint32_t* to) {
    const auto* const data = reinterpret_cast<const std::uint32_t*>(from.data + block * from.block_words);
#pragma unroll
    for (int i = 0; i < rows * kStep / kTileThreads; ++i) {
        const int at = i * kTileThreads + static_cast<int>(threadIdx.x), row = at / kStep, offset = at % kStep;
        const bool there = first + row < count && word + offset < words;
        to[row * kPitch + offset] = there ? data[(first + row) * from.row_words * 2 + word + offset] : 0;
    }
}

template <BitOperation operation>
__global__ void __launch_bounds__(kTileThreads, 2) multiply_words(const __grid_constant__ WordArguments args) {
    __shared__ std::uint32_t a[kSide * kPitch], b[kSide * kPitch];
    // Tiles are numbered along one side of the grid: the others are too short for the rows of a tall matrix.
    const std::int64_t row = blockIdx.x / args.tile_cols * std::int64_t{kSide};
    const std::int64_t col = blockIdx.x % args.tile_cols * std::int64_t{kSide}, block = blockIdx.y;
    const int across = static_cast<int>(threadIdx.x) % 16, down = static_cast<int>(threadIdx.x) / 16;
    std::uint32_t d[kEach][kEach] = {};  // row down * 8 + i, column across + 16 j
    for (std::int64_t word = 0; word < args.words; word += kStep) {
        fetch_words<kSide>(args.a, row, args.c.m, block, word, args.words, a);
        fetch_words<kSide>(args.b, col, args.c.n, block, word, args.words, b);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < kStep; ++k) {
            std::uint32_t x[kEach], y[kEach];
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                x[i] = a[(down * kEach + i) * kPitch + k];
                y[i] = b[(across + 16 * i) * kPitch + k];
            }
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
#pragma unroll
                for (int j = 0; j < kEach; ++j) {
                    if constexpr (operation == BitOperation::parity) {
                        d[i][j] ^= x[i] & y[j];
                    } else if constexpr (operation == BitOperation::any) {
                        d[i][j] |= x[i] & y[j];
                    } else {
                        d[i][j] += static_cast<std::uint32_t>(__popc(x[i] & y[j]));
                    }
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        const std::int64_t own_row = row + down * kEach + i;
        if constexpr (operation == BitOperation::count) {
            if (own_row < args.c.m) {
                auto* const target =
                    static_cast<std::int32_t*>(args.c.data) + block * args.c.block_stride + own_row * args.c.row_stride;
#pragma unroll
                for (int j = 0; j < kEach; ++j) {
                    const std::int64_t own_col = col + across + 16 * j;
                    if (own_col < args.c.n) {
                        target[own_col] =
                            static_cast<std::int32_t>(d[i][j]) + (args.c.accumulate ? target[own_col] : 0);
                    }
                }
            }
        } else {
            // The lower half of a warp has 16 columns of one row, the upper half those of another.
            std::uint32_t bits[4] = {};
            const int shift = static_cast<int>(threadIdx.x) % 32 / 16 * 16;
#pragma unroll
            for (int j = 0; j < kEach; ++j) {
                const bool bit = operation == BitOperation::parity ? __popc(d[i][j]) % 2 != 0 : d[i][j] != 0;
                bits[j / 2] |= (__ballot_sync(0xffffffffU, bit) >> shift & 0xffffU) << j % 2 * 16;
            }
            if (across == 0) {
                store_bits<operation>(args.c, block, own_row, col, {bits[0], bits[1], bits[2], bits[3]});
            }
        }
    }
}

}  // namespace

DeviceStatus launch_bit_leaf_words(const BitLeafLaunch& launch, StreamHandle stream) {
    if (launch.m == 0 || launch.n == 0 || launch.batch == 0) {
        return 0;
    }
    const WordArguments args{leaf_result(launch), launch.a, launch.b, (launch.k + 63) / 64 * 2,
                             static_cast<unsigned>((launch.n + kSide - 1) / kSide)};
    const dim3 grid(args.tile_cols * static_cast<unsigned>((launch.m + kSide - 1) / kSide),
                    static_cast<unsigned>(launch.batch));
    auto* const queue = static_cast<cudaStream_t>(stream);
    switch (launch.operation) {
        case BitOperation::parity:
            multiply_words<BitOperation::parity><<<grid, kTileThreads, 0, queue>>>(args);
            break;
        case BitOperation::any:
            multiply_words<BitOperation::any><<<grid, kTileThreads, 0, queue>>>(args);
            break;
        default:
            multiply_words<BitOperation::count><<<grid, kTileThreads, 0, queue>>>(args);
            break;
    }
    return cudaGetLastError();
}

}  // namespace heptad::cuda
