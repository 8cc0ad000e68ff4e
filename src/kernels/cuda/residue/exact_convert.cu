// From numbers to bytes without rounding, with up to two levels of Winograd's algorithm inside. Every number is read
// once.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/residue/exact_integers.hpp"
#include "kernels/cuda/residue/exact_launches.hpp"
#include "kernels/cuda/residue/residue_sums.cuh"

namespace heptad::cuda {
namespace {

/// Of numbers, and of the sums of their bytes.
struct ConvertConstants : ExactConstants, ModulusConstants {};

struct ExactConvertArguments {
    ExactConvert launch;
    ConvertConstants constants;
};

/// A float has room for its own significand and two pieces more; integers of 64 bits are as they are.
template <class T, int Pieces>
using KeptNumber = std::conditional_t<std::is_same_v<T, float> && (Pieces > 3), double, T>;
template <class T, int Pieces>
using IntegerOf = std::conditional_t<std::is_same_v<T, std::int64_t>, ExactWord, ExactInteger<Pieces>>;

template <class T, class Kept>
__device__ __forceinline__ void load_numbers(const ResidueLines& from, std::int64_t first_line, std::int64_t line_end,
                                             std::int64_t first_depth, std::int64_t depth_end, const int* exponents,
                                             Tile<Kept>& tile) {
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
        if constexpr (std::is_same_v<T, std::int64_t>) {
            tile[line][p] = kept[e];
        } else {
            const bool is_finite = exponents[line] != ExactLine::kNotFinite;
            tile[line][p] = static_cast<Kept>(is_finite ? TwoPowers(exponents[line]).times(kept[e]) : 0.0);
        }
    }
}

/// Of four neighbours, all residues.
template <class Integer, class Kept>
__device__ __forceinline__ void store_bytes(const Kept* numbers, int moduli, const ExactConstants& constants,
                                            std::uint8_t* to, std::int64_t plane_bytes) {
    const Integer integers[kEach] = {Integer(numbers[0]), Integer(numbers[1]), Integer(numbers[2]),
                                     Integer(numbers[3])};
    for (int t = 0; t < moduli; ++t) {
        unsigned bytes[kEach];
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            bytes[e] = integers[e].modulo(constants, t);
        }
        *reinterpret_cast<unsigned*>(to) = lowest_bytes(bytes);
        to += plane_bytes;
    }
}

template <class T, int Pieces, int Levels>
__global__ void __launch_bounds__(kThreads) convert_exactly(const __grid_constant__ ExactConvertArguments args) {
    using Kept = KeptNumber<T, Pieces>;
    using Integer = IntegerOf<T, Pieces>;
    constexpr int kSide = kSideBlocks<Levels>;
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int exponents[kSide][kTileLines];
    auto* const tiles = reinterpret_cast<Tile<Kept>*>(shared);
    const ResidueLines& from = args.launch.lines.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.lines.to[blockIdx.z];
    const std::int64_t first_line = static_cast<std::int64_t>(blockIdx.y) * kTileLines;
    const std::int64_t first_depth = static_cast<std::int64_t>(blockIdx.x) * kTileDepth;
    if (first_line >= to_planes.lines || first_depth >= to_planes.line_bytes) {
        return;
    }
    const int tid = static_cast<int>(threadIdx.x);
    if (!std::is_same_v<T, std::int64_t> && tid < kSide * kTileLines) {
        const std::int64_t in_block = first_line + tid % kTileLines;
        const std::int64_t line = tid / kTileLines * to_planes.lines + in_block;
        const bool inside = in_block < to_planes.lines && line < from.lines;
        exponents[tid / kTileLines][tid % kTileLines] = inside ? __ldg(from.exponents + line) : 0;
    }
    __syncthreads();
    for (int block = 0; block < kBlocks<Levels>; ++block) {
        const std::int64_t line = block / kSide * to_planes.lines, depth = block % kSide * to_planes.line_bytes;
        load_numbers<T, Kept>(from, line + first_line, line + to_planes.lines, depth + first_depth,
                              depth + to_planes.line_bytes, exponents[block / kSide], tiles[block]);
    }
    __syncthreads();
    const int own_line = tid / (kTileDepth / kEach), own_depth = tid % (kTileDepth / kEach) * kEach;
    if (first_line + own_line >= to_planes.lines || first_depth + own_depth >= to_planes.line_bytes) {
        return;
    }
    std::uint8_t* const to = to_planes.data + (first_line + own_line) * to_planes.line_bytes + first_depth + own_depth;
    const int moduli = args.launch.moduli;
    if constexpr (Levels == 0) {
        store_bytes<Integer>(&tiles[0][own_line][own_depth], moduli, args.constants, to, to_planes.plane_bytes);
    } else if (args.launch.lines.operand[blockIdx.z] == 1) {
        store_sums<true, Levels, Integer, Kept>(tiles, own_line, own_depth, moduli, args.constants, to,
                                                to_planes.plane_bytes);
    } else {
        store_sums<false, Levels, Integer, Kept>(tiles, own_line, own_depth, moduli, args.constants, to,
                                                 to_planes.plane_bytes);
    }
}

template <class T, int Pieces, int Levels>
DeviceStatus start(const ExactConvert& launch, cudaStream_t stream) {
    constexpr int kShared = kBlocks<Levels> * static_cast<int>(sizeof(Tile<KeptNumber<T, Pieces>>));
    const cudaError_t status =
        cudaFuncSetAttribute(convert_exactly<T, Pieces, Levels>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
    if (status != cudaSuccess) {
        return status;
    }
    std::int64_t most_bytes = 0, most_lines = 0;
    for (int i = 0; i < launch.lines.count; ++i) {
        most_bytes = std::max(most_bytes, launch.lines.to[i].line_bytes);
        most_lines = std::max(most_lines, launch.lines.to[i].lines);
    }
    const dim3 grid(static_cast<unsigned>((most_bytes + kTileDepth - 1) / kTileDepth),
                    static_cast<unsigned>((most_lines + kTileLines - 1) / kTileLines),
                    static_cast<unsigned>(launch.lines.count));
    convert_exactly<T, Pieces, Levels>
        <<<grid, kThreads, kShared, stream>>>({launch, {exact_constants(), modulus_constants()}});
    return cudaGetLastError();
}

template <class T, int Pieces>
DeviceStatus with_levels(const ExactConvert& launch, cudaStream_t stream) {
    const int levels = launch.lines.to[0].levels;
    return levels == 0   ? start<T, Pieces, 0>(launch, stream)
           : levels == 1 ? start<T, Pieces, 1>(launch, stream)
                         : start<T, Pieces, 2>(launch, stream);
}

template <class T>
DeviceStatus with_pieces(const ExactConvert& launch, cudaStream_t stream) {
    return launch.pieces <= 2   ? with_levels<T, 2>(launch, stream)
           : launch.pieces == 3 ? with_levels<T, 3>(launch, stream)
                                : with_levels<T, kMostNumberPieces>(launch, stream);
}

}  // namespace

DeviceStatus launch_exact_convert(const ExactConvert& launch, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    switch (launch.element) {
        case ExactElement::f64:
            return with_pieces<double>(launch, stream);
        case ExactElement::i64:
            return with_levels<std::int64_t, 2>(launch, stream);
        default:
            return with_pieces<float>(launch, stream);
    }
}

}  // namespace heptad::cuda
