// From bytes to numbers: every residue is read once, every entry of C written once.
#include "kernels/cuda/residue/residue_remainder.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kOwn = 2 * kEach;

struct RebuildArguments {
    ResidueRebuild launch;
    std::int64_t blocks_across;
    RemainderTable tables[kModuliChoices];
};

/// With so many moduli, known to the compiler: then all bytes are on their way before the first is used, and the tables
/// are operands of instructions.
template <class T, int Count>
__device__ __forceinline__ void rebuild(const RebuildArguments& args, std::int64_t row, std::int64_t col) {
    const ResidueRebuild& launch = args.launch;
    const RemainderTable& table = args.tables[Count - kFewestModuli<T>];
    const std::uint8_t* const from = launch.residues.data + row * launch.residues.line_bytes + col;
    std::uint32_t words[2][Count];
#pragma unroll
    for (int t = 0; t < Count; ++t) {
        const uint2 both = __ldcs(reinterpret_cast<const uint2*>(from + t * launch.residues.plane_bytes));
        words[0][t] = both.x;
        words[1][t] = both.y;
    }
    put_together<T, Count>(launch, table, words[0], row, col);
    if (col + kEach < launch.c.cols) {
        put_together<T, Count>(launch, table, words[1], row, col + kEach);
    }
}

template <class T, int Count = kFewestModuli<T>>
__device__ __forceinline__ void rebuild_with(int taken, const RebuildArguments& args, std::int64_t row,
                                             std::int64_t col) {
    if (taken == Count) {
        rebuild<T, Count>(args, row, col);
    } else if constexpr (Count < kFewestModuli<T> + kModuliChoices - 1) {
        rebuild_with<T, Count + 1>(taken, args, row, col);
    }
}

template <class T>
__global__ void __launch_bounds__(kThreads) rebuild_entries(const __grid_constant__ RebuildArguments args) {
    const int taken = moduli_taken(args.launch.choice);
    const std::int64_t row = blockIdx.x / args.blocks_across;
    const std::int64_t col = ((blockIdx.x % args.blocks_across) * kThreads + threadIdx.x) * kOwn;
    if (taken != 0 && col < args.launch.c.cols) {
        rebuild_with<T>(taken, args, row, col);
    }
}

template <class T>
DeviceStatus start(const ResidueRebuild& launch, cudaStream_t stream) {
    RebuildArguments args{launch, (launch.c.cols + kThreads * kOwn - 1) / (kThreads * kOwn), {}};
    fill_remainder_tables<T>(args.tables);
    rebuild_entries<T><<<static_cast<unsigned>(launch.c.rows * args.blocks_across), kThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_residue_rebuild(const ResidueRebuild& launch, StreamHandle stream) {
    if (launch.residues.parts > 1) {
        return launch_residue_rebuild_complex(launch, stream);
    }
    if (launch.residues.levels > 0) {
        return launch_residue_rebuild_levels(launch, stream);
    }
    return launch.scalar == Scalar::f64 ? start<double>(launch, static_cast<cudaStream_t>(stream))
                                        : start<float>(launch, static_cast<cudaStream_t>(stream));
}

}  // namespace heptad::cuda
