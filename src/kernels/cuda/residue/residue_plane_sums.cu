// The sums of levels that no kernel has in its code, as passes over planes of bytes: of every modulus, from the blocks
// of A or B to the planes that are multiplied, and from their products to the blocks of C. Each input is read once and
// waits in shared memory; which of them make up an output stands in a table among the arguments.
#include <algorithm>

#include "kernels/cuda/residue/byte_lanes.hpp"
#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

/// As many as arguments have room for; what is more is left to the next launch.
constexpr int kMostSumTerms = 1536, kMostSumOutputs = 192;
constexpr int kInputBits = 10;
static_assert(kMostPlaneProducts <= 1 << kInputBits);

/// Blocks of one size: in rows and columns of a plane, or planes of their own.
struct SumBlocks {
    std::uint8_t* data;
    std::int64_t group_bytes;  // from one modulus and part to the next
    std::int64_t line_bytes, row_bytes, col_bytes;
    int cols;
};
/// From block to block, without a division.
struct SumWalk {
    const SumBlocks& blocks;
    std::int64_t offset = 0;
    int col = 0;
    __device__ __forceinline__ explicit SumWalk(const SumBlocks& all, int first = 0)
        : blocks(all),
          offset(first / all.cols * all.row_bytes + first % all.cols * all.col_bytes),
          col(first % all.cols) {}
    __device__ __forceinline__ void step() {
        const bool is_last = ++col == blocks.cols;
        offset += is_last ? blocks.row_bytes - (blocks.cols - 1) * blocks.col_bytes : blocks.col_bytes;
        col = is_last ? 0 : col;
    }
};

struct PlaneSumArguments {
    SumBlocks from, to;
    ResidueChoice choice;
    std::int64_t words;  // of a block
    int line_words, parts, inputs, first_output, outputs;
    float modulus[kMostModuli], reciprocal[kMostModuli];
    std::uint16_t ends[kMostSumOutputs];  // of their terms
    std::int16_t terms[kMostSumTerms];    // coefficient * 2^kInputBits + input
};
static_assert(sizeof(PlaneSumArguments) <= 4096);

template <bool OfResult>
__global__ void add_planes(const __grid_constant__ PlaneSumArguments args) {
    extern __shared__ ByteLanes kept_lanes[];
    const int group = static_cast<int>(blockIdx.y), t = group / args.parts;
    const std::int64_t word = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (word >= args.words || t >= moduli_taken(args.choice)) {
        return;
    }
    const std::int64_t line = word / args.line_words, at = word % args.line_words * 4;
    const std::uint8_t* const from = args.from.data + group * args.from.group_bytes + line * args.from.line_bytes + at;
    std::uint8_t* const to = args.to.data + group * args.to.group_bytes + line * args.to.line_bytes + at;
    ByteLanes* const own = kept_lanes + threadIdx.x;
    SumWalk input(args.from);
#pragma unroll 8
    for (int i = 0; i < args.inputs; ++i, input.step()) {
        own[i * blockDim.x] = lanes_of_bytes<!OfResult>(__ldcs(reinterpret_cast<const unsigned*>(from + input.offset)));
    }
    const float p = args.modulus[t], reciprocal = args.reciprocal[t], middle = OfResult ? (p - 1) / 2 : 0.0F;
    SumWalk output(args.to, args.first_output);
    int term = 0;
    for (int r = 0; r < args.outputs; ++r, output.step()) {
        ByteLanes sums = start_of_lanes();
        for (const int end = args.ends[r]; term < end; ++term) {
            const int packed = args.terms[term];
            sums.add(packed >> kInputBits, own[(packed & ((1 << kInputBits) - 1)) * blockDim.x]);
        }
        *reinterpret_cast<unsigned*>(to + output.offset) = bytes_of_lanes(sums, p, reciprocal, middle);
    }
}

