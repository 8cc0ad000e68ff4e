// 2-norms of the rows of A and the columns of B, each read once; of complex numbers over both their parts. Sums are
// made in parts of a fixed order.
#include <algorithm>

#include "kernels/cuda/residue/residue_choice.cuh"
#include "kernels/cuda/residue/residue_complex.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

struct Part {
    double squares = 0, plain_squares = 0;  // with powers of two and without
    unsigned long long largest = 0;
    __device__ __forceinline__ void add(const Part& other) {
        squares += other.squares;
        plain_squares += other.plain_squares;
        largest = max(largest, other.largest);
    }
};

static_assert(sizeof(Part) == kNormPartBytes);

struct NormArguments {
    ResidueLines operand[2];
    bool lines_side_by_side[2], by_vectors[2];
    Part* parts[2];
    GuardWords* words;
    std::int64_t blocks;  // of lines
};

/// Several numbers of a line at a time, so that their loads are on the way together.
template <class T, bool HasPowers>
struct LineSum {
    static constexpr int kTogether = 8;
    static constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));
    double squares = 0, plain_squares = 0;
    MagnitudeOf<PartOf<T>> largest = 0;
    unsigned long long largest_with_powers = 0;

    __device__ __forceinline__ void add_one(const ResidueLines& from, T x, std::int64_t at, std::int64_t end) {
        if constexpr (kIsComplex<T>) {
            add_part(from, x.real, at, end);
            add_part(from, x.imaginary, at, end);
        } else {
            add_part(from, x, at, end);
        }
    }
    __device__ __forceinline__ void add_part(const ResidueLines& from, PartOf<T> x, std::int64_t at, std::int64_t end) {
        double value = x;
        if constexpr (HasPowers) {
            plain_squares = fma(value, value, plain_squares);
            value = times_power(value, at < end ? __ldg(from.inner + at) : 0);
            largest_with_powers = max(largest_with_powers, magnitude(value));
        } else {
            largest = max(largest, magnitude(x));
        }
        squares = fma(value, value, squares);
    }
    __device__ __forceinline__ void add(const ResidueLines& from, std::int64_t line, std::int64_t first,
                                        std::int64_t end, int step) {
        const T* const data = static_cast<const T*>(from.data) + line * from.line_stride;
        for (std::int64_t p = first; p < end; p += kTogether * step) {
            T x[kTogether];
#pragma unroll
            for (int i = 0; i < kTogether; ++i) {
                const std::int64_t at = p + i * step;
                x[i] = at < end ? load_constant(data + at * from.depth_stride) : T{};
            }
#pragma unroll
            for (int i = 0; i < kTogether; ++i) {
                add_one(from, x[i], p + i * step, end);
            }
        }
    }
    /// A line that begins on a 16-byte boundary, 16 bytes to a thread.
    __device__ __forceinline__ void add_by_vectors(const ResidueLines& from, std::int64_t line) {
        const T* const data = static_cast<const T*>(from.data) + line * from.line_stride;
        constexpr int kVectors = kTogether / kOfVector, kStep = kThreads * kOfVector;
        for (std::int64_t p = threadIdx.x * kOfVector; p < from.depth; p += kVectors * kStep) {
            alignas(16) T x[kTogether];
#pragma unroll
            for (int v = 0; v < kVectors; ++v) {
                const std::int64_t at = p + v * kStep;
                if (at + kOfVector <= from.depth) {
                    reinterpret_cast<uint4*>(x)[v] = __ldg(reinterpret_cast<const uint4*>(data + at));
                    continue;
                }
#pragma unroll
                for (int i = 0; i < kOfVector; ++i) {
                    x[v * kOfVector + i] = at + i < from.depth ? load_constant(data + at + i) : T{};
                }
            }
#pragma unroll
            for (int i = 0; i < kTogether; ++i) {
                add_one(from, x[i], p + i / kOfVector * kStep + i % kOfVector, from.depth);
            }
        }
    }
    __device__ __forceinline__ Part part() const {
        return {squares, plain_squares, max(kept_magnitude(largest), largest_with_powers)};
    }
};

/// A block to a line, or to 32 lines and a part of k where lines lie side by side.
template <class T, bool HasPowers>
__device__ __forceinline__ void add_squares(const NormArguments& args, std::int64_t block) {
    __shared__ Part parts[kWarps][32];
    const int operand = static_cast<int>(blockIdx.z);
    const ResidueLines& from = args.operand[operand];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    LineSum<T, HasPowers> sum;
    if (args.lines_side_by_side[operand]) {
        const std::int64_t line = block * 32 + lane;
        if (line < from.lines) {
            sum.add(from, line, from.depth * blockIdx.y / kNormParts + warp, from.depth * (blockIdx.y + 1) / kNormParts,
                    kWarps);
        }
        parts[warp][lane] = sum.part();
        __syncthreads();
        if (warp == 0 && line < from.lines) {
            for (int w = 1; w < kWarps; ++w) {
                parts[0][lane].add(parts[w][lane]);
            }
            args.parts[operand][blockIdx.y * from.lines + line] = parts[0][lane];
        }
        return;
    }
    const std::int64_t line = block * kNormParts + blockIdx.y;
    if (line >= from.lines) {
        return;
    }
    if (args.by_vectors[operand]) {
        sum.add_by_vectors(from, line);
    } else {
        sum.add(from, line, threadIdx.x, from.depth, kThreads);
    }
    Part part = sum.part();
    for (int offset = 16; offset > 0; offset /= 2) {
        part.add({__shfl_xor_sync(0xffffffffU, part.squares, offset),
                  __shfl_xor_sync(0xffffffffU, part.plain_squares, offset),
                  __shfl_xor_sync(0xffffffffU, part.largest, offset)});
    }
    if (lane == 0) {
        parts[warp][0] = part;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < kWarps; ++w) {
            part.add(parts[w][0]);
        }
        args.parts[operand][line] = part;
    }
}

