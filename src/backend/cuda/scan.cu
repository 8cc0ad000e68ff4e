// Largest absolute value of a matrix, noted on the device.
#include <algorithm>

#include "backend/cuda/device_code.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256;
/// Rows of which a thread has an element under way at once.
constexpr int kRowsAtOnce = 4;

/// The largest of the block's values goes to *target by one atomic: tens of thousands of them on one word, a warp each,
/// took longer than reading 16 MB.
template <class Bits>
__device__ __forceinline__ void note_maximum_of_block(Bits own, unsigned long long* target) {
    __shared__ unsigned long long of_warps[kThreads / 32];
    unsigned long long bits = kept_magnitude(own);
    for (int offset = 16; offset > 0; offset /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffU, bits, offset);
        bits = other > bits ? other : bits;
    }
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = bits;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (const unsigned long long other : of_warps) {
            bits = other > bits ? other : bits;
        }
        if (bits != 0) {
            atomicMax(target, bits);
        }
    }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    scan_kernel(const T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride,
                unsigned long long* max_bits) {
    MagnitudeOf<T> bits = 0;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * kRowsAtOnce; i < rows;
         i += static_cast<std::int64_t>(gridDim.y) * kRowsAtOnce) {
        for (std::int64_t j = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; j < cols;
             j += static_cast<std::int64_t>(gridDim.x) * kThreads) {
            MagnitudeOf<T> here[kRowsAtOnce];
#pragma unroll
            for (int r = 0; r < kRowsAtOnce; ++r) {
                here[r] = i + r < rows ? magnitude(widen(data[(i + r) * row_stride + j * col_stride])) : 0;
            }
#pragma unroll
            for (int r = 0; r < kRowsAtOnce; ++r) {
                bits = here[r] > bits ? here[r] : bits;
            }
        }
    }
    note_maximum_of_block(bits, max_bits);
}

}  // namespace

DeviceStatus launch_scan(Scalar scalar, const DeviceMatrix& matrix, unsigned long long* max_bits, StreamHandle stream) {
    if (matrix.rows == 0 || matrix.cols == 0) {
        return 0;
    }
    // Neighbouring threads go along the side whose elements lie side by side.
    const bool by_columns = matrix.row_stride == 1 && matrix.col_stride != 1;
    const std::int64_t rows = by_columns ? matrix.cols : matrix.rows;
    const std::int64_t cols = by_columns ? matrix.rows : matrix.cols;
    const std::int64_t row_stride = by_columns ? matrix.col_stride : matrix.row_stride;
    const std::int64_t col_stride = by_columns ? matrix.row_stride : matrix.col_stride;
    const auto blocks_x = static_cast<unsigned>(std::min<std::int64_t>((cols + kThreads - 1) / kThreads, 16));
    constexpr std::int64_t kMostBlocks = 2048;
    const auto blocks_y =
        static_cast<unsigned>(std::min<std::int64_t>((rows + kRowsAtOnce - 1) / kRowsAtOnce, kMostBlocks / blocks_x));
    return with_type(scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        scan_kernel<T><<<dim3(blocks_x, blocks_y), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
            static_cast<const T*>(matrix.data), rows, cols, row_stride, col_stride, max_bits);
        return cudaGetLastError();
    });
}

}  // namespace heptad::cuda