/// Enters outputs from the one that is the next on, as many as there is room for. An output has at most as many terms
/// as lanes have bytes.
void enter_outputs(const PlaneSums& sums, PlaneSumArguments& args) {
    constexpr int kLargest = (1 << (15 - kInputBits)) - 1;
    static_assert(kMostPlaneSum <= kMostSumTerms);
    args.first_output += args.outputs;
    args.outputs = 0;
    int count = 0;
    for (std::size_t r = static_cast<std::size_t>(args.first_output); r < sums.outputs.size(); ++r) {
        if (args.outputs == kMostSumOutputs || count + kMostPlaneSum > kMostSumTerms) {
            return;
        }
        for (const PlaneSums::Term& term : sums.outputs[r]) {
            for (int rest = term.coefficient; rest != 0;) {  // larger ones are entered more than once
                const int part = std::clamp(rest, -kLargest, kLargest);
                args.terms[count++] = static_cast<std::int16_t>(part * (1 << kInputBits) + term.input);
                rest -= part;
            }
        }
        args.ends[args.outputs++] = static_cast<std::uint16_t>(count);
    }
}

template <bool OfResult>
DeviceStatus start_plane_sums(const PlaneSums& sums, PlaneSumArguments& args, int groups, cudaStream_t stream) {
    // Two blocks of threads to a multiprocessor of a small device, where that leaves them enough.
    constexpr int kMostShared = 48 << 10, kMostThreads = 256, kFewestThreads = 32;
    const int of_thread = args.inputs * static_cast<int>(sizeof(ByteLanes));
    int threads = kMostThreads;
    while (threads > kFewestThreads && threads * of_thread > kMostShared) {
        threads /= 2;
    }
    const int shared = threads * of_thread;
    // The same for all launches: others may be on their way to theirs.
    constexpr int kMostOfAll = kMostPlaneProducts * static_cast<int>(sizeof(ByteLanes)) * kFewestThreads;
    static_assert(kMostOfAll >= kMostShared);
    cudaError_t status =
        cudaFuncSetAttribute(add_planes<OfResult>, cudaFuncAttributeMaxDynamicSharedMemorySize, kMostOfAll);
    const dim3 grid(static_cast<unsigned>((args.words + threads - 1) / threads), static_cast<unsigned>(groups));
    const auto outputs = static_cast<int>(sums.outputs.size());
    while (status == cudaSuccess && args.first_output + args.outputs < outputs) {
        enter_outputs(sums, args);
        add_planes<OfResult><<<grid, static_cast<unsigned>(threads), shared, stream>>>(args);
        status = cudaGetLastError();
    }
    return status;
}

}  // namespace

DeviceStatus launch_residue_plane_sums(const PlaneSums& sums, const BytePlanes& from, const BytePlanes& to,
                                       const ResidueChoice& choice, StreamHandle handle) {
    const BytePlanes &products = sums.of_result ? from : to, &whole = sums.of_result ? to : from;
    const SumBlocks of_products{products.data,
                                products.products_of_part * products.plane_bytes,
                                products.line_bytes,
                                products.plane_bytes,
                                0,
                                1};
    const SumBlocks of_whole{whole.data,          whole.plane_bytes,
                             whole.line_bytes,    products.lines * whole.line_bytes,
                             products.line_bytes, sums.cols};
    const int blocks = sums.rows * sums.cols;
    const ModulusConstants constants = modulus_constants();
    PlaneSumArguments args{};
    args.from = sums.of_result ? of_products : of_whole;
    args.to = sums.of_result ? of_whole : of_products;
    args.choice = choice;
    args.line_words = static_cast<int>(products.line_bytes / 4);
    args.words = products.lines * args.line_words;
    args.parts = products.parts;
    args.inputs = sums.of_result ? products.products_of_part : blocks;
    std::copy_n(constants.modulus, kMostModuli, args.modulus);
    std::copy_n(constants.reciprocal, kMostModuli, args.reciprocal);
    const int groups = choice.most * products.parts;
    auto* const stream = static_cast<cudaStream_t>(handle);
    return sums.of_result ? start_plane_sums<true>(sums, args, groups, stream)
                          : start_plane_sums<false>(sums, args, groups, stream);
}

}  // namespace heptad::cuda
