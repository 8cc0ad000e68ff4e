// From numbers to bytes with one or two levels of Winograd's algorithm inside: residues of all blocks of an operand,
// and from them the residues of the sums that are multiplied. Every number is read once.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/residue/residue_sums.cuh"

namespace heptad::cuda {
namespace {

struct ConvertLevelsArguments {
    ResidueConvert launch;
    ModulusConstants constants;
};

/// The numbers of one block's tile times their powers of two: integers but for the rounding. What f32 has no room for
/// is far below one half.
template <class T, class Kept>
__device__ __forceinline__ void load_tile(const ResidueLines& from, bool has_powers, std::int64_t first_line,
                                          std::int64_t line_end, std::int64_t first_depth, std::int64_t depth_end,
                                          const int* exponents, Tile<Kept>& tile) {
    const auto* const data = static_cast<const T*>(from.data);
    const bool along_k = !(from.line_stride == 1 && from.depth_stride != 1);
    T kept[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        const int i = static_cast<int>(threadIdx.x) + e * kThreads;
        const int line = along_k ? i / kTileDepth : i % kTileLines, p = along_k ? i % kTileDepth : i / kTileLines;
        const bool inside =
            first_line + line < min(from.lines, line_end) && first_depth + p < min(from.depth, depth_end);
        kept[e] = inside ? data[(first_line + line) * from.line_stride + (first_depth + p) * from.depth_stride] : T(0);
    }
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        const int i = static_cast<int>(threadIdx.x) + e * kThreads;
        const int line = along_k ? i / kTileDepth : i % kTileLines, p = along_k ? i % kTileDepth : i / kTileLines;
        if constexpr (std::is_same_v<Kept, int>) {
            tile[line][p] = ShortInteger::bytes_of(TwoShortPowers(exponents[line]).times(kept[e]));
        } else {
            double x = kept[e];
            if (has_powers && first_depth + p < from.depth) {
                x = times_power(x, __ldg(from.inner + first_depth + p));
            }
            const double scaled = TwoPowers(exponents[line]).times(x);
            if constexpr (std::is_same_v<Kept, long long>) {
                tile[line][p] = LongInteger::bytes_of(scaled);
            } else {
                tile[line][p] = static_cast<float>(scaled);
            }
        }
    }
}

/// All blocks of the tile, and their sums.
template <class T, int Levels, class Integer, class Kept>
__device__ __forceinline__ void convert_tile(const ConvertLevelsArguments& args, int taken, bool has_powers,
                                             const int (*exponents)[kTileLines], Tile<Kept>* tiles) {
    constexpr int kSide = kSideBlocks<Levels>;
    const ResidueLines& from = args.launch.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.to[blockIdx.z];
    const std::int64_t first_line = static_cast<std::int64_t>(blockIdx.y) * kTileLines;
    const std::int64_t first_depth = static_cast<std::int64_t>(blockIdx.x) * kTileDepth;
    for (int block = 0; block < kBlocks<Levels>; ++block) {
        const std::int64_t line = block / kSide * to_planes.lines, depth = block % kSide * to_planes.line_bytes;
        load_tile<T, Kept>(from, has_powers, line + first_line, line + to_planes.lines, depth + first_depth,
                           depth + to_planes.line_bytes, exponents[block / kSide], tiles[block]);
    }
    __syncthreads();
    const int tid = static_cast<int>(threadIdx.x);
    const int own_line = tid / (kTileDepth / kEach), own_depth = tid % (kTileDepth / kEach) * kEach;
    if (first_line + own_line >= to_planes.lines || first_depth + own_depth >= to_planes.line_bytes) {
        return;
    }
    std::uint8_t* const to = to_planes.data + (first_line + own_line) * to_planes.line_bytes + first_depth + own_depth;
    if (args.launch.operand[blockIdx.z] == 1) {
        store_sums<true, Levels, Integer, Kept>(tiles, own_line, own_depth, taken, args.constants, to,
                                                to_planes.plane_bytes);
    } else {
        store_sums<false, Levels, Integer, Kept>(tiles, own_line, own_depth, taken, args.constants, to,
                                                 to_planes.plane_bytes);
    }
}

template <class T, int Levels>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 4 ? 2 : 1)
    convert_levels(const __grid_constant__ ConvertLevelsArguments args) {
    constexpr int kSide = kSideBlocks<Levels>;
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int exponents[kSide][kTileLines];
    const ResidueChoice& choice = args.launch.choice;
    const ResidueLines& from = args.launch.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.to[blockIdx.z];
    const int taken = moduli_taken(choice);
    const bool has_powers = from.inner != nullptr && *from.scaled != 0;
    const std::int64_t first_line = static_cast<std::int64_t>(blockIdx.y) * kTileLines;
    const std::int64_t first_depth = static_cast<std::int64_t>(blockIdx.x) * kTileDepth;
    if (taken == 0 || first_line >= to_planes.lines || first_depth >= to_planes.line_bytes) {
        return;
    }
    const int tid = static_cast<int>(threadIdx.x);
    if (tid < kSide * kTileLines) {
        const std::int64_t in_block = first_line + tid % kTileLines;
        const std::int64_t line = tid / kTileLines * to_planes.lines + in_block;
        const bool inside = in_block < to_planes.lines && line < from.lines;
        const int exponent = inside ? integer_exponent(choice, taken, __ldg(from.log2_norm + line)) : 0;
        exponents[tid / kTileLines][tid % kTileLines] = exponent;
        if (inside && blockIdx.x == 0) {
            from.exponents[line] = exponent;
        }
    }
    __syncthreads();
    if constexpr (sizeof(T) == 4) {
        if (taken <= kMostShortModuli && !has_powers) {
            convert_tile<T, Levels, ShortInteger>(args, taken, has_powers, exponents,
                                                  reinterpret_cast<Tile<int>*>(shared));
            return;
        }
    }
    using Kept = std::conditional_t<sizeof(T) == 8, long long, float>;
    convert_tile<T, Levels, LongInteger>(args, taken, has_powers, exponents, reinterpret_cast<Tile<Kept>*>(shared));
}

template <class T, int Levels>
DeviceStatus start(const ResidueConvert& launch, cudaStream_t stream) {
    constexpr int kShared = kBlocks<Levels> * static_cast<int>(sizeof(Tile<T>));
    const cudaError_t status =
        cudaFuncSetAttribute(convert_levels<T, Levels>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
    if (status != cudaSuccess) {
        return status;
    }
    std::int64_t most_bytes = 0, most_lines = 0;
    for (int i = 0; i < launch.count; ++i) {
        most_bytes = std::max(most_bytes, launch.to[i].line_bytes);
        most_lines = std::max(most_lines, launch.to[i].lines);
    }
    const dim3 grid(static_cast<unsigned>((most_bytes + kTileDepth - 1) / kTileDepth),
                    static_cast<unsigned>((most_lines + kTileLines - 1) / kTileLines),
                    static_cast<unsigned>(launch.count));
    convert_levels<T, Levels><<<grid, kThreads, kShared, stream>>>({launch, modulus_constants()});
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_residue_convert_levels(const ResidueConvert& launch, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    const bool two = launch.to[0].levels == 2;
    if (launch.scalar == Scalar::f64) {
        return two ? start<double, 2>(launch, stream) : start<double, 1>(launch, stream);
    }
    return two ? start<float, 2>(launch, stream) : start<float, 1>(launch, stream);
}

}  // namespace heptad::cuda
