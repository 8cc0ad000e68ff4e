// Rows of A and columns of B, every number of them read once: what kernels that look at whole lines share. Sums are
// made in parts of a fixed order.
#pragma once

#include <algorithm>

#include "kernels/cuda/residue/residue_choice.cuh"
#include "kernels/cuda/residue/residue_complex.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

/// `Part` is what is known of a part of a line: others can be added to it, and it can be had from another lane.
template <class Part>
struct LineArguments {
    ResidueLines operand[2];
    bool lines_side_by_side[2], by_vectors[2];
    int warps_to_line[2];  // where they do not
    Part* parts[2];
    GuardWords* words;
    std::int64_t lines;      // of the operand with most
    std::int64_t blocks[2];  // that thread blocks take one after another
    dim3 grid_of_lines() const { return dim3(static_cast<unsigned>((lines + kThreads - 1) / kThreads), 2); }
};

/// `scratch`: kNormParts parts of each line.
template <class Part>
LineArguments<Part> line_arguments(Scalar scalar, const ResidueLines (&operands)[2], void* scratch, GuardWords* words) {
    static_assert(sizeof(Part) == kNormPartBytes);
    LineArguments<Part> args{};
    const std::int64_t element = (scalar == Scalar::f64 ? 8 : 4) * (operands[0].is_complex ? 2 : 1);
    auto* next = static_cast<Part*>(scratch);
    constexpr std::int64_t kManyLines = 2048;  // enough warps for all multiprocessors
    for (int operand = 0; operand < 2; ++operand) {
        const ResidueLines& lines = operands[operand];
        args.operand[operand] = lines;
        args.lines_side_by_side[operand] = lines.line_stride == 1 && lines.depth_stride != 1;
        const bool across = args.lines_side_by_side[operand];
        args.by_vectors[operand] = (across ? lines.line_stride : lines.depth_stride) == 1 &&
                                   (across ? lines.depth_stride : lines.line_stride) * element % 16 == 0 &&
                                   reinterpret_cast<std::uintptr_t>(lines.data) % 16 == 0;
        args.warps_to_line[operand] = lines.lines < kManyLines ? kWarps : 1;
        args.parts[operand] = next;
        next += lines.lines * kNormParts;
        args.lines = std::max(args.lines, lines.lines);
        const std::int64_t together = across ? 32 * 16 / element : kWarps / args.warps_to_line[operand];
        args.blocks[operand] = (lines.lines + together - 1) / together * (across ? kNormParts : 1);
    }
    args.words = words;
    return args;
}

/// Two to a multiprocessor, with half of its registers: those who judge samples run beside them.
template <class Part>
cudaError_t count_thread_blocks(const LineArguments<Part>& args, unsigned& count) {
    int device = 0, multiprocessors = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    }
    count = static_cast<unsigned>(std::min<std::int64_t>(args.blocks[0] + args.blocks[1], 2 * multiprocessors));
    return status;
}

/// Numbers in 16 bytes, which a thread reads at a time where the boundaries allow it.
template <class T>
constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));
template <class T>
__device__ __forceinline__ void load_vector(const T* from, T (&to)[kOfVector<T>]) {
    *reinterpret_cast<uint4*>(to) = __ldg(reinterpret_cast<const uint4*>(from));
}

/// Lines side by side: 16 bytes of them to a lane, a part of k to a block.
template <class T, class Sum, class Part>
__device__ __forceinline__ void add_across(const LineArguments<Part>& args, int operand, int part_of_k,
                                           std::int64_t block) {
    constexpr int kOwn = kOfVector<T>, kLines = 32 * kOwn;
    __shared__ Part parts[kWarps][kLines];
    const ResidueLines& from = args.operand[operand];
    const bool by_vectors = args.by_vectors[operand];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t first_line = block * kLines, end = from.depth * (part_of_k + 1) / kNormParts;
    const auto* const data = static_cast<const T*>(from.data) + first_line;
    const auto place = [&](int v) { return by_vectors ? lane * kOwn + v : v * 32 + lane; };
    Sum sums[kOwn];
#pragma unroll
    for (int v = 0; v < kOwn; ++v) {
        sums[v].begin(from, min(first_line + place(v), from.lines - 1));
    }
    for (std::int64_t p = from.depth * part_of_k / kNormParts + warp; p < end; p += Sum::kVectors * kWarps) {
        alignas(16) T x[Sum::kVectors][kOwn];
#pragma unroll
        for (int i = 0; i < Sum::kVectors; ++i) {
            const std::int64_t at = p + i * kWarps;
            if (by_vectors && at < end && first_line + (lane + 1) * kOwn <= from.lines) {
                load_vector(data + at * from.depth_stride + lane * kOwn, x[i]);
                continue;
            }
#pragma unroll
            for (int v = 0; v < kOwn; ++v) {
                x[i][v] = at < end && first_line + place(v) < from.lines
                              ? load_constant(data + at * from.depth_stride + place(v))
                              : T{};
            }
        }
#pragma unroll
        for (int i = 0; i < Sum::kVectors; ++i) {
#pragma unroll
            for (int v = 0; v < kOwn; ++v) {
                sums[v].add(from, x[i][v], p + i * kWarps);
            }
        }
    }
#pragma unroll
    for (int v = 0; v < kOwn; ++v) {
        parts[warp][place(v)] = sums[v].part();
    }
    __syncthreads();
    const auto own = static_cast<int>(threadIdx.x);
    if (own < kLines && first_line + own < from.lines) {
        for (int w = 1; w < kWarps; ++w) {
            parts[0][own].add(parts[w][own]);
        }
        args.parts[operand][part_of_k * from.lines + first_line + own] = parts[0][own];
    }
}

