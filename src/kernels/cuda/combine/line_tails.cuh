// How many values of every row of A and column of B are how large, with the powers of two that were found for them; and
// how small the largest of a row or column is without them.
#pragma once

#include "kernels/cuda/combine/line_means.cuh"

namespace heptad::cuda {
namespace {

struct TailsArguments {
    LineSample<1> set[2];  // the places are in the notes
    const std::int32_t* exponents[2];
    Notes* notes;
};

/// Counts of up to 255 in bytes: of the values of a line that fall into each step.
struct Counts {
    static constexpr int kWords = kSteps / 4;
    static constexpr std::uint32_t kEveryByte = 0x01010101U;
    std::uint32_t word[kWords];
    static __device__ __forceinline__ Counts each(std::uint32_t count) {
        Counts counts;
#pragma unroll
        for (std::uint32_t& word : counts.word) {
            word = count * kEveryByte;
        }
        return counts;
    }
    __device__ __forceinline__ void add(double x) {
        const double step = fmin(fmax(kStepsAbove - 2 * logarithm(x), 0.0), static_cast<double>(kSteps));
        const int at = static_cast<int>(step + 1 - 1e-9);
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            word[w] += at / 4 == w ? 1U << (8 * (at % 4)) : 0U;
        }
    }
    /// From those of each step to those of all steps up to it.
    __device__ __forceinline__ void add_up() {
        std::uint32_t before = 0;
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            word[w] = (word[w] + before) * kEveryByte;
            before = word[w] >> 24;
        }
    }
    __device__ __forceinline__ void lower_to(const Counts& other) {
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            word[w] = __vminu4(word[w], other.word[w]);
        }
    }
};

/// Most values are no news, and an atomic is rare.
__device__ __forceinline__ void lower(unsigned int& least, unsigned int value) {
    if (value < __ldcg(&least)) {
        atomicMin(&least, value);
    }
}

