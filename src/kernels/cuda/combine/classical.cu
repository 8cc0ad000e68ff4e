// The classical product on the CUDA cores, for any strides: a tile of C per block, one register tile per thread, the
// next slices of A and B on their way from memory while the present ones are multiplied.
#include <algorithm>

#include "kernels/cuda/device/device_code.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256;

template <class T, class Result>
struct ClassicalArguments {
    const T* a;
    const T* b;
    Result* c;
    std::int64_t m, n, k;
    std::int64_t a_row, a_col, b_row, b_col, c_row, c_col;  // strides
    ArithmeticOf<T> alpha, beta;
    bool reads_c;
    Guard guard;
};

/// One slice of an operand, `Outer` rows (or columns of B) by `Depth` along k, as each thread carries its part.
template <class T, int Outer, int Depth>
struct Slice {
    static constexpr int kCount = Outer * Depth / kThreads;
    T part[kCount];

    /// `along_k`: neighbouring threads take neighbouring k, because those lie side by side in memory.
    static __device__ __forceinline__ void place(int i, bool along_k, int& outer, int& depth) {
        const int index = static_cast<int>(threadIdx.x) + i * kThreads;
        outer = along_k ? index / Depth : index % Outer;
        depth = along_k ? index % Depth : index / Outer;
    }
    __device__ __forceinline__ void load(const T* data, std::int64_t outer_count, std::int64_t depth_count,
                                         std::int64_t outer_stride, std::int64_t depth_stride, bool along_k) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            int outer, depth;
            place(i, along_k, outer, depth);
            part[i] = outer < outer_count && depth < depth_count ? data[outer * outer_stride + depth * depth_stride]
                                                                 : narrow<T>(ArithmeticOf<T>(0));
        }
    }
    __device__ __forceinline__ void store(ArithmeticOf<T> (*shared)[Outer + 4], bool along_k) const {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            int outer, depth;
            place(i, along_k, outer, depth);
            shared[depth][outer] = widen(part[i]);
        }
    }
};

template <int Tile>
__host__ __device__ constexpr std::int64_t tiles_along(std::int64_t length) {
    return (length + Tile - 1) / Tile;
}

/// Tile x Tile of C by 256 threads, each with Side x Side entries in four corners of Side/2, so that reads of shared
/// memory are 16 bytes wide and free of conflicts.
template <class T, class Result, int Tile, int Depth>
__global__ void __launch_bounds__(kThreads)
    classical_kernel(const __grid_constant__ ClassicalArguments<T, Result> args) {
    if (!should_run(args.guard)) {
        return;
    }
    using Wide = ArithmeticOf<T>;
    constexpr int kSide = Tile / 16;
    constexpr int kHalf = kSide / 2;
    __shared__ __align__(16) Wide shared_a[Depth][Tile + 4];
    __shared__ __align__(16) Wide shared_b[Depth][Tile + 4];
    const bool a_along_k = args.a_col == 1;
    const bool b_along_k = args.b_row == 1 && args.b_col != 1;
    const int thread_row = static_cast<int>(threadIdx.x) / 16 * kHalf;
    const int thread_col = static_cast<int>(threadIdx.x) % 16 * kHalf;
    const std::int64_t across = tiles_along<Tile>(args.n);
    const std::int64_t tiles = across * tiles_along<Tile>(args.m);
#pragma unroll 1
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const std::int64_t row0 = tile / across * Tile;
        const std::int64_t col0 = tile % across * Tile;
        const T* a = args.a + row0 * args.a_row;
        const T* b = args.b + col0 * args.b_col;

        Wide sum[kSide][kSide] = {};
        Slice<T, Tile, Depth> slice_a, slice_b;
        slice_a.load(a, args.m - row0, args.k, args.a_row, args.a_col, a_along_k);
        slice_b.load(b, args.n - col0, args.k, args.b_col, args.b_row, b_along_k);
        for (std::int64_t at = 0; at < args.k; at += Depth) {
            slice_a.store(shared_a, a_along_k);
            slice_b.store(shared_b, b_along_k);
            __syncthreads();
            const std::int64_t next = at + Depth;
            if (next < args.k) {
                slice_a.load(a + next * args.a_col, args.m - row0, args.k - next, args.a_row, args.a_col, a_along_k);
                slice_b.load(b + next * args.b_row, args.n - col0, args.k - next, args.b_col, args.b_row, b_along_k);
            }
#pragma unroll
            for (int d = 0; d < Depth; ++d) {
                Wide left[kSide], right[kSide];
#pragma unroll
                for (int i = 0; i < kSide; ++i) {
                    const int corner = i / kHalf * (Tile / 2);
                    left[i] = shared_a[d][corner + thread_row + i % kHalf];
                    right[i] = shared_b[d][corner + thread_col + i % kHalf];
                }
#pragma unroll
                for (int i = 0; i < kSide; ++i) {
#pragma unroll
                    for (int j = 0; j < kSide; ++j) {
                        sum[i][j] += left[i] * right[j];
                    }
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < kSide; ++i) {
            const std::int64_t row = row0 + i / kHalf * (Tile / 2) + thread_row + i % kHalf;
#pragma unroll
            for (int j = 0; j < kSide; ++j) {
                const std::int64_t col = col0 + j / kHalf * (Tile / 2) + thread_col + j % kHalf;
                if (row < args.m && col < args.n) {
                    Result* place = args.c + row * args.c_row + col * args.c_col;
                    Wide value = args.alpha * sum[i][j];
                    if (args.reads_c) {
                        value += args.beta * widen(*place);
                    }
                    *place = narrow<Result>(value);
                }
            }
        }
    }
}

template <class T, class Result>
DeviceStatus launch(const ClassicalLaunch& launch, cudaStream_t stream) {
    const ClassicalArguments<T, Result> args{static_cast<const T*>(launch.a.data),
                                             static_cast<const T*>(launch.b.data),
                                             static_cast<Result*>(launch.c.data),
                                             launch.c.rows,
                                             launch.c.cols,
                                             launch.a.cols,
                                             launch.a.row_stride,
                                             launch.a.col_stride,
                                             launch.b.row_stride,
                                             launch.b.col_stride,
                                             launch.c.row_stride,
                                             launch.c.col_stride,
                                             scalar_of<T>(launch.alpha),
                                             scalar_of<T>(launch.beta),
                                             launch.beta != 0,
                                             launch.guard};
    // f64 needs twice the registers and shared memory per entry.
    constexpr int kTile = sizeof(ArithmeticOf<T>) == 8 ? 64 : 128;
    constexpr int kDepth = 16;
    // Blocks that find nothing to do take their time too, a microsecond for as many as run at once. A product that will
    // most likely not be needed has only about that many, each of which goes over several tiles if it is.
    constexpr std::int64_t kMostBlocks = 1 << 30, kMostGuardedBlocks = 256;
    const std::int64_t tiles = tiles_along<kTile>(args.n) * tiles_along<kTile>(args.m);
    if (tiles == 0) {
        return 0;
    }
    const auto blocks =
        static_cast<unsigned>(std::min(tiles, launch.guard.words == nullptr ? kMostBlocks : kMostGuardedBlocks));
    classical_kernel<T, Result, kTile, kDepth><<<blocks, kThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_classical(const ClassicalLaunch& classical, StreamHandle stream) {
    return with_type(classical.scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        if constexpr (sizeof(T) == 2) {
            if (classical.result == Scalar::f32) {
                return launch<T, float>(classical, static_cast<cudaStream_t>(stream));
            }
        }
        return launch<T, T>(classical, static_cast<cudaStream_t>(stream));
    });
}

}  // namespace heptad::cuda
