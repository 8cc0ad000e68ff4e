// The classical product of short floats on Hopper's tensor cores, run only if a guard says so: the answer to what
// levels must not add up. Operands of 16 bits are read as they lie, along k or across it; those of tf32 lie along k.
// What lies across it is copied, and rounded by that; the rest is rounded by the copy engine, unless its values are so
// large that it would make infinities of them: then it is copied, too.
#include <algorithm>

#include "kernels/cuda/combine/rounded_operand.cuh"
#include "kernels/cuda/combine/tensor_product.hpp"
#include "kernels/cuda/device/device_code.cuh"
#include "kernels/cuda/device/hopper_launch.cuh"

namespace heptad::cuda {
namespace {

/// What C is of: tf32 is f32 there.
template <class T>
using ResultOf = std::conditional_t<std::is_same_v<T, Tf32>, float, T>;

template <class T, bool a_across_, bool b_across_>
struct FloatLeaf {
    using Sum = float;
    using Result = ResultOf<T>;
    struct Operands {
        static constexpr bool a_across = a_across_, b_across = b_across_;
        static constexpr int step = kStepBytes / static_cast<int>(sizeof(T));
    };
    /// Of tf32: operands as they lie, instead of their copies.
    struct Originals {
        CUtensorMap map[2];
        int word[2];
    };
    struct NoOriginals {};
    struct Arguments : std::conditional_t<std::is_same_v<T, Tf32>, Originals, NoOriginals> {
        Result* c;
        std::int64_t m, n, row_stride;
        float alpha, beta;
        bool reads_c;
        int together;  // entries of a row that are stored at once: 8, 2 or 1
        Guard guard;
        TileOrder order;  // of clusters
        int steps;
    };
    static constexpr bool stores_row_blocks = true, has_narrow_tiles = false;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    static __device__ __forceinline__ std::int64_t tile_count(const Arguments& args) {
        return should_run(args.guard) ? args.order.tiles : 0;
    }
    static __device__ __forceinline__ TilePlace tile_to_make(const Arguments& args, std::int64_t index) {
        return tile_at(args.order, index);
    }
    static __device__ __forceinline__ const CUtensorMap& map_of(int operand, const CUtensorMap& map,
                                                                const Arguments& args) {
        if constexpr (std::is_same_v<T, Tf32>) {
            return is_rounded_on_its_way(args.guard, args.word[operand]) ? args.map[operand] : map;
        }
        return map;
    }
    template <int Count>
    static __device__ __forceinline__ void multiply(float (&d)[Count], std::uint64_t a, std::uint64_t b, int adds) {
        if constexpr (std::is_same_v<T, __nv_bfloat16>) {
            multiply_bf16<Operands>(d, a, b, adds);
        } else if constexpr (std::is_same_v<T, __half>) {
            multiply_f16<Operands>(d, a, b, adds);
        } else {
            multiply_tf32(d, a, b, adds);
        }
    }
    /// Of every eight columns a lane has two, in rows lane / 4 and lane / 4 + 8.
    template <int Count>
    static __device__ __forceinline__ void store(const Arguments& args, std::int64_t, std::int64_t row,
                                                 std::int64_t col, const float (&d)[Count]) {
        if constexpr (sizeof(Result) == 2) {
            if (args.together == 8) {
                store_lines(args, row, col, d);
                return;
            }
        }
        if (args.together == 1) {
            args.reads_c ? store_entries<1, true>(args, row, col, d) : store_entries<1, false>(args, row, col, d);
        } else {
            args.reads_c ? store_entries<2, true>(args, row, col, d) : store_entries<2, false>(args, row, col, d);
        }
    }

private:
    static __device__ __forceinline__ std::uint32_t pair_of(float x, float y) {
        struct alignas(4) {
            Result entry[2];
        } pair{{narrow<Result>(x), narrow<Result>(y)}};
        return *reinterpret_cast<std::uint32_t*>(&pair);
    }
    /// Whole lines of 128 bytes, turned around in shared memory: 16 rows by 64 columns at a time. Pieces of 16 bytes
    /// are turned against each other from row to row, so that neither side meets a bank twice.
    template <int Count>
    static __device__ __forceinline__ void store_lines(const Arguments& args, std::int64_t row, std::int64_t col,
                                                       const float (&d)[Count]) {
        __shared__ uint4 pieces[kConsumers * kGroupThreads / 32][16 * 8];
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const std::uint32_t memory = shared_address(pieces[(static_cast<int>(threadIdx.x) - kGroupThreads) / 32]);
        const std::uint32_t to = memory + static_cast<std::uint32_t>(lane % 16 * 128);
        const std::int64_t rows_left = args.m - row - lane / 8, cols_left = args.n - col - lane % 8 * 8;
        Result* line = args.c + (row + lane / 8) * args.row_stride + col + lane % 8 * 8;
#pragma unroll
        for (int part = 0; part < Count / 32; ++part) {
            __syncwarp();
#pragma unroll
            for (int group = 0; group < 8; group += 2) {
                const float* const x = d + part * 32 + group * 4;
                const auto piece = static_cast<std::uint32_t>((group + lane / 16) ^ (lane % 8));
                store_matrices(to + piece * 16, pair_of(args.alpha * x[0], args.alpha * x[1]),
                               pair_of(args.alpha * x[2], args.alpha * x[3]),
                               pair_of(args.alpha * x[4], args.alpha * x[5]),
                               pair_of(args.alpha * x[6], args.alpha * x[7]));
            }
            __syncwarp();
            Result* at = line + part * 64;
#pragma unroll
            for (int own = 0; own < 16; own += 4, at += 4 * args.row_stride) {
                const int in_tile = own + lane / 8;
                const uint4 piece =
                    load_piece(memory + static_cast<std::uint32_t>(in_tile * 128 + ((lane % 8) ^ (in_tile % 8)) * 16));
                if (own < rows_left && part * 64 < cols_left) {
                    *reinterpret_cast<uint4*>(at) = piece;
                }
            }
        }
    }
    /// `together` entries at a time, as they lie in the registers.
    template <int together, bool reads, int Count>
    static __device__ __forceinline__ void store_entries(const Arguments& args, std::int64_t row, std::int64_t col,
                                                         const float (&d)[Count]) {
        struct alignas(together * sizeof(Result)) Entries {
            Result entry[together];
        };
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const std::int64_t first_col = col + lane % 4 * 2;
        const auto left = static_cast<int>(min(args.n - first_col, std::int64_t{2 * Count}));  // columns
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::int64_t own_row = row + lane / 4 + 8 * half;
            Result* const to = args.c + own_row * args.row_stride + first_col;
            if (own_row >= args.m) {
                continue;
            }
#pragma unroll
            for (int i = 0; i < Count / 2; i += together) {
                const int at = i / 2 * 8 + i % 2;
                if (at >= left) {
                    continue;
                }
                auto* const place = reinterpret_cast<Entries*>(to + at);
                Entries x;
                if constexpr (reads) {
                    x = *place;
                }
#pragma unroll
                for (int e = 0; e < together; ++e) {
                    const float sum = args.alpha * d[i / 2 * 4 + half * 2 + i % 2 + e];
                    x.entry[e] = narrow<Result>(reads ? sum + args.beta * widen(x.entry[e]) : sum);
                }
                *place = x;
            }
        }
    }
#endif
};

/// Rows of A, or columns of B, as the copy engine reads them.
template <class T>
ByteBlocks byte_lines(const DeviceMatrix& rows, bool across) {
    constexpr std::int64_t kElement = sizeof(T);
    const std::int64_t length = across ? rows.rows : rows.cols, lines = across ? rows.cols : rows.rows;
    const std::int64_t distance = (across ? rows.col_stride : rows.row_stride) * kElement;
    return {rows.data, (length * kElement + 15) / 16 * 16, lines, 1, distance, distance * lines};
}

template <class T>
constexpr Element element_of() {
    return sizeof(T) == 4 ? Element{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4} : Element{CU_TENSOR_MAP_DATA_TYPE_UINT16, 2};
}

/// As large as leaves room for storing whole lines, and of a size that fits into the rounds of n = 4096.
using Shape = SmallTiles;

template <class Leaf, class T>
DeviceStatus start(const TensorProduct& launch, EncodeTiled encode, cudaStream_t stream) {
    using Operands = typename Leaf::Operands;
    int device = 0, clusters = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = resident_clusters<Leaf, Shape>(device, clusters);
    }
    CUtensorMap map_a, map_b;
    if (status == cudaSuccess) {
        status = describe(encode, byte_lines<T>(launch.a, Operands::a_across),
                          Operands::a_across ? Operands::step : Shape::fetched_rows, map_a, element_of<T>());
    }
    if (status == cudaSuccess) {
        status = describe(encode, byte_lines<T>(launch.b, Operands::b_across),
                          Operands::b_across ? Operands::step : Shape::fetched_cols, map_b, element_of<T>());
    }
    if (status != cudaSuccess) {
        return status;
    }
    const DeviceMatrix& c = launch.c;
    using Result = typename Leaf::Result;
    const auto lies_in = [&](std::int64_t entries) {
        return c.cols % entries == 0 && c.row_stride % entries == 0 &&
               reinterpret_cast<std::uintptr_t>(c.data) % (static_cast<std::size_t>(entries) * sizeof(Result)) == 0;
    };
    typename Leaf::Arguments args{};
    if constexpr (std::is_same_v<T, Tf32>) {
        constexpr Element kRounded{CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, sizeof(float)};
        const int box_lines[] = {Shape::fetched_rows, Shape::fetched_cols};
        for (int i = 0; i < 2; ++i) {
            const TensorProduct::Original& original = launch.originals[i];
            args.word[i] = original.word;
            if (original.word >= 0) {
                status = describe(encode, byte_lines<T>(original.matrix, false), box_lines[i], args.map[i], kRounded);
                if (status != cudaSuccess) {
                    return status;
                }
            }
        }
    }
    args.c = static_cast<Result*>(c.data);
    args.m = c.rows;
    args.n = c.cols;
    args.row_stride = c.row_stride;
    args.alpha = static_cast<float>(launch.alpha);
    args.beta = static_cast<float>(launch.beta);
    args.reads_c = launch.beta != 0;
    args.together = sizeof(Result) == 2 && !args.reads_c && lies_in(8) ? 8 : lies_in(2) ? 2 : 1;
    args.guard = launch.guard;
    args.order.tile_rows = (c.rows + Shape::cluster_rows - 1) / Shape::cluster_rows;
    args.order.tile_cols = (c.cols + Shape::cluster_cols - 1) / Shape::cluster_cols;
    args.order.tiles = args.order.tile_rows * args.order.tile_cols;
    args.order.raster = kRasterRows / Shape::cluster_rows;
    args.steps = static_cast<int>((launch.a.cols + Operands::step - 1) / Operands::step);
    const LaunchShape<Shape> shape(std::min<std::int64_t>(clusters, args.order.tiles), stream);
    return cudaLaunchKernelEx(&shape.config, multiply_tiles<Leaf, Shape>, map_a, map_b, args);
}

