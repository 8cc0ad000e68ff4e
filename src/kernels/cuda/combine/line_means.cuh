// What the launches that judge how even A and B are hand on, and the first of them: mean logarithms of lines.
#pragma once

#include <climits>

#include "base/evenness_facts.hpp"
#include "kernels/cuda/combine/line_samples.cuh"

namespace heptad::cuda {
namespace {

constexpr int kWarps = kSampleThreads / 32;
constexpr int kLinesOfBlock = 32;
constexpr int kJudges = 1024;
/// Means are kept with so many bits behind the point: 64 logarithms of doubles have room in 32 bits.
constexpr int kMeanBits = 14;
constexpr std::int32_t kNoMean = INT_MIN;  // all that was looked at is zero

enum Lines { rows_of_a, cols_of_a, rows_of_b, cols_of_b, kLineSets };

/// What the launches hand on; all zero at first.
struct Notes {
    unsigned long long sum_of_means[kLineSets];
    unsigned int lines_with_mean[kLineSets];
    int fewest[2][kSteps];              // values of any row of A or column of B that are so large
    unsigned long long mean_square[2];  // the largest of a row or column, as bits
    double usual[2];                    // log2 of the usual value of A and of B
    double total_weight;                // of all of k
    int wants_powers, has_zero_line, most_inner;
    int places[2];
    /// Upper halves of GuardWords::least_plain and least_line.
    unsigned int least_plain[2], least_line[2];
    std::int64_t place[2][kSampledForTails];  // along k
    double factor[2][kSampledForTails];
};
static_assert(sizeof(Notes) <= kEvennessBytes);

/// log2 within 0.09, monotone, in units of 2^-kMeanBits: exponent and significand as one number.
__device__ __forceinline__ std::int32_t fixed_logarithm(double x) {
    return ((__double2hiint(x) & 0x7fffffff) - (1023 << 20)) >> (20 - kMeanBits);
}
__device__ __forceinline__ double logarithm(double x) {
    return static_cast<double>(__double2hiint(x) & 0x7fffffff) * 0x1p-20 - 1023;
}

struct MeansArguments {
    LineSample<kSampledForMeans> set[kLineSets];
    std::int32_t* means[kLineSets];
    Notes* notes;
};

/// The mean logarithm of every line, from its sample; zeros do not count.
template <class T>
__global__ void __launch_bounds__(kSampleThreads) line_means(const __grid_constant__ MeansArguments args) {
    __shared__ std::int32_t sums[kWarps][kLinesOfBlock], counts[kWarps][kLinesOfBlock];
    const auto& set = args.set[blockIdx.y];
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kLinesOfBlock;
    if (first >= set.lines) {
        return;
    }
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const auto add = [](double x, std::int32_t& sum, std::int32_t& count) {
        sum += x > 0 ? fixed_logarithm(x) : 0;
        count += x > 0 ? 1 : 0;
    };
    if (set.lines_lie_side_by_side) {  // a line to a thread, some places to a warp
        constexpr int kEach = kSampledForMeans / kWarps;
        double x[kEach];
#pragma unroll
        for (int u = 0; u < kEach; ++u) {
            x[u] = sampled_magnitude<T>(set, first + lane, warp + u * kWarps);
        }
        std::int32_t sum = 0, count = 0;
#pragma unroll
        for (int u = 0; u < kEach; ++u) {
            add(x[u], sum, count);
        }
        sums[warp][lane] = sum;
        counts[warp][lane] = count;
    } else {  // some lines to a warp, one after another
        constexpr int kEach = kLinesOfBlock / kWarps;
        double x[kEach][2];
#pragma unroll
        for (int r = 0; r < kEach; ++r) {
            const std::int64_t line = first + warp * kEach + r;
            x[r][0] = sampled_magnitude<T>(set, line, lane);
            x[r][1] = sampled_magnitude<T>(set, line, lane + 32);
        }
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            if (w != warp && lane < kEach) {  // of other warps nothing is known here
                sums[w][warp * kEach + lane] = counts[w][warp * kEach + lane] = 0;
            }
        }
#pragma unroll
        for (int r = 0; r < kEach; ++r) {
            std::int32_t sum = 0, count = 0;
            add(x[r][0], sum, count);
            add(x[r][1], sum, count);
            sum = __reduce_add_sync(0xffffffffU, sum);
            count = __reduce_add_sync(0xffffffffU, count);
            if (lane == 0) {
                sums[warp][warp * kEach + r] = sum;
                counts[warp][warp * kEach + r] = count;
            }
        }
    }
    __syncthreads();
    if (warp != 0) {
        return;
    }
    std::int32_t sum = 0, count = 0;
    for (int w = 0; w < kWarps; ++w) {
        sum += sums[w][lane];
        count += counts[w][lane];
    }
    const bool exists = first + lane < set.lines;
    const std::int32_t mean = count > 0 ? sum / count : kNoMean;
    if (exists) {
        args.means[blockIdx.y][first + lane] = mean;
    }
    long long total = exists && count > 0 ? mean : 0;
    for (int offset = 16; offset > 0; offset /= 2) {
        total += __shfl_xor_sync(0xffffffffU, total, offset);
    }
    const unsigned int filled = __popc(__ballot_sync(0xffffffffU, exists && count > 0));
    if (lane == 0 && filled > 0) {
        atomicAdd(&args.notes->sum_of_means[blockIdx.y], static_cast<unsigned long long>(total));
        atomicAdd(&args.notes->lines_with_mean[blockIdx.y], filled);
    }
}

}  // namespace
}  // namespace heptad::cuda
