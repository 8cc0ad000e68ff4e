// A matrix of any strides, copied to where its rows lie side by side and begin on boundaries of the copy engine: zeros
// fill what is there more of. Run only if a guard says so.
#include <algorithm>

#include "kernels/cuda/combine/rounded_operand.cuh"
#include "kernels/cuda/combine/tensor_product.hpp"
#include "kernels/cuda/device/device_code.cuh"

namespace heptad::cuda {
namespace {

constexpr int kCopyThreads = 256, kCopyTile = 64;

template <class T>
struct LineCopy {
    const T* from;
    T* to;
    std::int64_t rows, cols, row_stride, col_stride;  // of what there is
    std::int64_t whole_rows, whole_cols, distance;
    Guard guard;
    int word;
};

template <class Rounded, class T>
__device__ __forceinline__ T as_multiplied(T x) {
    // To the 19 bits that the tensor cores read; what would become infinite is cut off instead.
    if constexpr (std::is_same_v<Rounded, Tf32>) {
        const float rounded = narrow<Tf32>(x).value;
        return isinf(rounded) && !isinf(x) ? __uint_as_float(__float_as_uint(x) & 0xffffe000U) : rounded;
    }
    return x;
}

/// By squares, through shared memory: neighbouring threads read what lies side by side, and write what does.
template <class Rounded, class T>
__global__ void __launch_bounds__(kCopyThreads) copy_lines(const __grid_constant__ LineCopy<T> args) {
    constexpr int kEach = kCopyTile * kCopyTile / kCopyThreads, kStep = kCopyThreads / kCopyTile;
    __shared__ T tile[kCopyTile][kCopyTile + (sizeof(T) == 2 ? 2 : 1)];
    if (!should_run(args.guard) || is_rounded_on_its_way(args.guard, args.word)) {
        return;
    }
    const int inner = static_cast<int>(threadIdx.x) % kCopyTile, outer = static_cast<int>(threadIdx.x) / kCopyTile;
    const bool along = args.col_stride == 1;
    const std::int64_t across = (args.whole_cols + kCopyTile - 1) / kCopyTile;
    const std::int64_t tiles = across * ((args.whole_rows + kCopyTile - 1) / kCopyTile);
    const std::int64_t inner_stride = along ? args.col_stride : args.row_stride;
    const std::int64_t outer_stride = along ? args.row_stride : args.col_stride;
    for (std::int64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
        const std::int64_t row0 = index / across * kCopyTile, col0 = index % across * kCopyTile;
        const std::int64_t inner0 = along ? col0 : row0, outer0 = along ? row0 : col0;
        const T* const from = args.from + (inner0 + inner) * inner_stride + (outer0 + outer) * outer_stride;
        const bool is_there = inner0 + inner < (along ? args.cols : args.rows);
        const std::int64_t left = is_there ? (along ? args.rows : args.cols) - outer0 - outer : 0;
        T x[kEach];
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            x[i] = i * kStep < left ? from[i * kStep * outer_stride] : T(0);
        }
        __syncthreads();  // the tile before was written
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            tile[along ? outer + i * kStep : inner][along ? inner : outer + i * kStep] = as_multiplied<Rounded>(x[i]);
        }
        __syncthreads();
        T* const to = args.to + (row0 + outer) * args.distance + col0 + inner;
        const std::int64_t rows_left = col0 + inner < args.whole_cols ? args.whole_rows - row0 - outer : 0;
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            if (i * kStep < rows_left) {
                to[i * kStep * args.distance] = tile[outer + i * kStep][inner];
            }
        }
    }
}

template <class Rounded, class T = Rounded>
DeviceStatus start(const DeviceMatrix& from, const DeviceMatrix& to, const Guard& guard, int word,
                   cudaStream_t stream) {
    constexpr std::int64_t kMostBlocks = 1024;
    const std::int64_t tiles = ((to.rows + kCopyTile - 1) / kCopyTile) * ((to.cols + kCopyTile - 1) / kCopyTile);
    if (tiles == 0) {
        return 0;
    }
    const LineCopy<T> args{static_cast<const T*>(from.data),
                           static_cast<T*>(to.data),
                           from.rows,
                           from.cols,
                           from.row_stride,
                           from.col_stride,
                           to.rows,
                           to.cols,
                           to.row_stride,
                           guard,
                           word};
    copy_lines<Rounded, T><<<static_cast<unsigned>(std::min(tiles, kMostBlocks)), kCopyThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_line_copy(Scalar scalar, const DeviceMatrix& from, const DeviceMatrix& to, const Guard& guard,
                              int word, StreamHandle stream) {
    auto* const queue = static_cast<cudaStream_t>(stream);
    switch (scalar) {
        case Scalar::f64:
            return start<double>(from, to, guard, word, queue);
        case Scalar::f32:
            return start<float>(from, to, guard, word, queue);
        case Scalar::rounded_to_tf32:
            return start<Tf32, float>(from, to, guard, word, queue);
        case Scalar::bf16:
        case Scalar::f16:
            return start<std::uint16_t>(from, to, guard, word, queue);
        default:
            return cudaErrorInvalidValue;
    }
}

}  // namespace heptad::cuda
