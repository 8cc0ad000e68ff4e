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
    int warps_to_line[2];  // where they do not
    Part* parts[2];
    GuardWords* words;
    std::int64_t blocks[2];  // of lines
};

/// Numbers in 16 bytes, which a thread reads at a time where the boundaries allow it.
template <class T>
constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));
/// So many are on their way together.
template <bool HasPowers>
constexpr int kVectors = HasPowers ? 4 : 8;

template <class T>
__device__ __forceinline__ void load_vector(const T* from, T (&to)[kOfVector<T>]) {
    *reinterpret_cast<uint4*>(to) = __ldg(reinterpret_cast<const uint4*>(from));
}

template <class T, bool HasPowers>
struct LineSum {
    double squares = 0, plain_squares = 0;
    MagnitudeOf<PartOf<T>> largest = 0;
    unsigned long long largest_with_powers = 0;

    /// `at`: its place along k. What lies behind the end is zero.
    __device__ __forceinline__ void add(const ResidueLines& from, T x, std::int64_t at) {
        if constexpr (kIsComplex<T>) {
            add_part(from, x.real, at);
            add_part(from, x.imaginary, at);
        } else {
            add_part(from, x, at);
        }
    }
    __device__ __forceinline__ void add_part(const ResidueLines& from, PartOf<T> x, std::int64_t at) {
        double value = x;
        if constexpr (HasPowers) {
            plain_squares = fma(value, value, plain_squares);
            value = times_power(value, at < from.depth ? __ldg(from.inner + at) : 0);
            largest_with_powers = max(largest_with_powers, magnitude(value));
        } else {
            largest = max(largest, magnitude(x));
        }
        squares = fma(value, value, squares);
    }
    __device__ __forceinline__ Part part() const {
        return {squares, plain_squares, max(kept_magnitude(largest), largest_with_powers)};
    }
};

/// Lines side by side: 16 bytes of them to a lane, a part of k to a block.
template <class T, bool HasPowers>
__device__ __forceinline__ void add_across(const NormArguments& args, int operand, int part_of_k, std::int64_t block) {
    constexpr int kOwn = kOfVector<T>, kLines = 32 * kOwn;
    __shared__ Part parts[kWarps][kLines];
    const ResidueLines& from = args.operand[operand];
    const bool by_vectors = args.by_vectors[operand];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t first_line = block * kLines, end = from.depth * (part_of_k + 1) / kNormParts;
    const auto* const data = static_cast<const T*>(from.data) + first_line;
    const auto place = [&](int v) { return by_vectors ? lane * kOwn + v : v * 32 + lane; };
    LineSum<T, HasPowers> sums[kOwn];
    for (std::int64_t p = from.depth * part_of_k / kNormParts + warp; p < end; p += kVectors<HasPowers> * kWarps) {
        alignas(16) T x[kVectors<HasPowers>][kOwn];
#pragma unroll
        for (int i = 0; i < kVectors<HasPowers>; ++i) {
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
        for (int i = 0; i < kVectors<HasPowers>; ++i) {
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
template <class T, bool HasPowers>
__device__ __forceinline__ void add_along(const NormArguments& args, int operand, std::int64_t block) {
    constexpr int kOwn = kOfVector<T>;
    __shared__ Part parts[kWarps];
    const ResidueLines& from = args.operand[operand];
    const bool by_vectors = args.by_vectors[operand];
    const int together = args.warps_to_line[operand];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int own = warp % together * 32 + lane, step = 32 * together;
    const std::int64_t line = block * (kWarps / together) + warp / together;
    LineSum<T, HasPowers> sum;
    const std::int64_t end = line < from.lines ? from.depth : 0;
    const auto* const data = static_cast<const T*>(from.data) + line * from.line_stride;
    for (std::int64_t p = 0; p < end; p += kVectors<HasPowers> * step * kOwn) {
        alignas(16) T x[kVectors<HasPowers>][kOwn];
        const auto place = [&](int i, int v) {
            return p + (by_vectors ? (i * step + own) * kOwn + v : (i * kOwn + v) * step + own);
        };
#pragma unroll
        for (int i = 0; i < kVectors<HasPowers>; ++i) {
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
        for (int i = 0; i < kVectors<HasPowers>; ++i) {
#pragma unroll
            for (int v = 0; v < kOwn; ++v) {
                sum.add(from, x[i][v], place(i, v));
            }
        }
    }
    Part part = sum.part();
    for (int offset = 16; offset > 0; offset /= 2) {
        part.add({__shfl_xor_sync(0xffffffffU, part.squares, offset),
                  __shfl_xor_sync(0xffffffffU, part.plain_squares, offset),
                  __shfl_xor_sync(0xffffffffU, part.largest, offset)});
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

template <class T, bool HasPowers>
__global__ void __launch_bounds__(kThreads, HasPowers ? 2 : 4)
    line_squares(const __grid_constant__ NormArguments args) {
    if (HasPowers && *args.operand[0].scaled == 0) {
        return;  // they are known without
    }
    for (std::int64_t i = blockIdx.x; i < args.blocks[0] + args.blocks[1]; i += gridDim.x) {
        const int operand = i < args.blocks[0] ? 0 : 1;
        const std::int64_t block = operand == 0 ? i : i - args.blocks[0];
        if (args.lines_side_by_side[operand]) {
            const std::int64_t across = args.blocks[operand] / kNormParts;
            add_across<T, HasPowers>(args, operand, static_cast<int>(block / across), block % across);
        } else {
            add_along<T, HasPowers>(args, operand, block);
        }
        __syncthreads();
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
    constexpr std::int64_t kManyLines = 2048;  // enough warps for all multiprocessors
    std::int64_t most_lines = 0;
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
        most_lines = std::max(most_lines, lines.lines);
        const std::int64_t together = across ? 32 * 16 / element : kWarps / args.warps_to_line[operand];
        args.blocks[operand] = (lines.lines + together - 1) / together * (across ? kNormParts : 1);
    }
    args.words = words;
    const bool has_powers = operands[0].inner != nullptr;
    // Half of the registers: those who judge run beside it.
    constexpr int kOfMultiprocessor = 2;
    int device = 0, multiprocessors = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    }
    if (status != cudaSuccess) {
        return status;
    }
    const auto blocks = static_cast<unsigned>(
        std::min<std::int64_t>(args.blocks[0] + args.blocks[1], multiprocessors * kOfMultiprocessor));
    const auto start = [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        (has_powers ? line_squares<T, true> : line_squares<T, false>)<<<blocks, kThreads, 0, stream>>>(args);
        return 0;
    };
    if (is_complex) {
        with_complex_type(scalar, start);
    } else if (scalar == Scalar::f64) {
        start(double());
    } else {
        start(float());
    }
    line_norms<<<dim3(static_cast<unsigned>((most_lines + kThreads - 1) / kThreads), 2), kThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
