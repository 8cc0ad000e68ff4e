// Largest absolute value of a matrix, noted on the device.
#include <algorithm>

#include "backend/cuda/device_code.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    scan_kernel(const T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride,
                unsigned long long* max_bits) {
    MagnitudeOf<T> bits = 0;
    for (std::int64_t i = blockIdx.y; i < rows; i += gridDim.y) {
        for (std::int64_t j = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; j < cols;
             j += static_cast<std::int64_t>(gridDim.x) * kThreads) {
            const MagnitudeOf<T> here = magnitude(widen(data[i * row_stride + j * col_stride]));
            bits = here > bits ? here : bits;
        }
    }
    note_maximum(bits, max_bits);
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
    const auto blocks_y = static_cast<unsigned>(std::min<std::int64_t>(rows, 4096 / blocks_x));
    return with_type(scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        scan_kernel<T><<<dim3(blocks_x, blocks_y), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
            static_cast<const T*>(matrix.data), rows, cols, row_stride, col_stride, max_bits);
        return cudaGetLastError();
    });
}

}  // namespace heptad::cuda
