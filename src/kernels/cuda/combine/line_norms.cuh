// The least that the rms of some values of a row of A, or of a column of B, is with its power of two: what is promised
// of errors is relative to the norms of lines (base/norm_sample.hpp).
#pragma once

#include "base/norm_sample.hpp"
#include "kernels/cuda/combine/line_tails.cuh"

namespace heptad::cuda {
namespace {

struct NormsArguments {
    LineSample<1> set[2];
    const std::int32_t* exponents[2];
    Notes* notes;
    std::int64_t places, run_distance;
};

template <class T>
__global__ void __launch_bounds__(kSampleThreads) least_norms(const __grid_constant__ NormsArguments args) {
    __shared__ double squares_of[kWarps][32];
    const int operand = static_cast<int>(blockIdx.y);
    const auto& set = args.set[operand];
    Notes& notes = *args.notes;
    const bool has_powers = notes.wants_powers != 0;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    // Around one: squares of the largest doubles are infinite, those of the smallest zero.
    const int usual = static_cast<int>(notes.usual[operand]);
    const auto square_at = [&](std::int64_t line, std::int64_t t) {
        const std::int64_t place = t / kLineElements * kLineElements * args.run_distance + t % kLineElements;
        const double x = times_power(magnitude_at<T>(set, line, place), -usual);
        return x * x;
    };
    unsigned int least = 0xffffffffU;
    const auto note = [&](double squares, std::int32_t exponent) {
        // The product of two is compared with kMostBelow times less than the largest values (is_even_for_sums).
        const double rms = sqrt(squares / static_cast<double>(args.places) * (kMostAboveRms / kMostBelow));
        const double scaled = times_power(rms, usual + (has_powers ? exponent : 0));
        least = min(least, static_cast<unsigned int>(__double2hiint(scaled)));
    };
    if (set.lines_lie_side_by_side) {  // a line to a thread, some places to a warp
        for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * 32; first < set.lines;
             first += static_cast<std::int64_t>(gridDim.x) * 32) {
            const std::int64_t line = first + lane;
            const std::int32_t exponent = line < set.lines ? args.exponents[operand][line] : kZeroLine;
            double squares = 0;
            if (exponent != kZeroLine) {
#pragma unroll 8
                for (std::int64_t t = warp; t < args.places; t += kWarps) {
                    squares += square_at(line, t);
                }
            }
            squares_of[warp][lane] = squares;
            __syncthreads();
            if (warp == 0 && exponent != kZeroLine) {
                for (int w = 1; w < kWarps; ++w) {
                    squares += squares_of[w][lane];
                }
                note(squares, exponent);
            }
            __syncthreads();
        }
    } else {  // a line to a warp
        for (std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp; line < set.lines;
             line += static_cast<std::int64_t>(gridDim.x) * kWarps) {
            const std::int32_t exponent = args.exponents[operand][line];
            if (exponent == kZeroLine) {
                continue;
            }
            double squares = 0;
#pragma unroll 8
            for (std::int64_t t = lane; t < args.places; t += 32) {
                squares += square_at(line, t);
            }
            for (int offset = 16; offset > 0; offset /= 2) {
                squares += __shfl_xor_sync(0xffffffffU, squares, offset);
            }
            note(squares, exponent);
        }
    }
    least = __reduce_min_sync(0xffffffffU, least);
    if (lane == 0) {
        lower(notes.least_line[operand], least);
    }
}

}  // namespace
}  // namespace heptad::cuda
