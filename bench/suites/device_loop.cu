// A tile of C to a block, 8 x 4 entries of it to a thread, slices of A and B in shared memory with the next ones on
// their way from memory.
//
// With x = x1 2^32 + x0, modulo 2^64: x y = x0 y0 + 2^32 (x0 y1 + x1 y0). The cross products are added to the upper
// word of a sum, so that a multiplication takes three instructions, and no addition.
#include "bench/suites/device_loop.hpp"

namespace heptad::cli {
namespace {

using Word = unsigned long long;

constexpr int kThreads = 128, kRows = 64, kCols = 64, kDepth = 8;
constexpr int kOwnRows = 8, kOwnCols = 4;  // of a thread: rows in two halves, so that 16 bytes are read at a time
constexpr int kThreadsAcross = kCols / kOwnCols;
constexpr int kOfA = kRows * kDepth / kThreads, kOfB = kCols * kDepth / kThreads;
static_assert(kRows / kOwnRows * kThreadsAcross == kThreads);

struct LoopArguments {
    const Word* a;
    const Word* b;
    Word* c;
    std::int64_t m, k, n, a_stride, b_stride, c_stride, tiles_across;
};

/// Spelled out: the compiler would make a product and an addition of it.
__device__ __forceinline__ void add_product(Word& sum, Word x, Word y) {
    asm("{\n"
        " .reg .u32 x0, x1, y0, y1, low, high;\n"
        " mov.b64 {x0, x1}, %1;\n"
        " mov.b64 {y0, y1}, %2;\n"
        " mad.wide.u32 %0, x0, y0, %0;\n"
        " mov.b64 {low, high}, %0;\n"
        " mad.lo.u32 high, x0, y1, high;\n"
        " mad.lo.u32 high, x1, y0, high;\n"
        " mov.b64 %0, {low, high};\n"
        "}"
        : "+l"(sum)
        : "l"(x), "l"(y));
}

/// Row or column `i` of those of a thread, within the tile.
__device__ __forceinline__ int own_row(int thread, int i) {
    return i / 4 * (kRows / 2) + thread / kThreadsAcross * 4 + i % 4;
}
__device__ __forceinline__ int own_col(int thread, int j) {
    return j / 2 * (kCols / 2) + thread % kThreadsAcross * 2 + j % 2;
}

__global__ void __launch_bounds__(kThreads, 3) multiply_words(const __grid_constant__ LoopArguments args) {
    __shared__ __align__(16) Word slice_a[kDepth][kRows + 2];
    __shared__ __align__(16) Word slice_b[kDepth][kCols];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t row0 = blockIdx.x / args.tiles_across * kRows, col0 = blockIdx.x % args.tiles_across * kCols;
    Word next_a[kOfA], next_b[kOfB];
    const auto load = [&](std::int64_t depth) {
#pragma unroll
        for (int i = 0; i < kOfA; ++i) {
            const int at = thread + i * kThreads;
            const std::int64_t row = row0 + at / kDepth, p = depth + at % kDepth;
            next_a[i] = row < args.m && p < args.k ? __ldg(args.a + row * args.a_stride + p) : 0;
        }
#pragma unroll
        for (int i = 0; i < kOfB; ++i) {
            const int at = thread + i * kThreads;
            const std::int64_t p = depth + at / kCols, col = col0 + at % kCols;
            next_b[i] = p < args.k && col < args.n ? __ldg(args.b + p * args.b_stride + col) : 0;
        }
    };
    Word sums[kOwnRows][kOwnCols] = {};
    load(0);
    for (std::int64_t depth = 0; depth < args.k; depth += kDepth) {
#pragma unroll
        for (int i = 0; i < kOfA; ++i) {
            const int at = thread + i * kThreads;
            slice_a[at % kDepth][at / kDepth] = next_a[i];
        }
#pragma unroll
        for (int i = 0; i < kOfB; ++i) {
            const int at = thread + i * kThreads;
            slice_b[at / kCols][at % kCols] = next_b[i];
        }
        __syncthreads();
        if (depth + kDepth < args.k) {
            load(depth + kDepth);
        }
#pragma unroll
        for (int p = 0; p < kDepth; ++p) {
            Word left[kOwnRows], right[kOwnCols];
#pragma unroll
            for (int i = 0; i < kOwnRows; i += 2) {
                *reinterpret_cast<ulonglong2*>(left + i) =
                    *reinterpret_cast<const ulonglong2*>(&slice_a[p][own_row(thread, i)]);
            }
#pragma unroll
            for (int j = 0; j < kOwnCols; j += 2) {
                *reinterpret_cast<ulonglong2*>(right + j) =
                    *reinterpret_cast<const ulonglong2*>(&slice_b[p][own_col(thread, j)]);
            }
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
#pragma unroll
                for (int j = 0; j < kOwnCols; ++j) {
                    add_product(sums[i][j], left[i], right[j]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
        const std::int64_t row = row0 + own_row(thread, i);
#pragma unroll
        for (int j = 0; j < kOwnCols; ++j) {
            const std::int64_t col = col0 + own_col(thread, j);
            if (row < args.m && col < args.n) {
                args.c[row * args.c_stride + col] = sums[i][j];
            }
        }
    }
}

}  // namespace

cuda::DeviceStatus launch_i64_loop(const cuda::DeviceMatrix& a, const cuda::DeviceMatrix& b,
                                   const cuda::DeviceMatrix& c, cuda::StreamHandle stream) {
    const std::int64_t across = (c.cols + kCols - 1) / kCols, tiles = (c.rows + kRows - 1) / kRows * across;
    if (tiles == 0) {
        return 0;
    }
    const LoopArguments args{static_cast<const Word*>(a.data),
                             static_cast<const Word*>(b.data),
                             static_cast<Word*>(c.data),
                             c.rows,
                             a.cols,
                             c.cols,
                             a.row_stride,
                             b.row_stride,
                             c.row_stride,
                             across};
    multiply_words<<<static_cast<unsigned>(tiles), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(args);
    return cudaGetLastError();
}

}  // namespace heptad::cli
