// The classical product of short floats on Hopper's tensor cores, run only if a guard says so: the answer to what
// levels must not add up. Both operands lie in lines along k; where they do not, they are copied so.
#include <algorithm>

#include "kernels/cuda/device/device_code.cuh"
#include "kernels/cuda/device/hopper_launch.cuh"

namespace heptad::cuda {
namespace {

/// What C is of: tf32 is f32 there.
template <class T>
using ResultOf = std::conditional_t<std::is_same_v<T, Tf32>, float, T>;

template <class T>
struct FloatLeaf {
    using Sum = float;
    using Result = ResultOf<T>;
    struct Arguments {
        Result* c;
        std::int64_t m, n, row_stride;
        float alpha, beta;
        bool reads_c;
        bool has_pairs;  // columns two by two, which are stored at once
        Guard guard;
        TileOrder order;  // of clusters
        int steps;
    };
    // Stored beside products in flight, entries that are read, scaled and narrowed have no registers left.
    static constexpr bool stores_row_blocks = false, has_narrow_tiles = false;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    static __device__ __forceinline__ std::int64_t tile_count(const Arguments& args) {
        return should_run(args.guard) ? args.order.tiles : 0;
    }
    static __device__ __forceinline__ TilePlace tile_to_make(const Arguments& args, std::int64_t index) {
        return tile_at(args.order, index);
    }
    static __device__ __forceinline__ void multiply(float (&d)[96], std::uint64_t a, std::uint64_t b, int adds) {
        if constexpr (std::is_same_v<T, __nv_bfloat16>) {
            multiply_bf16(d, a, b, adds);
        } else if constexpr (std::is_same_v<T, __half>) {
            multiply_f16(d, a, b, adds);
        } else {
            multiply_tf32(d, a, b, adds);
        }
    }
    /// Count entries side by side.
    template <int Count>
    static __device__ __forceinline__ void put(const Arguments& args, Result* to, const float* sums) {
        struct alignas(Count * sizeof(Result)) Entries {
            Result entry[Count];
        };
        Entries x;
        if (args.reads_c) {
            x = *reinterpret_cast<const Entries*>(to);
        }
#pragma unroll
        for (int e = 0; e < Count; ++e) {
            const float sum = args.alpha * sums[e];
            x.entry[e] = narrow<Result>(args.reads_c ? sum + args.beta * widen(x.entry[e]) : sum);
        }
        *reinterpret_cast<Entries*>(to) = x;
    }
    /// Of every eight columns a lane has two, in rows lane / 4 and lane / 4 + 8.
    static __device__ __forceinline__ void store(const Arguments& args, std::int64_t, std::int64_t row,
                                                 std::int64_t col, const float (&d)[2][96]) {
        store_row_block(args, row, col, d[0]);
        store_row_block(args, row + 64, col, d[1]);
    }
    static __device__ __forceinline__ void store_row_block(const Arguments& args, std::int64_t row, std::int64_t col,
                                                           const float (&d)[96]) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const std::int64_t first_col = col + lane % 4 * 2;
        const auto left = static_cast<int>(min(args.n - first_col, std::int64_t{192}));  // columns
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::int64_t own_row = row + lane / 4 + 8 * half;
            if (own_row >= args.m) {
                continue;
            }
            Result* const to = args.c + own_row * args.row_stride + first_col;
            if (args.has_pairs) {
#pragma unroll
                for (int group = 0; group < 24; ++group) {
                    if (group * 8 < left) {
                        put<2>(args, to + group * 8, d + group * 4 + half * 2);
                    }
                }
            } else {
#pragma unroll
                for (int i = 0; i < 48; ++i) {
                    if (i / 2 * 8 + i % 2 < left) {
                        put<1>(args, to + i / 2 * 8 + i % 2, d + i / 2 * 4 + half * 2 + i % 2);
                    }
                }
            }
        }
    }
#endif
};