template <class T>
DeviceStatus start(const TensorProduct& launch, EncodeTiled encode, cudaStream_t stream) {
    const bool a_across = launch.a.col_stride != 1, b_across = launch.b.col_stride != 1;
    if constexpr (sizeof(T) == 2) {
        if (a_across) {
            return b_across ? start<FloatLeaf<T, true, true>, T>(launch, encode, stream)
                            : start<FloatLeaf<T, true, false>, T>(launch, encode, stream);
        }
        return b_across ? start<FloatLeaf<T, false, true>, T>(launch, encode, stream)
                        : start<FloatLeaf<T, false, false>, T>(launch, encode, stream);
    } else {
        return a_across || b_across ? cudaErrorInvalidValue
                                    : start<FloatLeaf<T, false, false>, T>(launch, encode, stream);
    }
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
        status = is_compiled_for_hopper<FloatLeaf<__nv_bfloat16, false, false>, Shape>(available);
        available = available && encoder() != nullptr;
        if (status == cudaSuccess && device < kMostDevices) {
            known[device].store(available ? 2 : 1);
        }
    }
    return status;
}

DeviceStatus launch_tensor_product(const TensorProduct& launch, StreamHandle stream) {
    auto* const queue = static_cast<cudaStream_t>(stream);
    if (launch.c.rows == 0 || launch.c.cols == 0) {
        return 0;
    }
    return launch.scalar == Scalar::bf16  ? start<__nv_bfloat16>(launch, encoder(), queue)
           : launch.scalar == Scalar::f16 ? start<__half>(launch, encoder(), queue)
                                          : start<Tf32>(launch, encoder(), queue);
}

}  // namespace heptad::cuda