template <class T>
__global__ void __launch_bounds__(kThreads) line_squares(const __grid_constant__ NormArguments args) {
    const ResidueLines& from = args.operand[blockIdx.z];
    if (from.inner == nullptr) {
        add_squares<T, false>(args, blockIdx.x);
    } else if (*from.scaled != 0) {  // otherwise they are known without
        for (std::int64_t block = blockIdx.x; block < args.blocks; block += gridDim.x) {
            add_squares<T, true>(args, block);
            __syncthreads();
        }
    }
}

__global__ void __launch_bounds__(kThreads) line_norms(const __grid_constant__ NormArguments args) {
    const int operand = static_cast<int>(blockIdx.y);
    const ResidueLines& from = args.operand[operand];
    const bool settles = from.inner != nullptr;
    if (settles && *from.scaled == 0) {
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            args.words->max_bits[operand] = args.words->plain_max_bits[operand];
        }
        return;
    }
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    Part sum;
    double growth = 0;
    if (line < from.lines) {
        const int parts = args.lines_side_by_side[operand] ? kNormParts : 1;
#pragma unroll
        for (int part = 0; part < kNormParts; ++part) {  // all on their way together
            if (part < parts) {
                sum.add(args.parts[operand][part * from.lines + line]);
            }
        }
        // Squares of what is very large or small are not in the range of a double: then all count as the largest.
        constexpr double kSmallest = 1e-280, kRoundedUp = 1e-9;
        const bool in_range = sum.squares > kSmallest && !isinf(sum.squares);
        if (from.is_complex) {  // an absolute value is at most sqrt(2) times the larger part
            sum.largest = magnitude(kept_value(sum.largest) * 1.4142135623730952);
        }
        const double log2_norm = in_range ? log2(sum.squares) / 2
                                          : log2(kept_value(sum.largest)) + log2(static_cast<double>(from.depth)) / 2;
        from.log2_norm[line] = log2_norm + kRoundedUp;
        // Beyond it nobody has compared results yet: left to the classical product, as what is not finite.
        constexpr double kMostOctaves = 480;
        const bool is_far = sum.largest != 0 && fabs(log2_norm) > kMostOctaves;
        if (settles && sum.largest != 0) {
            sum.largest = magnitude(times_power(kept_value(sum.largest), __ldg(from.outer + line)));
            const bool is_known = in_range && sum.plain_squares > kSmallest;
            growth = sum.squares == sum.plain_squares ? 1
                     : is_known                       ? sqrt(sum.squares / sum.plain_squares)
                                                      : __longlong_as_double(0x7ff0000000000000LL);  // infinity
        }
        if (is_far) {
            sum.largest = magnitude(__longlong_as_double(0x7ff0000000000000LL));
        }
    }
    note_maximum(sum.largest, settles ? &args.words->max_bits[operand] : &args.words->plain_max_bits[operand]);
    if (settles) {
        note_maximum(magnitude(growth), &args.words->line_growth[operand]);
    }
}

}  // namespace

DeviceStatus launch_residue_norms(Scalar scalar, const ResidueLines (&operands)[2], void* scratch, GuardWords* words,
                                  StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    NormArguments args{};
    const bool is_complex = operands[0].is_complex;
    const std::int64_t element = (scalar == Scalar::f64 ? 8 : 4) * (is_complex ? 2 : 1);
    auto* next = static_cast<Part*>(scratch);
    std::int64_t most_lines = 0, most_blocks = 0;
    for (int operand = 0; operand < 2; ++operand) {
        const ResidueLines& lines = operands[operand];
        args.operand[operand] = lines;
        args.lines_side_by_side[operand] = lines.line_stride == 1 && lines.depth_stride != 1;
        args.by_vectors[operand] = lines.depth_stride == 1 && lines.line_stride * element % 16 == 0 &&
                                   reinterpret_cast<std::uintptr_t>(lines.data) % 16 == 0;
        args.parts[operand] = next;
        next += lines.lines * kNormParts;
        most_lines = std::max(most_lines, lines.lines);
        const std::int64_t together = args.lines_side_by_side[operand] ? 32 : kNormParts;
        most_blocks = std::max(most_blocks, (lines.lines + together - 1) / together);
    }
    args.words = words;
    args.blocks = most_blocks;
    // Blocks that most often have nothing to do are few, each with many lines where they have.
    constexpr std::int64_t kFewBlocks = 64;
    const std::int64_t blocks = operands[0].inner == nullptr ? most_blocks : std::min(most_blocks, kFewBlocks);
    const dim3 grid(static_cast<unsigned>(blocks), kNormParts, 2);
    if (is_complex) {
        with_complex_type(scalar, [&](auto example) -> DeviceStatus {
            line_squares<decltype(example)><<<grid, kThreads, 0, stream>>>(args);
            return 0;
        });
    } else if (scalar == Scalar::f64) {
        line_squares<double><<<grid, kThreads, 0, stream>>>(args);
    } else {
        line_squares<float><<<grid, kThreads, 0, stream>>>(args);
    }
    line_norms<<<dim3(static_cast<unsigned>((most_lines + kThreads - 1) / kThreads), 2), kThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