template <class T>
ByteBlocks byte_lines(const LinesAlongK& lines) {
    constexpr std::int64_t kElement = sizeof(T);
    const std::int64_t bytes = (lines.depth * kElement + 15) / 16 * 16, distance = lines.distance * kElement;
    return {lines.data, bytes, lines.lines, 1, distance, distance * lines.lines};
}

/// Squares of tiles are what is best where power is the limit (residue_multiply_hopper.cu), as it is at the sizes at
/// which levels pay for such types.
using Shape = SquareOfTiles;

template <class T>
DeviceStatus start(const TensorLaunch& launch, EncodeTiled encode, cudaStream_t stream) {
    using Leaf = FloatLeaf<T>;
    int device = 0, clusters = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = resident_clusters<Leaf, Shape>(device, clusters);
    }
    const ByteBlocks of_a = byte_lines<T>(launch.a), of_b = byte_lines<T>(launch.b);
    CUtensorMap map_a, map_b;
    if (status == cudaSuccess) {
        status = describe(encode, of_a, Shape::fetched_rows, map_a);
    }
    if (status == cudaSuccess) {
        status = describe(encode, of_b, Shape::fetched_cols, map_b);
    }
    if (status != cudaSuccess) {
        return status;
    }
    const DeviceMatrix& c = launch.c;
    typename Leaf::Arguments args{};
    args.c = static_cast<typename Leaf::Result*>(c.data);
    args.m = c.rows;
    args.n = c.cols;
    args.row_stride = c.row_stride;
    args.alpha = static_cast<float>(launch.alpha);
    args.beta = static_cast<float>(launch.beta);
    args.reads_c = launch.beta != 0;
    args.has_pairs = c.cols % 2 == 0 && c.row_stride % 2 == 0 &&
                     reinterpret_cast<std::uintptr_t>(c.data) % (2 * sizeof(typename Leaf::Result)) == 0;
    args.guard = launch.guard;
    args.order.tile_rows = (c.rows + Shape::cluster_rows - 1) / Shape::cluster_rows;
    args.order.tile_cols = (c.cols + Shape::cluster_cols - 1) / Shape::cluster_cols;
    args.order.tiles = args.order.tile_rows * args.order.tile_cols;
    args.order.raster = kRasterRows / Shape::cluster_rows;
    args.steps = static_cast<int>((of_a.line_bytes + kStepBytes - 1) / kStepBytes);
    const LaunchShape<Shape> shape(std::min<std::int64_t>(clusters, args.order.tiles), stream);
    return cudaLaunchKernelEx(&shape.config, multiply_tiles<Leaf, Shape>, map_a, map_b, args);
}

constexpr int kCopyThreads = 256, kCopyTile = 64;

template <class T>
struct LineCopy {
    const T* from;
    T* to;
    std::int64_t lines, depth, whole_depth;  // with the zeros behind
    std::int64_t line_stride, depth_stride, distance;
    Guard guard;
};

__device__ __forceinline__ std::uint16_t as_multiplied(std::uint16_t x) {
    return x;
}
/// Rounded to the 19 bits that the tensor cores read; what would become infinite is cut off instead.
__device__ __forceinline__ float as_multiplied(float x) {
    const float rounded = narrow<Tf32>(x).value;
    return isinf(rounded) && !isinf(x) ? __uint_as_float(__float_as_uint(x) & 0xffffe000U) : rounded;
}

