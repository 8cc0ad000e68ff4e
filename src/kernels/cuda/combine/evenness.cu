// How even A and B are, and the powers of two that make them so (run/dense/evenness.hpp), judged on the device in four
// small launches: mean logarithms of lines, exponents and the sample along k, how many values of each line are how
// large, the judgement. Sums are of integers or in a fixed order, so every run says the same.
#include <algorithm>
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

__device__ __forceinline__ int whole_powers(double effect) {
    return fabs(effect) <= kNoise ? 0 : __double2int_rn(effect);
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
__global__ void __launch_bounds__(kJudges) line_exponents(const __grid_constant__ ExponentsArguments args) {
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

/// How many values of every row of A and column of B are how large: the fewest of any, and the largest mean square.
template <class T>
__global__ void __launch_bounds__(kSampleThreads) line_tails(const __grid_constant__ TailsArguments args) {
    __shared__ Counts counts_of[kWarps][32];
    __shared__ double squares_of[kWarps][32];
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
    const auto note = [&](Counts& counts, double squares) {
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
            __syncthreads();
            if (warp == 0 && exponent != kZeroLine) {
                for (int w = 1; w < kWarps; ++w) {
#pragma unroll
                    for (int i = 0; i < Counts::kWords; ++i) {
                        counts.word[i] += counts_of[w][lane].word[i];
                    }
                    squares += squares_of[w][lane];
                }
                note(counts, squares);
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
                note(counts, squares);
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
    if (lane == 0) {
        counts_of[warp][0] = fewest;
        squares_of[warp][0] = largest;
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

struct JudgementArguments {
    Notes* notes;
    GuardWords* words;
    int room;  // for powers along k
    double wanted_evenness;
};

/// One warp: the least that (|A||B|)_ij can be, if values meet as badly as they can, and what follows from it.
__global__ void judge_lines(const __grid_constant__ JudgementArguments args) {
    const Notes& notes = *args.notes;
    const auto edge = [](int step) { return step >= kSteps ? 0.0 : exp2((kStepsAbove - step) / 2.0); };
    const auto share = [&](int operand, int step) {
        return static_cast<double>(notes.fewest[operand][step]) / notes.places[operand];
    };
    const int i = static_cast<int>(threadIdx.x);
    double product = 0;
    for (int j = 0; j < kSteps && i < kSteps; ++j) {
        const double both = share(0, i) + share(1, j) - 1;
        product += both > 0 ? (edge(i) - edge(i + 1)) * (edge(j) - edge(j + 1)) * both : 0;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        product += __shfl_xor_sync(0xffffffffU, product, offset);
    }
    if (i != 0) {
        return;
    }
    GuardWords& words = *args.words;
    words.is_judged = 1;
    const bool is_zero[2] = {notes.lines_with_mean[rows_of_a] == 0, notes.lines_with_mean[cols_of_b] == 0};
    if (is_zero[0] || is_zero[1]) {  // even, if nothing else turns up
        constexpr double kAnything = 1e300;
        words.least_product = words.mean_square[0] = words.mean_square[1] = 1;
        words.outlier_weight[0] = is_zero[0] ? kAnything : 0;
        words.outlier_weight[1] = is_zero[1] ? kAnything : 0;
        return;
    }
    for (int operand = 0; operand < 2; ++operand) {
        words.mean_square[operand] = kept_value(notes.mean_square[operand]);
        words.outlier_weight[operand] = exp2(-notes.usual[operand]) / sqrt(notes.total_weight);
    }
    const bool wants_powers = notes.wants_powers != 0;
    const double evenness = product / sqrt(words.mean_square[0]) / sqrt(words.mean_square[1]);
    const bool is_hopeless =
        wants_powers ? notes.most_inner > args.room || !(evenness >= args.wanted_evenness) : notes.has_zero_line != 0;
    words.least_product = is_hopeless ? 0 : product;
    words.zero_lines = static_cast<unsigned int>(notes.has_zero_line);
    if (wants_powers && !is_hopeless) {
        words.scaled = 1;
        words.inner_growth = exp2(static_cast<double>(notes.most_inner));
    }
}

template <int Most>
int copy_places(const std::vector<std::int64_t>& places, std::int64_t (&to)[Most]) {
    std::copy(places.begin(), places.end(), to);
    return static_cast<int>(places.size());
}

DeviceMatrix turned(const DeviceMatrix& x) {
    return {x.data, x.cols, x.rows, x.col_stride, x.row_stride};
}

/// The rows of a matrix, and where along them it is looked.
LineSample<kSampledForMeans> sample_of_rows(const DeviceMatrix& x) {
    LineSample<kSampledForMeans> sample{};
    set_rows(sample, x);
    sample.places = copy_places(
        sampled_places(x.cols, kSampledForMeans, sample.lines_lie_side_by_side ? 1 : kLineElements), sample.place);
    return sample;
}

unsigned blocks_for(std::int64_t lines, std::int64_t of_block, std::int64_t most) {
    return static_cast<unsigned>(std::min((lines + of_block - 1) / of_block, most));
}

template <class T>
void launch_samples(const EvennessLaunch& launch, const MeansArguments& means, const ExponentsArguments& exponents,
                    const TailsArguments& tails, cudaStream_t stream) {
    const std::int64_t m = launch.a.rows, k = launch.a.cols, n = launch.b.cols;
    line_means<T>
        <<<dim3(blocks_for(std::max({m, k, n}), kLinesOfBlock, INT_MAX), kLineSets), kSampleThreads, 0, stream>>>(
            means);
    line_exponents<<<1, kJudges, 0, stream>>>(exponents);
    constexpr std::int64_t kMostBlocks = 1024;
    line_tails<T><<<dim3(blocks_for(std::max(m, n), 2 * kWarps, kMostBlocks), 2), kSampleThreads, 0, stream>>>(tails);
}

}  // namespace

DeviceStatus launch_evenness(const EvennessLaunch& launch, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    auto* const notes = static_cast<Notes*>(launch.notes);
    const DeviceMatrix &a = launch.a, &b = launch.b;
    const MeansArguments means{
        {sample_of_rows(a), sample_of_rows(turned(a)), sample_of_rows(b), sample_of_rows(turned(b))},
        {launch.a_rows, launch.a_cols, launch.b_rows, launch.b_cols},
        notes};
    ExponentsArguments exponents{
        a.rows, a.cols,           b.cols, {launch.a_rows, launch.a_cols, launch.b_rows, launch.b_cols},
        notes,  launch.may_scale, {},     {}};
    TailsArguments tails{{}, {launch.a_rows, launch.b_cols}, notes};
    set_rows(tails.set[0], a);
    set_rows(tails.set[1], turned(b));
    for (int operand = 0; operand < 2; ++operand) {
        const int run = tails.set[operand].lines_lie_side_by_side ? 1 : kLineElements;
        exponents.places[operand] =
            copy_places(sampled_places(a.cols, kSampledForTails, run), exponents.place[operand]);
    }
    const DeviceStatus status = with_type(launch.scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        if constexpr (!std::is_same_v<T, std::int32_t>) {
            launch_samples<T>(launch, means, exponents, tails, stream);
        }
        return cudaGetLastError();
    });
    if (status != 0) {
        return status;
    }
    judge_lines<<<1, 32, 0, stream>>>({notes, launch.words, launch.room, launch.wanted_evenness});
    return cudaGetLastError();
}

}  // namespace heptad::cuda
