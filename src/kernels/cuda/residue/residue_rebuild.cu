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

template <class T, int Count>
__device__ __forceinline__ void rebuild(const RebuildArguments& args, std::int64_t row, std::int64_t col, T* made) {
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
    put_together<T, Count>(launch, table, words[0], row, col, made);
    put_together<T, Count>(launch, table, words[1], row, col + kEach, made + kEach);
}

template <class T>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 8 ? 3 : 4)
    rebuild_entries(const __grid_constant__ RebuildArguments args) {
    const DeviceMatrix& c = args.launch.c;
    const int taken = moduli_taken(args.launch.choice);
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t row = blockIdx.x / args.blocks_across;
    const std::int64_t first = ((blockIdx.x % args.blocks_across) * kThreads + warp * 32) * kOwn;
    if (taken == 0 || first >= c.cols) {
        return;
    }
    // Lanes behind the last residues look at those, for nothing.
    const std::int64_t col = min(first + lane * kOwn, args.launch.residues.line_bytes - kOwn);
    T* const to = static_cast<T*>(c.data) + row * c.row_stride;
    if constexpr (sizeof(T) == 8) {
        // 64 bytes to a lane are whole sectors of the cache: by way of shared memory it took 1.1 times as long.
        alignas(16) T made[kOwn];
        with_moduli<T>(taken, [&](auto count) { rebuild<T, count()>(args, row, col, made); });
        store_entries(made, c.cols - first - lane * kOwn, to + (first + lane * kOwn) * c.col_stride, c.col_stride);
    } else {
        __shared__ WarpEntries<T, kOwn> entries[kThreads / 32];
        T* const made = entries[warp].of_lane();
        with_moduli<T>(taken, [&](auto count) { rebuild<T, count()>(args, row, col, made); });
        entries[warp].store(to + first * c.col_stride, c.cols - first, c.col_stride);
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
