// How even A and B are, and the powers of two that make them so (run/dense/evenness.hpp), judged on the device in five
// small launches: mean logarithms of lines, exponents and the sample along k, how many values of each line are how
// large, how short lines may be, the judgement. Sums are of integers or in a fixed order, so every run says the same.
#include <algorithm>

#include "kernels/cuda/combine/line_exponents.cuh"
#include "kernels/cuda/combine/line_norms.cuh"
#include "kernels/cuda/residue/residue_complex.cuh"
#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad::cuda {
namespace {

struct JudgementArguments {
    Notes* notes;
    GuardWords* words;
    int room;  // for powers along k
    double wanted_evenness;
};

/// One warp: the least that (|A||B|)_ij can be, if values meet as badly as they can, and what follows from it.
__global__ void judge_lines(const __grid_constant__ JudgementArguments args) {
    const Notes& notes = *args.notes;
    const int i = static_cast<int>(threadIdx.x);
    // Each lane knows one step of either operand, and hears of the others.
    static_assert(kSteps <= 32);
    double width = 0, share[2] = {};
    if (i < kSteps) {
        width = exp2((kStepsAbove - i) / 2.0) - (i + 1 >= kSteps ? 0.0 : exp2((kStepsAbove - i - 1) / 2.0));
        for (int operand = 0; operand < 2; ++operand) {
            share[operand] = static_cast<double>(notes.fewest[operand][i]) / notes.places[operand];
        }
    }
    double product = 0;
    for (int j = 0; j < kSteps; ++j) {
        const double both = share[0] + __shfl_sync(0xffffffffU, share[1], j) - 1;
        const double area = width * __shfl_sync(0xffffffffU, width, j);
        product += both > 0 ? area * both : 0;
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
        words.least_line[0] = words.least_line[1] = kAnything;
        words.outlier_weight[0] = is_zero[0] ? kAnything : 0;
        words.outlier_weight[1] = is_zero[1] ? kAnything : 0;
        return;
    }
    for (int operand = 0; operand < 2; ++operand) {
        words.mean_square[operand] = kept_value(notes.mean_square[operand]);
        words.least_plain[operand] = __hiloint2double(static_cast<int>(notes.least_plain[operand]), 0);
        words.least_line[operand] = __hiloint2double(static_cast<int>(notes.least_line[operand]), 0);
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
                    const TailsArguments& tails, const NormsArguments& norms, cudaStream_t stream) {
    const std::int64_t m = launch.a.rows, k = launch.a.cols, n = launch.b.cols;
    line_means<T>
        <<<dim3(blocks_for(std::max({m, k, n}), kLinesOfBlock, INT_MAX), kLineSets), kSampleThreads, 0, stream>>>(
            means);
    line_exponents<<<1, kJudges, 0, stream>>>(exponents);
    constexpr std::int64_t kMostBlocks = 1024;
    line_tails<T><<<dim3(blocks_for(std::max(m, n), 2 * kWarps, kMostBlocks), 2), kSampleThreads, 0, stream>>>(tails);
    least_norms<T><<<dim3(blocks_for(std::max(m, n), kWarps, kMostBlocks), 2), kSampleThreads, 0, stream>>>(norms);
}

/// `with` calls what it gets with a number of the matrices' type.
template <class WithType>
DeviceStatus judge_by(WithType&& with, const EvennessLaunch& launch, StreamHandle handle) {
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
    const NormsArguments norms{{tails.set[0], tails.set[1]},
                               {launch.a_rows, launch.b_cols},
                               notes,
                               norm_places(a.cols),
                               norm_run_distance(a.cols)};
    const DeviceStatus status = with(launch.scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        if constexpr (!std::is_same_v<T, std::int32_t>) {
            launch_samples<T>(launch, means, exponents, tails, norms, stream);
        }
        return cudaGetLastError();
    });
    if (status != 0) {
        return status;
    }
    judge_lines<<<1, 32, 0, stream>>>({notes, launch.words, launch.room, launch.wanted_evenness});
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_evenness(const EvennessLaunch& launch, StreamHandle stream) {
    return judge_by([](Scalar scalar, auto&& f) { return with_type(scalar, f); }, launch, stream);
}

DeviceStatus launch_complex_evenness(const EvennessLaunch& launch, StreamHandle stream) {
    return judge_by([](Scalar part, auto&& f) { return with_complex_type(part, f); }, launch, stream);
}

}  // namespace heptad::cuda
