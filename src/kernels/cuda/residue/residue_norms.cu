// 2-norms of the rows of A and the columns of B, each read once. Sums are made in parts of a fixed order.
#include <algorithm>

#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

struct NormArguments {
    ResidueLines operand[2];
    bool lines_side_by_side[2];
    double* squares[2];
    unsigned long long* largest[2];
    GuardWords* words;
};

struct Part {
    double squares = 0;
    unsigned long long largest = 0;
    __device__ __forceinline__ void add(double x) {
        squares = fma(x, x, squares);
        largest = max(largest, magnitude(x));
    }
    __device__ __forceinline__ void add(const Part& other) {
        squares += other.squares;
        largest = max(largest, other.largest);
    }
};

template <class T>
__device__ __forceinline__ double scaled_value(const ResidueLines& from, bool has_powers, std::int64_t line,
                                               std::int64_t p) {
    const double x = static_cast<const T*>(from.data)[line * from.line_stride + p * from.depth_stride];
    return has_powers ? times_power(x, __ldg(from.inner + p)) : x;
}

/// A block per line, or per 32 lines and part of k where lines lie side by side.
template <class T>
__global__ void __launch_bounds__(kThreads) line_squares(const __grid_constant__ NormArguments args) {
    __shared__ double squares[kWarps][32];
    __shared__ unsigned long long largest[kWarps][32];
    const int operand = static_cast<int>(blockIdx.z);
    const ResidueLines& from = args.operand[operand];
    const bool has_powers = from.inner != nullptr && *from.scaled != 0;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    if (args.lines_side_by_side[operand]) {
        const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * 32 + lane;
        if (line - lane >= from.lines) {
            return;
        }
        const std::int64_t end = from.depth * (blockIdx.y + 1) / kNormParts;
        Part part;
        if (line < from.lines) {
#pragma unroll 8
            for (std::int64_t p = from.depth * blockIdx.y / kNormParts + warp; p < end; p += kWarps) {
                part.add(scaled_value<T>(from, has_powers, line, p));
            }
        }
        squares[warp][lane] = part.squares;
        largest[warp][lane] = part.largest;
        __syncthreads();
        if (warp == 0 && line < from.lines) {
            for (int w = 1; w < kWarps; ++w) {
                part.add({squares[w][lane], largest[w][lane]});
            }
            args.squares[operand][blockIdx.y * from.lines + line] = part.squares;
            args.largest[operand][blockIdx.y * from.lines + line] = part.largest;
        }
        return;
    }
    for (std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kNormParts + blockIdx.y; line < from.lines;
         line += static_cast<std::int64_t>(gridDim.x) * kNormParts) {
        Part part;
#pragma unroll 8
        for (std::int64_t p = threadIdx.x; p < from.depth; p += kThreads) {
            part.add(scaled_value<T>(from, has_powers, line, p));
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            part.add({__shfl_xor_sync(0xffffffffU, part.squares, offset),
                      __shfl_xor_sync(0xffffffffU, part.largest, offset)});
        }
        if (lane == 0) {
            squares[warp][0] = part.squares;
            largest[warp][0] = part.largest;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < kWarps; ++w) {
                part.add({squares[w][0], largest[w][0]});
            }
            args.squares[operand][line] = part.squares;
            args.largest[operand][line] = part.largest;
        }
        __syncthreads();
    }
}

__global__ void __launch_bounds__(kThreads) line_norms(const __grid_constant__ NormArguments args) {
    const int operand = static_cast<int>(blockIdx.y);
    const ResidueLines& from = args.operand[operand];
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    Part sum;
    if (line < from.lines) {
        const int parts = args.lines_side_by_side[operand] ? kNormParts : 1;
        for (int part = 0; part < parts; ++part) {
            sum.add({args.squares[operand][part * from.lines + line], args.largest[operand][part * from.lines + line]});
        }
        // Squares of what is very large or small are not in the range of a double: then all count as the largest.
        constexpr double kSmallest = 1e-280, kRoundedUp = 1e-9;
        const double largest = kept_value(sum.largest);
        const bool in_range = sum.squares > kSmallest && !isinf(sum.squares);
        const double log2_norm =
            in_range ? log2(sum.squares) / 2 : log2(largest) + log2(static_cast<double>(from.depth)) / 2;
        from.log2_norm[line] = log2_norm + kRoundedUp;
    }
    note_maximum(sum.largest, &args.words->max_bits[operand]);
}

}  // namespace

DeviceStatus launch_residue_norms(Scalar scalar, const ResidueLines (&operands)[2], void* scratch, GuardWords* words,
                                  StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    NormArguments args{};
    auto* next = static_cast<double*>(scratch);
    std::int64_t most_lines = 0, most_blocks = 0;
    for (int operand = 0; operand < 2; ++operand) {
        const ResidueLines& lines = operands[operand];
        args.operand[operand] = lines;
        args.lines_side_by_side[operand] = lines.line_stride == 1 && lines.depth_stride != 1;
        args.squares[operand] = next;
        args.largest[operand] = reinterpret_cast<unsigned long long*>(next + lines.lines * kNormParts);
        next += 2 * lines.lines * kNormParts;
        most_lines = std::max(most_lines, lines.lines);
        const std::int64_t together = args.lines_side_by_side[operand] ? 32 : kNormParts;
        most_blocks = std::max(most_blocks, (lines.lines + together - 1) / together);
    }
    args.words = words;
    const dim3 grid(static_cast<unsigned>(most_blocks), kNormParts, 2);
    if (scalar == Scalar::f64) {
        line_squares<double><<<grid, kThreads, 0, stream>>>(args);
    } else {
        line_squares<float><<<grid, kThreads, 0, stream>>>(args);
    }
    line_norms<<<dim3(static_cast<unsigned>((most_lines + kThreads - 1) / kThreads), 2), kThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
