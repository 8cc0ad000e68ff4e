// Rows of A and columns of B, every number of them read once: what kernels that look at whole lines share. Sums are
// made in parts of a fixed order.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/cuda/residue/residue_choice.cuh"
#include "kernels/cuda/residue/residue_complex.cuh"
#include "kernels/cuda/residue/residue_kept.hpp"

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
    std::int64_t part_stride[2];
    GuardWords* words;
    std::int64_t lines;  // of the operand with most
    int blocks[2];       // that thread blocks take one after another
    dim3 grid_of_lines() const { return dim3(static_cast<unsigned>((lines + kThreads - 1) / kThreads), 2); }
};

/// `scratch`: kNormParts parts of each line.
template <class Part>
LineArguments<Part> line_arguments(Scalar scalar, const ResidueLines (&operands)[2], void* scratch, GuardWords* words,
                                   const MeasuredLines (&measured)[2] = {}) {
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
        args.by_vectors[operand] =
            across ? lines.depth_stride * element % 16 == 0 && reinterpret_cast<std::uintptr_t>(lines.data) % 16 == 0
                   : lines.depth_stride == 1;
        args.warps_to_line[operand] = lines.lines < kManyLines ? kWarps : 1;
        const bool is_kept = measured[operand].parts != nullptr;
        args.parts[operand] = is_kept ? static_cast<Part*>(measured[operand].parts) : next;
        args.part_stride[operand] = is_kept ? measured[operand].stride : lines.lines;
        next += is_kept ? 0 : lines.lines * kNormParts;
        args.lines = std::max(args.lines, lines.lines);
        const std::int64_t together = across ? 32 * 16 / element : kWarps / args.warps_to_line[operand];
        args.blocks[operand] = static_cast<int>((lines.lines + together - 1) / together * (across ? kNormParts : 1));
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
    count = static_cast<unsigned>(std::min(args.blocks[0] + args.blocks[1], 2 * multiprocessors));
    return status;
}

/// Numbers in 16 bytes.
template <class T>
constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));

/// From a boundary. By numbers, not by words of 32 bits: where those are put together to doubles first, a load is
/// waited for before the next one starts.
template <class T>
__device__ __forceinline__ void load_vector(const T* from, T* to) {
    if constexpr (sizeof(PartOf<T>) == 8) {
        reinterpret_cast<double2*>(to)[0] = __ldg(reinterpret_cast<const double2*>(from));
    } else {
        reinterpret_cast<float4*>(to)[0] = __ldg(reinterpret_cast<const float4*>(from));
    }
}

/// How many numbers there are between the last boundary and this one.
template <class T>
__device__ __forceinline__ int place_in_vector(const T* at) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % 16 / sizeof(T));
}

/// A part of every line in the hands of a thread block, as its warps found it.
template <class T, class Part>
using PartsOfBlock = Part[kWarps][32 * kOfVector<T>];

