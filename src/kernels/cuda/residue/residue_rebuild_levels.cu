// From bytes to numbers with one or two levels of Winograd's algorithm inside: the products' residues make those of the
// blocks of C, which wait in shared memory until there is one of every modulus.
#include "kernels/cuda/residue/residue_levels.cuh"
#include "kernels/cuda/residue/residue_remainder.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 64;  // each keeps up to a kilobyte of residues

struct RebuildLevelsArguments {
    ResidueRebuild launch;
    std::int64_t blocks_across;
    ModulusConstants constants;
    RemainderTable tables[kModuliChoices];
};

/// What a block of C is of products that are all one.
template <int Levels>
__device__ constexpr int ones_in_block(int row, int col) {
    constexpr int kOfLevel[4] = {2, 4, 2, 4};
    int ones = 1;
    for (int level = 0; level < Levels; ++level) {
        ones *= kOfLevel[(row >> level & 1) * 2 + (col >> level & 1)];
    }
    return ones;
}

/// Sums of bytes less 128, back to what they are modulo p: from 0 to p - 1, or to 255.
__device__ __forceinline__ unsigned bytes_of_sums(const Four& sums, float offset, float p, float reciprocal) {
    const float2 lower = __half22float2(sums.lower), upper = __half22float2(sums.upper);
    const float x[4] = {lower.x + offset, lower.y + offset, upper.x + offset, upper.y + offset};
    const float middle = (p - 1) / 2;
    unsigned bytes[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        // No x is in the middle between two multiples, so the quotient's own rounding does not matter.
        const float quotient = fmaf(x[e] - middle, reciprocal, kToInteger) - kToInteger;
        bytes[e] = __float_as_uint(fmaf(-p, quotient, x[e]) + kToInteger);
    }
    return lowest_bytes(bytes);
}

template <int Levels>
__device__ __forceinline__ void blocks_of_c(const std::uint8_t* from, std::int64_t plane_bytes,
                                            Four (&c)[kBlocks<Levels>]) {
    const auto products = [&](int first, Four(&p)[kWinogradProducts]) {
#pragma unroll
        for (int r = 0; r < kWinogradProducts; ++r) {
            p[r] = four_of_bytes(__ldcs(reinterpret_cast<const unsigned*>(from + (first + r) * plane_bytes)));
        }
    };
    if constexpr (Levels == 1) {
        Four p[kWinogradProducts];
        products(0, p);
        winograd_result(p, c);
    } else {
        FourBlocks<Four> outer[kWinogradProducts], result[4];
#pragma unroll
        for (int r = 0; r < kWinogradProducts; ++r) {
            Four p[kWinogradProducts];
            products(r * kWinogradProducts, p);
            winograd_result(p, outer[r].block);
        }
        winograd_result(outer, result);
#pragma unroll
        for (int row = 0; row < 4; ++row) {
#pragma unroll
            for (int col = 0; col < 4; ++col) {
                c[row * 4 + col] = result[row / 2 * 2 + col / 2].block[row % 2 * 2 + col % 2];
            }
        }
    }
}

template <class T, int Levels, int Count = kFewestModuli<T>>
__device__ __forceinline__ void put_blocks_together(int taken, const RebuildLevelsArguments& args,
                                                    const std::uint32_t* residues, std::int64_t row, std::int64_t col) {
    if (taken != Count) {
        if constexpr (Count < kFewestModuli<T> + kModuliChoices - 1) {
            put_blocks_together<T, Levels, Count + 1>(taken, args, residues, row, col);
        }
        return;
    }
    const ResidueRebuild& launch = args.launch;
    constexpr int kSide = kSideBlocks<Levels>;
    for (int block = 0; block < kBlocks<Levels>; ++block) {
        const std::int64_t own_row = block / kSide * launch.residues.lines + row,
                           own_col = block % kSide * launch.residues.line_bytes + col;
        if (own_row < launch.c.rows && own_col < launch.c.cols) {
            std::uint32_t words[Count];
#pragma unroll
            for (int t = 0; t < Count; ++t) {
                words[t] = residues[(t * kBlocks<Levels> + block) * kThreads];
            }
            put_together<T, Count>(launch, args.tables[Count - kFewestModuli<T>], words, own_row, own_col);
        }
    }
}

template <class T, int Levels>
__global__ void __launch_bounds__(kThreads) rebuild_levels(const __grid_constant__ RebuildLevelsArguments args) {
    extern __shared__ std::uint32_t shared[];
    const BytePlanes& from = args.launch.residues;
    const int taken = moduli_taken(args.launch.choice);
    const std::int64_t row = blockIdx.x / args.blocks_across;
    const std::int64_t col = ((blockIdx.x % args.blocks_across) * kThreads + threadIdx.x) * kEach;
    if (taken == 0 || col >= from.line_bytes) {
        return;
    }
    constexpr int kSide = kSideBlocks<Levels>;
    const std::uint8_t* at = from.data + row * from.line_bytes + col;
    std::uint32_t* const own = shared + threadIdx.x;
    for (int t = 0; t < taken; ++t) {
        Four c[kBlocks<Levels>];
        blocks_of_c<Levels>(at, from.plane_bytes, c);
        at += kProducts<Levels> * from.plane_bytes;
        const float p = args.constants.modulus[t], reciprocal = args.constants.reciprocal[t];
#pragma unroll
        for (int block = 0; block < kBlocks<Levels>; ++block) {
            const float offset = 128.0F * ones_in_block<Levels>(block / kSide, block % kSide);
            own[(t * kBlocks<Levels> + block) * kThreads] = bytes_of_sums(c[block], offset, p, reciprocal);
        }
    }
    put_blocks_together<T, Levels>(taken, args, own, row, col);
}

template <class T, int Levels>
DeviceStatus start(const ResidueRebuild& launch, cudaStream_t stream) {
    const int shared = launch.choice.most * kBlocks<Levels> * kThreads * static_cast<int>(sizeof(std::uint32_t));
    const cudaError_t status =
        cudaFuncSetAttribute(rebuild_levels<T, Levels>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (status != cudaSuccess) {
        return status;
    }
    RebuildLevelsArguments args{
        launch, (launch.residues.line_bytes + kThreads * kEach - 1) / (kThreads * kEach), modulus_constants(), {}};
    fill_remainder_tables<T>(args.tables);
    rebuild_levels<T, Levels>
        <<<static_cast<unsigned>(launch.residues.lines * args.blocks_across), kThreads, shared, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_residue_rebuild_levels(const ResidueRebuild& launch, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    const bool two = launch.residues.levels == 2;
    if (launch.scalar == Scalar::f64) {
        return two ? start<double, 2>(launch, stream) : start<double, 1>(launch, stream);
    }
    return two ? start<float, 2>(launch, stream) : start<float, 1>(launch, stream);
}

}  // namespace heptad::cuda
