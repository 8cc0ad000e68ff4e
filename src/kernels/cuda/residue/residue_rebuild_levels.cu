// From bytes to numbers with one or two levels of Winograd's algorithm inside: the products' residues make those of the
// blocks of C, which wait in shared memory until there is one of every modulus.
#include "kernels/cuda/residue/residue_remainder.cuh"
#include "kernels/cuda/residue/residue_results.cuh"

namespace heptad::cuda {
namespace {

constexpr int kLevelThreads = 64;  // each keeps up to a kilobyte of residues
template <class T>
using LevelEntries = WarpEntries<T, kEach>;

struct RebuildLevelsArguments {
    ResidueRebuild launch;
    std::int64_t blocks_across;
    ModulusConstants constants;
    RemainderTable tables[kModuliChoices];
};

template <class T, int Levels, int Count>
__device__ __forceinline__ void put_blocks_together(const RebuildLevelsArguments& args, const std::uint32_t* residues,
                                                    std::int64_t row, std::int64_t first, LevelEntries<T>& entries) {
    const ResidueRebuild& launch = args.launch;
    constexpr int kSide = kSideBlocks<Levels>;
    for (int block = 0; block < kBlocks<Levels>; ++block) {
        const std::int64_t own_row = block / kSide * launch.residues.lines + row,
                           own_col = block % kSide * launch.residues.line_bytes + first;
        if (own_row < launch.c.rows && own_col < launch.c.cols) {
            std::uint32_t words[Count];
#pragma unroll
            for (int t = 0; t < Count; ++t) {
                words[t] = residues[(t * kBlocks<Levels> + block) * kLevelThreads];
            }
            put_together<T, Count>(launch, args.tables[Count - kFewestModuli<T>], words, own_row,
                                   own_col + threadIdx.x % 32 * kEach, entries.of_lane());
            entries.store(
                static_cast<T*>(launch.c.data) + own_row * launch.c.row_stride + own_col * launch.c.col_stride,
                min(launch.c.cols - own_col, launch.residues.line_bytes - first), launch.c.col_stride);
        }
    }
}

template <class T, int Levels>
__global__ void __launch_bounds__(kLevelThreads) rebuild_levels(const __grid_constant__ RebuildLevelsArguments args) {
    extern __shared__ std::uint32_t shared[];
    __shared__ LevelEntries<T> entries[kLevelThreads / 32];
    const BytePlanes& from = args.launch.residues;
    const int taken = moduli_taken(args.launch.choice);
    const std::int64_t row = blockIdx.x / args.blocks_across;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t first = ((blockIdx.x % args.blocks_across) * kLevelThreads + warp * 32) * kEach;
    if (taken == 0 || first >= from.line_bytes) {
        return;
    }
    // Lanes behind the last residues look at those, for nothing.
    const std::int64_t col = min(first + lane * kEach, from.line_bytes - kEach);
    std::uint32_t* const own = shared + threadIdx.x;
    bytes_of_blocks<Levels, kLevelThreads>(from, taken, args.constants, row, col, own);
    with_moduli<T>(taken,
                   [&](auto count) { put_blocks_together<T, Levels, count()>(args, own, row, first, entries[warp]); });
}

template <class T, int Levels>
DeviceStatus start_levels(const ResidueRebuild& launch, cudaStream_t stream) {
    constexpr int kOfModulus = kBlocks<Levels> * kLevelThreads * static_cast<int>(sizeof(std::uint32_t));
    // The same for all launches: others may be on their way to theirs.
    constexpr int kMostShared = (kFewestModuli<T> + kModuliChoices - 1) * kOfModulus;
    const cudaError_t status =
        cudaFuncSetAttribute(rebuild_levels<T, Levels>, cudaFuncAttributeMaxDynamicSharedMemorySize, kMostShared);
    if (status != cudaSuccess) {
        return status;
    }
    RebuildLevelsArguments args{launch,
                                (launch.residues.line_bytes + kLevelThreads * kEach - 1) / (kLevelThreads * kEach),
                                modulus_constants(),
                                {}};
    fill_remainder_tables<T>(args.tables);
    rebuild_levels<T, Levels><<<static_cast<unsigned>(launch.residues.lines * args.blocks_across), kLevelThreads,
                                launch.choice.most * kOfModulus, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_residue_rebuild_levels(const ResidueRebuild& launch, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    const bool two = launch.residues.levels == 2;
    if (launch.scalar == Scalar::f64) {
        return two ? start_levels<double, 2>(launch, stream) : start_levels<double, 1>(launch, stream);
    }
    return two ? start_levels<float, 2>(launch, stream) : start_levels<float, 1>(launch, stream);
}

}  // namespace heptad::cuda