/// Lines side by side: 16 bytes of them to a lane, a part of k to a block. `Wide`: so many are read together, which is
/// one where a row of them does not begin on a boundary, or ends within the block.
template <int Wide, class T, class Sum, class Part>
__device__ __forceinline__ void add_across(const LineArguments<Part>& args, int operand, int part_of_k, int block,
                                           PartsOfBlock<T, Part>& parts) {
    constexpr int kOwn = kOfVector<T>, kLines = 32 * kOwn;
    constexpr int kRows = Wide == 1 ? Sum::kVectors / 2 : Sum::kVectors;  // more have no registers
    const ResidueLines& from = args.operand[operand];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t first_line = std::int64_t{block} * kLines;
    const int lines = static_cast<int>(min(from.lines - first_line, std::int64_t{kLines}));
    const int end = static_cast<int>(from.depth * (part_of_k + 1) / kNormParts);
    const int first = static_cast<int>(from.depth * part_of_k / kNormParts) + warp;
    const auto place = [&](int v) { return Wide == 1 ? v * 32 + lane : lane * kOwn + v; };
    const auto* at = static_cast<const T*>(from.data) + first_line + place(0) + first * from.depth_stride;
    const std::int64_t step = kWarps * from.depth_stride;
    Sum sums[kOwn];
#pragma unroll
    for (int v = 0; v < kOwn; ++v) {
        sums[v].begin(from, first_line + min(place(v), lines - 1));
    }
    int p = first;
    // Those at the end by themselves: loads that may not be there are waited for earlier.
    const auto add_rows = [&](auto are_there) {
        alignas(16) T x[kRows][kOwn] = {};
#pragma unroll
        for (int i = 0; i < kRows; ++i, at += step) {
            const bool is_there = are_there() || p + i * kWarps < end;
            if constexpr (Wide == 1) {
#pragma unroll
                for (int v = 0; v < kOwn; ++v) {
                    if (is_there && place(v) < lines) {
                        x[i][v] = load_constant(at + 32 * v);
                    }
                }
            } else if (is_there) {
                load_vector(at, x[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
            for (int v = 0; v < kOwn; ++v) {
                sums[v].add(from, x[i][v], p + i * kWarps);
            }
        }
        p += kRows * kWarps;
    };
    while (p + (kRows - 1) * kWarps < end) {
        add_rows(std::true_type{});
    }
    if (p < end) {
        add_rows(std::false_type{});
    }
#pragma unroll
    for (int v = 0; v < kOwn; ++v) {
        parts[warp][place(v)] = sums[v].part();
    }
    __syncthreads();
    const auto own = static_cast<int>(threadIdx.x);
    if (own < lines) {
        for (int w = 1; w < kWarps; ++w) {
            parts[0][own].add(parts[w][own]);
        }
        args.parts[operand][part_of_k * args.part_stride[operand] + first_line + own] = parts[0][own];
    }
}

/// Lines along k: one to a warp, or to all of a block where there are few. `Wide`: so many neighbours are read together
/// from the first boundary on, those before it and behind the last one by themselves.
template <int Wide, class T, class Sum, class Part>
__device__ __forceinline__ void add_along(const LineArguments<Part>& args, int operand, int block,
                                          PartsOfBlock<T, Part>& parts) {
    constexpr int kOwn = kOfVector<T>, kLoads = Sum::kVectors * kOwn / Wide;
    const ResidueLines& from = args.operand[operand];
    const int together = args.warps_to_line[operand];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int own = warp % together * 32 + lane, step = 32 * together;
    const std::int64_t line = std::int64_t{block} * (kWarps / together) + warp / together;
    Sum sum;
    sum.begin(from, min(line, from.lines - 1));
    const int end = line < from.lines ? static_cast<int>(from.depth) : 0;
    const auto* const data = static_cast<const T*>(from.data) + line * from.line_stride;
    const int head = Wide == 1 ? 0 : min((kOwn - place_in_vector(data)) % kOwn, end);
    const int count = (end - head) / Wide, tail = head + count * Wide;
    T ends[2] = {};
    if constexpr (Wide > 1) {
        if (own < head) {
            ends[0] = load_constant(data + own);
        }
        if (tail + own < end) {
            ends[1] = load_constant(data + tail + own);
        }
    }
    for (int w = own; w < count; w += kLoads * step) {
        alignas(16) T x[kLoads][Wide] = {};
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            if (w + i * step < count) {
                if constexpr (Wide == 1) {
                    x[i][0] = load_constant(data + (w + i * step) * from.depth_stride);
                } else {
                    load_vector(data + head + (w + i * step) * Wide, x[i]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
#pragma unroll
            for (int v = 0; v < Wide; ++v) {
                sum.add(from, x[i][v], head + (w + i * step) * Wide + v);
            }
        }
    }
    if constexpr (Wide > 1) {
        sum.add(from, ends[0], own);
        sum.add(from, ends[1], tail + own);
    }
    Part part = sum.part();
    for (int offset = 16; offset > 0; offset /= 2) {
        part.add(part.of_lane(offset));
    }
    if (together > 1) {
        if (lane == 0) {
            parts[warp][0] = part;
        }
        __syncthreads();
        for (int w = 1; w < kWarps && threadIdx.x == 0; ++w) {
            part.add(parts[w][0]);
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
    constexpr int kWide = kOfVector<T>;
    __shared__ PartsOfBlock<T, Part> parts;
    for (auto i = static_cast<int>(blockIdx.x); i < args.blocks[0] + args.blocks[1]; i += static_cast<int>(gridDim.x)) {
        const int operand = i < args.blocks[0] ? 0 : 1, block = operand == 0 ? i : i - args.blocks[0];
        const bool by_vectors = args.by_vectors[operand];
        if (args.lines_side_by_side[operand]) {
            const int across = args.blocks[operand] / kNormParts, place = block % across, part_of_k = block / across;
            if (by_vectors && (place + 1) * std::int64_t{32 * kWide} <= args.operand[operand].lines) {
                add_across<kWide, T, Sum>(args, operand, part_of_k, place, parts);
            } else {
                add_across<1, T, Sum>(args, operand, part_of_k, place, parts);
            }
        } else if (by_vectors) {
            add_along<kWide, T, Sum>(args, operand, block, parts);
        } else {
            add_along<1, T, Sum>(args, operand, block, parts);
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
            sum.add(args.parts[operand][part * args.part_stride[operand] + line]);
        }
    }
    return sum;
}

}  // namespace
}  // namespace heptad::cuda
