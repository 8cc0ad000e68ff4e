// How many numbers of each row of A and column of B are how large, beside their norms, and what that says of products.
#include "kernels/cuda/residue/residue_certificate.hpp"

#include <cmath>

#include "kernels/cuda/residue/residue_lines.cuh"

namespace heptad::cuda {
namespace {

struct CountPart {
    std::uint32_t reached[kCountedSteps] = {};
    unsigned long long least = ~0ULL;  // a magnitude, less one: a zero counts as the largest
    __device__ __forceinline__ void add(const CountPart& other) {
#pragma unroll
        for (int s = 0; s < kCountedSteps; ++s) {
            reached[s] += other.reached[s];
        }
        least = min(least, other.least);
    }
    __device__ __forceinline__ CountPart of_lane(int offset) const {
        CountPart other;
#pragma unroll
        for (int s = 0; s < kCountedSteps; ++s) {
            other.reached[s] = __shfl_xor_sync(0xffffffffU, reached[s], offset);
        }
        other.least = __shfl_xor_sync(0xffffffffU, least, offset);
        return other;
    }
};

/// N / sqrt(k).
__device__ __forceinline__ double usual_size(const ResidueLines& from, std::int64_t line) {
    return exp2(__ldg(from.log2_norm + line)) / sqrt(static_cast<double>(from.depth));
}

__device__ __forceinline__ void round_up_to(double x, float& to) {
    to = __double2float_ru(x);
}
__device__ __forceinline__ void round_up_to(double x, double& to) {
    to = x;
}

template <class T>
struct LineCounts {
    static constexpr int kVectors = 4;
    T steps[kCountedSteps];
    std::uint32_t reached[kCountedSteps] = {};
    MagnitudeOf<T> least = ~MagnitudeOf<T>{0};

    __device__ __forceinline__ void begin(const ResidueLines& from, std::int64_t line) {
        const double usual = usual_size(from, line);
#pragma unroll
        for (int s = 0; s < kCountedSteps; ++s) {
            round_up_to(counted_step(s) * usual, steps[s]);
        }
    }
    __device__ __forceinline__ void add(const ResidueLines&, T x, std::int64_t) {
        const T size = abs(x);
#pragma unroll
        for (int s = 0; s < kCountedSteps; ++s) {
            reached[s] += size >= steps[s] ? 1 : 0;
        }
        least = min(least, magnitude(x) - 1);
    }
    __device__ __forceinline__ CountPart part() const {
        CountPart part;
#pragma unroll
        for (int s = 0; s < kCountedSteps; ++s) {
            part.reached[s] = reached[s];
        }
        part.least = least == ~MagnitudeOf<T>{0} ? ~0ULL : kept_magnitude(least + 1) - 1;
        return part;
    }
};

template <class T>
__global__ void __launch_bounds__(kThreads) count_numbers(const __grid_constant__ LineArguments<CountPart> args) {
    add_lines<T, LineCounts<T>>(args);
}

__global__ void __launch_bounds__(kThreads)
    count_lines(const __grid_constant__ LineArguments<CountPart> args, CountedLines* counts) {
    const int operand = static_cast<int>(blockIdx.y);
    const ResidueLines& from = args.operand[operand];
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    unsigned long long below[kCountedSteps] = {};
    double inverse_least = 0;
    if (line < from.lines) {
        const CountPart sum = whole_line(args, operand, line);
        if (sum.least != ~0ULL) {
            inverse_least = usual_size(from, line) / kept_value(sum.least + 1);
#pragma unroll
            for (int s = 0; s < kCountedSteps; ++s) {
                below[s] = static_cast<unsigned long long>(from.depth) - sum.reached[s];
            }
        }
    }
#pragma unroll
    for (int s = 0; s < kCountedSteps; ++s) {
        note_maximum(below[s], &counts->most_below[operand][s]);
    }
    note_maximum(magnitude(inverse_least), &counts->inverse_least[operand]);
}

__global__ void judge_counts(const CountedLines* counts, double k, GuardWords* words) {
    const double inverse_least[2] = {kept_value(counts->inverse_least[0]), kept_value(counts->inverse_least[1])};
    words->least_product = evenness_by_counts(*counts, inverse_least, k);
    for (int operand = 0; operand < 2; ++operand) {
        words->mean_square[operand] = 1;  // counts are relative to norms
        words->max_bits[operand] = words->plain_max_bits[operand];
    }
    words->is_judged = 1;
}

}  // namespace

DeviceStatus launch_residue_certificate(Scalar scalar, const ResidueLines (&operands)[2], void* scratch,
                                        CountedLines* counts, GuardWords* words, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    const auto args = line_arguments<CountPart>(scalar, operands, scratch, words);
    unsigned blocks = 0;
    if (const cudaError_t status = count_thread_blocks(args, blocks); status != cudaSuccess) {
        return status;
    }
    blocks *= 2;  // nobody runs beside it
    if (scalar == Scalar::f64) {
        count_numbers<double><<<blocks, kThreads, 0, stream>>>(args);
    } else {
        count_numbers<float><<<blocks, kThreads, 0, stream>>>(args);
    }
    count_lines<<<args.grid_of_lines(), kThreads, 0, stream>>>(args, counts);
    judge_counts<<<1, 1, 0, stream>>>(counts, static_cast<double>(operands[0].depth), words);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