/// Lines along k: one to a warp, or to all of a block where there are few.
template <class T, class Sum, class Part>
__device__ __forceinline__ void add_along(const LineArguments<Part>& args, int operand, std::int64_t block) {
    constexpr int kOwn = kOfVector<T>;
    __shared__ Part parts[kWarps];
    const ResidueLines& from = args.operand[operand];
    const bool by_vectors = args.by_vectors[operand];
    const int together = args.warps_to_line[operand];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int own = warp % together * 32 + lane, step = 32 * together;
    const std::int64_t line = block * (kWarps / together) + warp / together;
    Sum sum;
    sum.begin(from, min(line, from.lines - 1));
    const std::int64_t end = line < from.lines ? from.depth : 0;
    const auto* const data = static_cast<const T*>(from.data) + line * from.line_stride;
    for (std::int64_t p = 0; p < end; p += Sum::kVectors * step * kOwn) {
        alignas(16) T x[Sum::kVectors][kOwn];
        const auto place = [&](int i, int v) {
            return p + (by_vectors ? (i * step + own) * kOwn + v : (i * kOwn + v) * step + own);
        };
#pragma unroll
        for (int i = 0; i < Sum::kVectors; ++i) {
            if (by_vectors && place(i, kOwn) <= end) {
                load_vector(data + place(i, 0), x[i]);
                continue;
            }
#pragma unroll
            for (int v = 0; v < kOwn; ++v) {
                const std::int64_t at = place(i, v);
                x[i][v] = at < end ? load_constant(data + at * from.depth_stride) : T{};
            }
        }
#pragma unroll
        for (int i = 0; i < Sum::kVectors; ++i) {
#pragma unroll
            for (int v = 0; v < kOwn; ++v) {
                sum.add(from, x[i][v], place(i, v));
            }
        }
    }
    Part part = sum.part();
    for (int offset = 16; offset > 0; offset /= 2) {
        part.add(part.of_lane(offset));
    }
    if (together > 1) {
        if (lane == 0) {
            parts[warp] = part;
        }
        __syncthreads();
        for (int w = 1; w < kWarps && threadIdx.x == 0; ++w) {
            part.add(parts[w]);
        }
    }
    if (own == 0 && line < from.lines) {
        args.parts[operand][line] = part;
    }
}

/// A thread begins a `Sum` with its line, adds numbers to it with their places along k (what lies behind the end is
/// zero), and keeps sum.part(). Sum::kVectors times 16 bytes are on their way together.
template <class T, class Sum, class Part>
__device__ __forceinline__ void add_lines(const LineArguments<Part>& args) {
    for (std::int64_t i = blockIdx.x; i < args.blocks[0] + args.blocks[1]; i += gridDim.x) {
        const int operand = i < args.blocks[0] ? 0 : 1;
        const std::int64_t block = operand == 0 ? i : i - args.blocks[0];
        if (args.lines_side_by_side[operand]) {
            const std::int64_t across = args.blocks[operand] / kNormParts;
            add_across<T, Sum>(args, operand, static_cast<int>(block / across), block % across);
        } else {
            add_along<T, Sum>(args, operand, block);
        }
        __syncthreads();
    }
}

/// Of a line, by the thread that has it to itself.
template <class Part>
__device__ __forceinline__ Part whole_line(const LineArguments<Part>& args, int operand, std::int64_t line) {
    const int parts = args.lines_side_by_side[operand] ? kNormParts : 1;
    Part sum;
#pragma unroll
    for (int part = 0; part < kNormParts; ++part) {  // all on their way together
        if (part < parts) {
            sum.add(args.parts[operand][part * args.operand[operand].lines + line]);
        }
    }
    return sum;
}

}  // namespace
}  // namespace heptad::cuda
