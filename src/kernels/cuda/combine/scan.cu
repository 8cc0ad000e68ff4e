// Largest absolute values of a matrix, its rows and its columns, noted on the device.
#include <algorithm>
#include <utility>

#include "kernels/cuda/device/device_code.cuh"

namespace heptad::cuda {
namespace {

constexpr int kScanThreads = 256;
/// Rows of which a thread has an element under way at once.
constexpr int kRowsAtOnce = 4;

/// The largest of the block's values goes to *target by one atomic: tens of thousands of them on one word, a warp each,
/// took longer than reading 16 MB.
template <class Bits>
__device__ __forceinline__ void note_maximum_of_block(Bits own, unsigned long long* target) {
    __shared__ unsigned long long of_warps[kScanThreads / 32];
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
__global__ void __launch_bounds__(kScanThreads)
    scan_kernel(const T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride,
                DeviceLines lines, const unsigned int* scaled, unsigned long long* max_bits) {
    MagnitudeOf<T> bits = 0;
    const bool has_powers = scaled != nullptr && *scaled != 0;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * kRowsAtOnce; i < rows;
         i += static_cast<std::int64_t>(gridDim.y) * kRowsAtOnce) {
        for (std::int64_t j = blockIdx.x * static_cast<std::int64_t>(kScanThreads) + threadIdx.x; j < cols;
             j += static_cast<std::int64_t>(gridDim.x) * kScanThreads) {
            ArithmeticOf<T> here[kRowsAtOnce];
#pragma unroll
            for (int r = 0; r < kRowsAtOnce; ++r) {
                here[r] = ArithmeticOf<T>(0);
                if (i + r < rows) {
                    here[r] = widen(data[(i + r) * row_stride + j * col_stride]);
                }
            }
            if (has_powers) {
#pragma unroll
                for (int r = 0; r < kRowsAtOnce; ++r) {
                    here[r] = times_power(here[r], exponent_at(lines, min(i + r, rows - 1), j));
                }
            }
#pragma unroll
            for (int r = 0; r < kRowsAtOnce; ++r) {
                const MagnitudeOf<T> size = magnitude(here[r]);
                bits = size > bits ? size : bits;
            }
        }
    }
    note_maximum_of_block(bits, max_bits);
}

/// Rows that a warp goes over.
constexpr int kLineRows = 64;

/// N neighbouring elements of a row a thread, a warp's strip of columns, kLineRows rows of it: maxima of columns stay
/// in registers, those of rows are made by the warp.
template <class T, int N>
__global__ void __launch_bounds__(kScanThreads)
    line_scan_kernel(const T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                     std::int64_t col_stride, LineMaxima lines) {
    constexpr int kWarps = kScanThreads / 32;
    const std::int64_t strip = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    const std::int64_t col = (strip * 32 + threadIdx.x % 32) * N;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * kLineRows;
    const std::int64_t last = min(first + kLineRows, rows);
    const bool inside = col < cols;
    struct alignas(sizeof(T) * N) Few {
        T element[N];
    };
    std::uint32_t of_cols[N] = {};
    for (std::int64_t i = first; i < last; i += kRowsAtOnce) {
        Few here[kRowsAtOnce] = {};
#pragma unroll
        for (int r = 0; r < kRowsAtOnce; ++r) {
            if (inside && i + r < last) {
                here[r] = *reinterpret_cast<const Few*>(data + (i + r) * row_stride + col * col_stride);
            }
        }
#pragma unroll
        for (int r = 0; r < kRowsAtOnce; ++r) {
            std::uint32_t of_row = 0;
#pragma unroll
            for (int e = 0; e < N; ++e) {
                const std::uint32_t bits = line_magnitude(widen(here[r].element[e]));
                of_row = max(of_row, bits);
                of_cols[e] = max(of_cols[e], bits);
            }
            of_row = __reduce_max_sync(0xffffffffU, of_row);
            if (threadIdx.x % 32 == 0 && i + r < last) {
                raise_line(lines.rows + i + r, of_row);
            }
        }
    }
    if (inside) {
#pragma unroll
        for (int e = 0; e < N; ++e) {
            raise_line(lines.cols + col + e, of_cols[e]);
        }
    }
}

template <class T, int N>
DeviceStatus launch_lines(const DeviceMatrix& matrix, const LineMaxima& lines, cudaStream_t stream) {
    constexpr std::int64_t kStrip = std::int64_t{kScanThreads} * N;
    constexpr std::int64_t kMostBlocksDown = 65535;
    const auto across = static_cast<unsigned>((matrix.cols + kStrip - 1) / kStrip);
    for (std::int64_t first = 0; first < matrix.rows; first += kMostBlocksDown * kLineRows) {
        const std::int64_t rows = std::min(kMostBlocksDown * kLineRows, matrix.rows - first);
        const auto down = static_cast<unsigned>((rows + kLineRows - 1) / kLineRows);
        line_scan_kernel<T, N><<<dim3(across, down), kScanThreads, 0, stream>>>(
            static_cast<const T*>(matrix.data) + first * matrix.row_stride, rows, matrix.cols, matrix.row_stride,
            matrix.col_stride, {lines.rows + first, lines.cols});
        if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
            return status;
        }
    }
    return 0;
}

__global__ void report_kernel(const __grid_constant__ Guard guard, double even_enough, GuardReport* report) {
    const GuardWords& words = *guard.words;
    const bool within = is_within_limits(guard), safe = is_safe(guard);
    // A line that looked empty and was not makes the largest value infinite.
    const bool was_missed = !within && words.scaled != 0 && words.zero_lines != 0;
    if (!safe) {
        report->fell_back = 1;
    } else if (words.scaled != 0) {
        report->scaled = 1;
    }
    if (was_missed || (within && !is_even_for_sums(guard, even_enough))) {
        report->uneven = 1;
    }
}

}  // namespace

