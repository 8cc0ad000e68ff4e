// Of the rows of A and the columns of B, each read once: the exponent of the lowest set bit and the norm as integers.
#include <algorithm>

#include "kernels/cuda/device/device_code.cuh"
#include "kernels/cuda/residue/exact_integers.hpp"
#include "kernels/cuda/residue/exact_launches.hpp"

namespace heptad::cuda {
namespace {

constexpr int kLookThreads = 256, kLookWarps = kLookThreads / 32, kTogether = 8;
static_assert(sizeof(ExactLine) == kNormPartBytes);

struct LineArguments {
    ResidueLines operand[2];
    bool lines_side_by_side[2];
    ExactLine* parts[2];
    ExactWords* words;
};

/// Several numbers at a time, so that their loads are on the way together.
template <class T>
__device__ __forceinline__ ExactLine look_at(const ResidueLines& from, std::int64_t line, std::int64_t first,
                                             std::int64_t end, int step) {
    const T* const data = static_cast<const T*>(from.data) + line * from.line_stride;
    ExactLine found;
    for (std::int64_t p = first; p < end; p += kTogether * step) {
        T x[kTogether];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
            const std::int64_t at = p + i * step;
            x[i] = at < end ? __ldg(data + at * from.depth_stride) : T(0);
        }
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
            found.note(x[i]);
        }
    }
    return found;
}

/// A block to a line, or to 32 lines and a part of k where lines lie side by side.
template <class T>
__global__ void __launch_bounds__(kLookThreads) look_at_lines(const __grid_constant__ LineArguments args) {
    __shared__ ExactLine parts[kLookWarps][32];
    const int operand = static_cast<int>(blockIdx.z);
    const ResidueLines& from = args.operand[operand];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    if (args.lines_side_by_side[operand]) {
        const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * 32 + lane;
        if (line < from.lines) {
            parts[warp][lane] = look_at<T>(from, line, from.depth * blockIdx.y / kNormParts + warp,
                                           from.depth * (blockIdx.y + 1) / kNormParts, kLookWarps);
        }
        __syncthreads();
        if (warp == 0 && line < from.lines) {
            for (int w = 1; w < kLookWarps; ++w) {
                parts[0][lane].add(parts[w][lane]);
            }
            args.parts[operand][blockIdx.y * from.lines + line] = parts[0][lane];
        }
        return;
    }
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kNormParts + blockIdx.y;
    if (line >= from.lines) {
        return;
    }
    ExactLine part = look_at<T>(from, line, threadIdx.x, from.depth, kLookThreads);
    for (int offset = 16; offset > 0; offset /= 2) {
        ExactLine other;
        other.squares = __shfl_xor_sync(0xffffffffU, part.squares, offset);
        other.largest = __shfl_xor_sync(0xffffffffU, static_cast<unsigned long long>(part.largest), offset);
        other.lowest = __shfl_xor_sync(0xffffffffU, part.lowest, offset);
        part.add(other);
    }
    if (lane == 0) {
        parts[warp][0] = part;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kLookWarps; ++w) {
            part.add(parts[w][0]);
        }
        args.parts[operand][line] = part;
    }
}

__global__ void __launch_bounds__(kLookThreads) settle_lines(const __grid_constant__ LineArguments args) {
    const int operand = static_cast<int>(blockIdx.y);
    const ResidueLines& from = args.operand[operand];
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kLookThreads + threadIdx.x;
    double norm = 0;
    if (line < from.lines) {
        ExactLine all;
        const int parts = args.lines_side_by_side[operand] ? kNormParts : 1;
        for (int part = 0; part < parts; ++part) {
            all.add(args.parts[operand][part * from.lines + line]);
        }
        from.exponents[line] = all.exponent();
        norm = all.log2_norm(from.depth);
    }
    note_maximum(magnitude(norm), &args.words->norms[operand]);
}

}  // namespace

DeviceStatus launch_exact_lines(ExactElement element, const ResidueLines (&operands)[2], void* scratch,
                                ExactWords* words, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    LineArguments args{};
    auto* next = static_cast<ExactLine*>(scratch);
    std::int64_t most_lines = 0, most_blocks = 0;
    for (int operand = 0; operand < 2; ++operand) {
        const ResidueLines& lines = operands[operand];
        args.operand[operand] = lines;
        args.lines_side_by_side[operand] = lines.line_stride == 1 && lines.depth_stride != 1;
        args.parts[operand] = next;
        next += lines.lines * kNormParts;
        most_lines = std::max(most_lines, lines.lines);
        const std::int64_t together = args.lines_side_by_side[operand] ? 32 : kNormParts;
        most_blocks = std::max(most_blocks, (lines.lines + together - 1) / together);
    }
    args.words = words;
    const cudaError_t status = cudaMemsetAsync(words, 0, sizeof(ExactWords), stream);
    if (status != cudaSuccess) {
        return status;
    }
    const dim3 grid(static_cast<unsigned>(most_blocks), kNormParts, 2);
    if (element == ExactElement::f64) {
        look_at_lines<double><<<grid, kLookThreads, 0, stream>>>(args);
    } else {
        look_at_lines<float><<<grid, kLookThreads, 0, stream>>>(args);
    }
    settle_lines<<<dim3(static_cast<unsigned>((most_lines + kLookThreads - 1) / kLookThreads), 2), kLookThreads, 0,
                   stream>>>(args);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