/// How many values of every row of A and column of B are how large: the fewest of any, and the largest mean square.
/// Largest values are compared by the upper halves of doubles, cut off.
template <class T>
__global__ void __launch_bounds__(kSampleThreads) line_tails(const __grid_constant__ TailsArguments args) {
    __shared__ Counts counts_of[kWarps][32];
    __shared__ double squares_of[kWarps][32];
    __shared__ unsigned int largest_of[kWarps][32];
    const int operand = static_cast<int>(blockIdx.y);
    const auto& set = args.set[operand];
    Notes& notes = *args.notes;
    const int places = notes.places[operand];
    const bool has_powers = notes.wants_powers != 0;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const auto raw = [&](std::int64_t line, int t) {
        return line < set.lines && t < places ? magnitude_at<T>(set, line, notes.place[operand][t]) : 0.0;
    };
    const auto add = [&](double x, std::int32_t exponent, int t, Counts& counts, double& squares) {
        if (t < places) {
            x = (has_powers ? times_power(x, exponent) : x) * notes.factor[operand][t];
            counts.add(x);
            squares += x * x;
        }
    };
    Counts fewest = Counts::each(static_cast<std::uint32_t>(places));
    double largest = 0;
    constexpr unsigned int kAnything = 0xffffffffU;
    unsigned int least_plain = kAnything;
    const auto upper_half = [](double x) { return static_cast<unsigned int>(__double2hiint(x)); };
    const auto largest_half = [&](const auto& x) {
        unsigned int most = 0;
#pragma unroll
        for (const double some : x) {
            most = max(most, upper_half(some));
        }
        return most;
    };
    const auto note = [&](Counts& counts, double squares, unsigned int most) {
        least_plain = min(least_plain, most);
        counts.add_up();
        fewest.lower_to(counts);
        const double mean = squares / places;
        largest = mean > largest ? mean : largest;
    };
    if (set.lines_lie_side_by_side) {  // a line to a thread, some places to a warp
        for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * 32; first < set.lines;
             first += static_cast<std::int64_t>(gridDim.x) * 32) {
            constexpr int kEach = kSampledForTails / kWarps;
            double x[kEach];
#pragma unroll
            for (int u = 0; u < kEach; ++u) {
                x[u] = raw(first + lane, warp + u * kWarps);
            }
            const std::int32_t exponent = first + lane < set.lines ? args.exponents[operand][first + lane] : kZeroLine;
            Counts counts = Counts::each(0);
            double squares = 0;
#pragma unroll
            for (int u = 0; u < kEach; ++u) {
                add(x[u], exponent, warp + u * kWarps, counts, squares);
            }
            counts_of[warp][lane] = counts;
            squares_of[warp][lane] = squares;
            unsigned int most = largest_of[warp][lane] = largest_half(x);
            __syncthreads();
            if (warp == 0 && exponent != kZeroLine) {
                for (int w = 1; w < kWarps; ++w) {
#pragma unroll
                    for (int i = 0; i < Counts::kWords; ++i) {
                        counts.word[i] += counts_of[w][lane].word[i];
                    }
                    squares += squares_of[w][lane];
                    most = max(most, largest_of[w][lane]);
                }
                note(counts, squares, most);
            }
            __syncthreads();
        }
    } else {  // some lines to a warp, one after another
        constexpr int kEach = kSampledForTails / 32, kTogether = 2;
        for (std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kWarps + warp) * kTogether;
             first < set.lines; first += static_cast<std::int64_t>(gridDim.x) * kWarps * kTogether) {
            double x[kTogether][kEach];
#pragma unroll
            for (int r = 0; r < kTogether; ++r) {
#pragma unroll
                for (int u = 0; u < kEach; ++u) {
                    x[r][u] = raw(first + r, lane + u * 32);
                }
            }
#pragma unroll
            for (int r = 0; r < kTogether; ++r) {
                const std::int32_t exponent = first + r < set.lines ? args.exponents[operand][first + r] : kZeroLine;
                if (exponent == kZeroLine) {
                    continue;
                }
                Counts counts = Counts::each(0);
                double squares = 0;
#pragma unroll
                for (int u = 0; u < kEach; ++u) {
                    add(x[r][u], exponent, lane + u * 32, counts, squares);
                }
#pragma unroll
                for (std::uint32_t& word : counts.word) {
                    word = __reduce_add_sync(0xffffffffU, word);
                }
                for (int offset = 16; offset > 0; offset /= 2) {
                    squares += __shfl_xor_sync(0xffffffffU, squares, offset);
                }
                note(counts, squares, __reduce_max_sync(0xffffffffU, largest_half(x[r])));
            }
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        Counts other;
#pragma unroll
        for (int w = 0; w < Counts::kWords; ++w) {
            other.word[w] = __shfl_xor_sync(0xffffffffU, fewest.word[w], offset);
        }
        fewest.lower_to(other);
        const double more = __shfl_xor_sync(0xffffffffU, largest, offset);
        largest = more > largest ? more : largest;
    }
    least_plain = __reduce_min_sync(0xffffffffU, least_plain);
    if (lane == 0) {
        counts_of[warp][0] = fewest;
        squares_of[warp][0] = largest;
        lower(notes.least_plain[operand], least_plain);
    }
    __syncthreads();
    if (threadIdx.x < kSteps) {
        int least = places;
        for (int w = 0; w < kWarps; ++w) {
            const std::uint32_t word = counts_of[w][0].word[threadIdx.x / 4];
            least = min(least, static_cast<int>(word >> (8 * (threadIdx.x % 4)) & 0xffU));
        }
        atomicMin(&notes.fewest[operand][threadIdx.x], least);
    } else if (threadIdx.x == 32) {
        for (int w = 0; w < kWarps; ++w) {
            largest = squares_of[w][0] > largest ? squares_of[w][0] : largest;
        }
        atomicMax(&notes.mean_square[operand], magnitude(largest));
    }
}

}  // namespace
}  // namespace heptad::cuda