/// By squares, through shared memory: neighbouring threads read what lies side by side, and write what does.
template <class T>
__global__ void __launch_bounds__(kCopyThreads) copy_lines(const __grid_constant__ LineCopy<T> args) {
    constexpr int kEach = kCopyTile * kCopyTile / kCopyThreads;
    __shared__ T tile[kCopyTile][kCopyTile + 4 / sizeof(T)];
    if (!should_run(args.guard)) {
        return;
    }
    const bool along = args.depth_stride == 1;
    const std::int64_t across = (args.whole_depth + kCopyTile - 1) / kCopyTile;
    const std::int64_t tiles = across * ((args.lines + kCopyTile - 1) / kCopyTile);
    for (std::int64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
        const std::int64_t line0 = index / across * kCopyTile, depth0 = index % across * kCopyTile;
        T x[kEach];
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int at = static_cast<int>(threadIdx.x) + i * kCopyThreads;
            const std::int64_t line = line0 + (along ? at / kCopyTile : at % kCopyTile);
            const std::int64_t depth = depth0 + (along ? at % kCopyTile : at / kCopyTile);
            x[i] = line < args.lines && depth < args.depth
                       ? args.from[line * args.line_stride + depth * args.depth_stride]
                       : T(0);
        }
        __syncthreads();  // the tile before was written
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int at = static_cast<int>(threadIdx.x) + i * kCopyThreads;
            tile[along ? at / kCopyTile : at % kCopyTile][along ? at % kCopyTile : at / kCopyTile] =
                as_multiplied(x[i]);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int at = static_cast<int>(threadIdx.x) + i * kCopyThreads;
            const std::int64_t line = line0 + at / kCopyTile, depth = depth0 + at % kCopyTile;
            if (line < args.lines && depth < args.whole_depth) {
                args.to[line * args.distance + depth] = tile[at / kCopyTile][at % kCopyTile];
            }
        }
    }
}

template <class T>
DeviceStatus start_copy(const DeviceMatrix& from, const LinesAlongK& to, const Guard& guard, cudaStream_t stream) {
    constexpr std::int64_t kTogether = 16 / sizeof(T), kMostBlocks = 1024;
    const std::int64_t whole = (to.depth + kTogether - 1) / kTogether * kTogether;
    const std::int64_t tiles = ((to.lines + kCopyTile - 1) / kCopyTile) * ((whole + kCopyTile - 1) / kCopyTile);
    const LineCopy<T> args{static_cast<const T*>(from.data),
                           static_cast<T*>(to.data),
                           to.lines,
                           to.depth,
                           whole,
                           from.row_stride,
                           from.col_stride,
                           to.distance,
                           guard};
    copy_lines<T><<<static_cast<unsigned>(std::min(tiles, kMostBlocks)), kCopyThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

EncodeTiled encoder() {
    static const EncodeTiled encode = find_encoder();
    return encode;
}

}  // namespace

DeviceStatus find_tensor_product(bool& available) {
    constexpr int kMostDevices = 64;
    static std::atomic<int> known[kMostDevices];  // 1: no, 2: yes
    int device = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess && device < kMostDevices && known[device].load() != 0) {
        available = known[device].load() == 2;
        return status;
    }
    if (status == cudaSuccess) {
        status = is_compiled_for_hopper<FloatLeaf<__nv_bfloat16>, Shape>(available);
        available = available && encoder() != nullptr;
        if (status == cudaSuccess && device < kMostDevices) {
            known[device].store(available ? 2 : 1);
        }
    }
    return status;
}

DeviceStatus launch_tensor_product(const TensorLaunch& launch, StreamHandle stream) {
    auto* const queue = static_cast<cudaStream_t>(stream);
    if (launch.c.rows == 0 || launch.c.cols == 0) {
        return 0;
    }
    return launch.scalar == Scalar::bf16  ? start<__nv_bfloat16>(launch, encoder(), queue)
           : launch.scalar == Scalar::f16 ? start<__half>(launch, encoder(), queue)
                                          : start<Tf32>(launch, encoder(), queue);
}

DeviceStatus launch_line_copy(Scalar scalar, const DeviceMatrix& from, const LinesAlongK& to, const Guard& guard,
                              StreamHandle stream) {
    auto* const queue = static_cast<cudaStream_t>(stream);
    return scalar == Scalar::f32 ? start_copy<float>(from, to, guard, queue)
                                 : start_copy<std::uint16_t>(from, to, guard, queue);
}

}  // namespace heptad::cuda