DeviceStatus launch_scan(Scalar scalar, const DeviceMatrix& matrix, const DeviceLines& lines,
                         const unsigned int* scaled, unsigned long long* max_bits, StreamHandle stream) {
    if (matrix.rows == 0 || matrix.cols == 0) {
        return 0;
    }
    // Neighbouring threads go along the side whose elements lie side by side.
    const bool by_columns = matrix.row_stride == 1 && matrix.col_stride != 1;
    const std::int64_t rows = by_columns ? matrix.cols : matrix.rows;
    const std::int64_t cols = by_columns ? matrix.rows : matrix.cols;
    const std::int64_t row_stride = by_columns ? matrix.col_stride : matrix.row_stride;
    const std::int64_t col_stride = by_columns ? matrix.row_stride : matrix.col_stride;
    const DeviceLines walked = by_columns ? DeviceLines{lines.cols, lines.rows} : lines;
    const auto blocks_x = static_cast<unsigned>(std::min<std::int64_t>((cols + kScanThreads - 1) / kScanThreads, 16));
    constexpr std::int64_t kMostBlocks = 2048;
    const auto blocks_y =
        static_cast<unsigned>(std::min<std::int64_t>((rows + kRowsAtOnce - 1) / kRowsAtOnce, kMostBlocks / blocks_x));
    return with_type(scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        scan_kernel<T><<<dim3(blocks_x, blocks_y), kScanThreads, 0, static_cast<cudaStream_t>(stream)>>>(
            static_cast<const T*>(matrix.data), rows, cols, row_stride, col_stride, walked, scaled, max_bits);
        return cudaGetLastError();
    });
}

DeviceStatus launch_line_scan(Scalar scalar, const DeviceMatrix& matrix, const LineMaxima& lines, StreamHandle stream) {
    if (matrix.rows == 0 || matrix.cols == 0) {
        return 0;
    }
    DeviceMatrix turned = matrix;
    LineMaxima turned_lines = lines;
    if (matrix.row_stride == 1 && matrix.col_stride != 1) {
        std::swap(turned.rows, turned.cols);
        std::swap(turned.row_stride, turned.col_stride);
        std::swap(turned_lines.rows, turned_lines.cols);
    }
    return with_type(scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        constexpr int kFull = 16 / static_cast<int>(sizeof(T));
        const bool wide = turned.col_stride == 1 && turned.cols % kFull == 0 &&
                          (turned.rows == 1 || turned.row_stride % kFull == 0) &&
                          reinterpret_cast<std::uintptr_t>(turned.data) % 16 == 0;
        return wide ? launch_lines<T, kFull>(turned, turned_lines, static_cast<cudaStream_t>(stream))
                    : launch_lines<T, 1>(turned, turned_lines, static_cast<cudaStream_t>(stream));
    });
}

DeviceStatus launch_report(const Guard& guard, double even_enough, GuardReport* report, StreamHandle stream) {
    report_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(guard, even_enough, report);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
