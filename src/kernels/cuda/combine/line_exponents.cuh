// Powers of two that take out how lines of A and B differ, and places along k that are worth looking at.
#pragma once

#include "kernels/cuda/combine/line_means.cuh"

namespace heptad::cuda {
namespace {

/// The largest of all threads' values, one by one, for all of them. Every thread calls it.
template <int Count>
__device__ void largest_of_block(std::uint32_t (&values)[Count]) {
    __shared__ std::uint32_t of_warps[kJudges / 32][Count];
#pragma unroll
    for (std::uint32_t& value : values) {
        value = __reduce_max_sync(0xffffffffU, value);
    }
    if (threadIdx.x % 32 == 0) {
#pragma unroll
        for (int i = 0; i < Count; ++i) {
            of_warps[threadIdx.x / 32][i] = values[i];
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Count; ++i) {
        values[i] = __reduce_max_sync(0xffffffffU, of_warps[threadIdx.x % 32][i]);
    }
}

/// The sums of all threads' values up to each thread's own, in shared memory. Every thread calls it.
__device__ void sums_up_to(double own, double (&up_to)[kJudges]) {
    __shared__ double of_warps[kJudges / 32];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const double before = __shfl_up_sync(0xffffffffU, own, offset);
        own += lane >= offset ? before : 0;
    }
    if (lane == 31) {
        of_warps[warp] = own;
    }
    __syncthreads();
    double before = 0;
    for (int w = 0; w < warp; ++w) {
        before += of_warps[w];
    }
    up_to[threadIdx.x] = before + own;
    __syncthreads();
}

__device__ __forceinline__ int whole_powers(double effect) {
    return fabs(effect) <= kNoise ? 0 : __double2int_rn(effect);
}

struct ExponentsArguments {
    std::int64_t m, k, n;
    std::int32_t* lines[kLineSets];  // their means; exponents take their place
    Notes* notes;
    bool may_scale;
    int places[2];  // where all of k counts alike
    std::int64_t place[2][kSampledForTails];
};

/// How far a line is above the usual one; NaN: it looks empty.
__device__ __forceinline__ double effect_of(std::int32_t mean, double usual) {
    return mean == kNoMean ? __longlong_as_double(0x7ff8000000000000LL) : mean * (1.0 / (1 << kMeanBits)) - usual;
}
__device__ __forceinline__ std::uint32_t size_of(double x) {
    return isnan(x) ? 0U : __float_as_uint(fabsf(static_cast<float>(x)));
}

/// One block: exponents from means, and of the places along k those that count for most.
// Half of a multiprocessor's registers, so that it runs beside what reads whole matrices.
__global__ void __launch_bounds__(kJudges, 2) line_exponents(const __grid_constant__ ExponentsArguments args) {
    __shared__ double weight_up_to[kJudges];
    Notes& notes = *args.notes;
    const int thread = static_cast<int>(threadIdx.x);
    double usual[kLineSets];
#pragma unroll
    for (int set = 0; set < kLineSets; ++set) {
        const double lines = max(notes.lines_with_mean[set], 1U);
        usual[set] = static_cast<double>(static_cast<long long>(notes.sum_of_means[set])) / lines / (1 << kMeanBits);
    }
    const auto effect = [&](int set, std::int64_t i) { return effect_of(args.lines[set][i], usual[set]); };
    // Of rows of A, columns of B, half the distances along k, the weights there; the largest exponent there; zero
    // lines.
    std::uint32_t most[6] = {};
    const auto look_at = [&](int set, std::int64_t count, std::uint32_t& largest) {
        for (std::int64_t i = thread; i < count; i += kJudges) {
            const double x = effect(set, i);
            largest = max(largest, size_of(x));
            most[5] = max(most[5], isnan(x) ? 1U : 0U);
        }
    };
    look_at(rows_of_a, args.m, most[0]);
    look_at(cols_of_b, args.n, most[1]);
    for (std::int64_t p = thread; p < args.k; p += kJudges) {
        const double a = effect(cols_of_a, p), b = effect(rows_of_b, p), half = (b - a) / 2;
        most[2] = max(most[2], size_of(half));
        most[3] = max(most[3], size_of(a + b));
        most[4] = max(most[4], isnan(half) ? 0U : static_cast<std::uint32_t>(abs(whole_powers(half))));
    }
    largest_of_block(most);
    const float rows_differ = __uint_as_float(most[0]), cols_differ = __uint_as_float(most[1]);
    const bool scales_inner = 2 * __uint_as_float(most[2]) > static_cast<float>(kAlike);
    const bool has_weights = __uint_as_float(most[3]) > static_cast<float>(kAlike);
    const bool is_zero = notes.lines_with_mean[rows_of_a] == 0 || notes.lines_with_mean[cols_of_b] == 0;
    const bool wants_powers =
        args.may_scale && !is_zero && (max(rows_differ, cols_differ) > kAlike || scales_inner || most[5] != 0);
    const auto inner_of = [&](std::int64_t p) {
        const double half = (effect(rows_of_b, p) - effect(cols_of_a, p)) / 2;
        return isnan(half) || !scales_inner ? 0 : whole_powers(half);
    };
    const auto weight_of = [&](std::int64_t p) {
        const double log = effect(cols_of_a, p) + effect(rows_of_b, p);
        return isnan(log) ? 0.0 : exp2(log);
    };
    double total = static_cast<double>(args.k);
    const std::int64_t chunk = (args.k + kJudges - 1) / kJudges;
    if (has_weights) {
        double own = 0;
        for (std::int64_t p = thread * chunk; p < min((thread + 1) * chunk, args.k); ++p) {
            own += weight_of(p);
        }
        sums_up_to(own, weight_up_to);
        total = weight_up_to[kJudges - 1];
    }
    const int picks = static_cast<int>(min(args.k, static_cast<std::int64_t>(kSampledForTails)));
    if (thread < kSampledForTails) {
        std::int64_t picked = 0;
        double half_weight = 0;
        if (has_weights && thread < picks) {
            const double at = (thread + 0.5) / picks * total;
            int low = 0, high = kJudges - 1;  // the first chunk that reaches it
            while (low < high) {
                const int middle = (low + high) / 2;
                if (weight_up_to[middle] < at) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            double before = low == 0 ? 0 : weight_up_to[low - 1];
            for (std::int64_t p = low * chunk; p < min((low + 1) * chunk, args.k); ++p) {
                const double weight = weight_of(p);
                if (weight > 0) {
                    picked = p;
                    before += weight;
                    if (before >= at) {
                        break;
                    }
                }
            }
            half_weight = (effect(cols_of_a, picked) + effect(rows_of_b, picked)) / 2;
        }
#pragma unroll
        for (int operand = 0; operand < 2; ++operand) {
            if (thread < (has_weights ? picks : args.places[operand])) {
                const std::int64_t p = has_weights ? picked : args.place[operand][thread];
                const int inner = !wants_powers ? 0 : operand == 0 ? inner_of(p) : -inner_of(p);
                notes.place[operand][thread] = p;
                notes.factor[operand][thread] = exp2(inner - half_weight - usual[operand == 0 ? rows_of_a : cols_of_b]);
            }
        }
    }
    if (thread < 2 * kSteps) {
        const int operand = thread / kSteps;
        notes.fewest[operand][thread % kSteps] = has_weights ? picks : args.places[operand];
    }
    if (thread == 0) {
        for (int operand = 0; operand < 2; ++operand) {
            notes.places[operand] = has_weights ? picks : args.places[operand];
            notes.usual[operand] = usual[operand == 0 ? rows_of_a : cols_of_b];
            constexpr unsigned int kInfinity = 0x7ff00000U;
            notes.least_plain[operand] = notes.least_line[operand] = kInfinity;
        }
        notes.total_weight = total;
        notes.wants_powers = wants_powers ? 1 : 0;
        notes.has_zero_line = static_cast<int>(most[5]);
        notes.most_inner = scales_inner ? static_cast<int>(most[4]) : 0;
    }
    __syncthreads();
    const auto take_away = [&](int set, std::int64_t count, float differ) {
        for (std::int64_t i = thread; i < count; i += kJudges) {
            const double x = effect(set, i);
            args.lines[set][i] = isnan(x) ? kZeroLine : differ <= static_cast<float>(kAlike) ? 0 : -whole_powers(x);
        }
    };
    take_away(rows_of_a, args.m, rows_differ);
    take_away(cols_of_b, args.n, cols_differ);
    for (std::int64_t p = thread; p < args.k; p += kJudges) {
        const std::int32_t inner = inner_of(p);
        args.lines[cols_of_a][p] = inner;
        args.lines[rows_of_b][p] = -inner;
    }
}

}  // namespace
}  // namespace heptad::cuda
