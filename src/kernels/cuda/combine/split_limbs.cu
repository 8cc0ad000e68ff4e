// 32-bit integers into four signed 8-bit limbs, laid out for the int8 tensor cores: the inner dimension side by side.
#include <algorithm>

namespace heptad::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kRowsOfThreads = 8;

struct Limbs {
    signed char digit[4];
};

__device__ Limbs split(std::uint32_t x) {
    Limbs limbs;
    for (int i = 0; i < 4; ++i) {
        limbs.digit[i] = static_cast<signed char>(x & 0xffU);
        // What the digit took too much or too little is carried on: the digit lies in [-128, 127].
        x = (x - static_cast<std::uint32_t>(static_cast<std::int32_t>(limbs.digit[i]))) >> 8U;
    }
    return limbs;
}

/// A tile goes through shared memory, so that both the reads (along the source's contiguous side) and the writes (along
/// the limbs' rows) are of neighbouring elements.
__global__ void __launch_bounds__(kTile* kRowsOfThreads)
    split_limbs_kernel(const std::int32_t* source, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                       std::int64_t col_stride, bool rows_are_contiguous, bool highest_first, std::int64_t padded,
                       signed char* limbs) {
    __shared__ std::int32_t tile[kTile][kTile + 1];
    const std::int64_t tile_col = static_cast<std::int64_t>(blockIdx.x) * kTile;
    const std::int64_t tile_row = static_cast<std::int64_t>(blockIdx.y) * kTile;
    for (int step = static_cast<int>(threadIdx.y); step < kTile; step += kRowsOfThreads) {
        const int r = rows_are_contiguous ? step : static_cast<int>(threadIdx.x);
        const int c = rows_are_contiguous ? static_cast<int>(threadIdx.x) : step;
        const std::int64_t row = tile_row + r;
        const std::int64_t col = tile_col + c;
        tile[r][c] = row < rows && col < cols ? source[row * row_stride + col * col_stride] : 0;
    }
    __syncthreads();
    for (int r = static_cast<int>(threadIdx.y); r < kTile; r += kRowsOfThreads) {
        const std::int64_t row = tile_row + r;
        const std::int64_t col = tile_col + threadIdx.x;
        if (row < rows && col < padded) {
            const Limbs x = split(static_cast<std::uint32_t>(tile[r][threadIdx.x]));
            for (int i = 0; i < 4; ++i) {
                const int place = highest_first ? 3 - i : i;
                limbs[(row * 4 + place) * padded + col] = x.digit[i];
            }
        }
    }
}

}  // namespace

DeviceStatus launch_split_limbs(const DeviceMatrix& source, bool highest_first, std::int64_t padded, signed char* limbs,
                                StreamHandle stream) {
    const dim3 blocks(static_cast<unsigned>((padded + kTile - 1) / kTile),
                      static_cast<unsigned>((source.rows + kTile - 1) / kTile));
    if (blocks.x == 0 || blocks.y == 0) {
        return 0;
    }
    if (blocks.y > 65535) {  // very tall: in slices
        constexpr std::int64_t kSlice = std::int64_t{65535} * kTile;
        for (std::int64_t row = 0; row < source.rows; row += kSlice) {
            DeviceMatrix slice = source;
            slice.data = static_cast<std::int32_t*>(source.data) + row * source.row_stride;
            slice.rows = std::min(kSlice, source.rows - row);
            if (const DeviceStatus status =
                    launch_split_limbs(slice, highest_first, padded, limbs + row * 4 * padded, stream);
                status != 0) {
                return status;
            }
        }
        return 0;
    }
    split_limbs_kernel<<<blocks, dim3(kTile, kRowsOfThreads), 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const std::int32_t*>(source.data), source.rows, source.cols, source.row_stride, source.col_stride,
        source.col_stride == 1, highest_first, padded, limbs);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
