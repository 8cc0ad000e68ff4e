// 2-norms of the rows of A and the columns of B, each read once; of complex numbers over both their parts.
#include <cstddef>

#include "kernels/cuda/residue/residue_lines.cuh"

namespace heptad::cuda {
namespace {

struct Part {
    double squares = 0, plain_squares = 0;  // with powers of two and without
    unsigned long long largest = 0;
    __device__ __forceinline__ void add(const Part& other) {
        squares += other.squares;
        plain_squares += other.plain_squares;
        largest = max(largest, other.largest);
    }
    __device__ __forceinline__ Part of_lane(int offset) const {
        return {__shfl_xor_sync(0xffffffffU, squares, offset), __shfl_xor_sync(0xffffffffU, plain_squares, offset),
                __shfl_xor_sync(0xffffffffU, largest, offset)};
    }
};

using NormArguments = LineArguments<Part>;

template <class T, bool HasPowers>
struct LineSum {
    double squares = 0, plain_squares = 0;
    MagnitudeOf<PartOf<T>> largest = 0;
    unsigned long long largest_with_powers = 0;

    static constexpr int kVectors = HasPowers ? 4 : 8;
    __device__ __forceinline__ void begin(const ResidueLines&, std::int64_t) {}
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

template <class T, bool HasPowers>
__global__ void __launch_bounds__(kThreads, HasPowers ? 2 : 4)
    line_squares(const __grid_constant__ NormArguments args) {
    if (!HasPowers || *args.operand[0].scaled != 0) {  // otherwise they are known without
        add_lines<T, LineSum<T, HasPowers>>(args);
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
        sum = whole_line(args, operand, line);
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

/// Without the first lines of each operand, whose parts are there.
NormArguments arguments_of_rest(Scalar scalar, const ResidueLines (&operands)[2], const MeasuredLines (&measured)[2],
                                void* scratch, GuardWords* words) {
    ResidueLines rest[2] = {operands[0], operands[1]};
    MeasuredLines parts_of_rest[2] = {measured[0], measured[1]};
    const std::int64_t element = scalar == Scalar::f64 ? 8 : 4;
    for (int operand = 0; operand < 2; ++operand) {
        if (const MeasuredLines& known = measured[operand]; known.parts != nullptr) {
            rest[operand].data =
                static_cast<const std::byte*>(rest[operand].data) + known.known * rest[operand].line_stride * element;
            rest[operand].lines -= known.known;
            parts_of_rest[operand].parts = static_cast<Part*>(known.parts) + known.known;
        }
    }
    return line_arguments<Part>(scalar, rest, scratch, words, parts_of_rest);
}

}  // namespace

DeviceStatus launch_residue_norms(Scalar scalar, const ResidueLines (&operands)[2], const MeasuredLines (&measured)[2],
                                  void* scratch, GuardWords* words, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    const NormArguments args = line_arguments<Part>(scalar, operands, scratch, words, measured),
                        rest = arguments_of_rest(scalar, operands, measured, scratch, words);
    const bool has_powers = operands[0].inner != nullptr;
    unsigned blocks = 0;
    if (const cudaError_t status = count_thread_blocks(rest, blocks); status != cudaSuccess) {
        return status;
    }
    const auto start = [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        if (blocks > 0) {  // or all are known
            (has_powers ? line_squares<T, true> : line_squares<T, false>)<<<blocks, kThreads, 0, stream>>>(rest);
        }
        return 0;
    };
    if (operands[0].is_complex) {
        with_complex_type(scalar, start);
    } else if (scalar == Scalar::f64) {
        start(double());
    } else {
        start(float());
    }
    line_norms<<<args.grid_of_lines(), kThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
