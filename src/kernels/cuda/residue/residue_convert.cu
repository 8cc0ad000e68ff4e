// From numbers to bytes: a line times a power of two, rounded to integers, taken modulo each modulus. Every number is
// read once, and lines that do not lie along k are turned on the way.
#include <algorithm>

#include "kernels/cuda/residue/residue_integers.cuh"
#include "kernels/cuda/residue/residue_kept.hpp"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kTileLines = 32, kTileDepth = 128;
constexpr int kEach = kTileDepth / 32;          // neighbours along k to a lane
constexpr int kOwnLines = kTileLines / kWarps;  // to a warp

struct ConvertArguments {
    ResidueConvert launch;
    bool along_k[2], by_vectors[2];
    ModulusConstants constants;
    MadeLines made[2];
};

/// What the residues of a line depend on beside its numbers. Not where powers along k count: those are of one product.
__device__ __forceinline__ std::int32_t made_with(int exponent, int taken) {
    constexpr int kMostTaken = 64;
    static_assert(kMostModuli < kMostTaken);
    return exponent * kMostTaken + taken;
}
constexpr std::int32_t kMadeForOneProduct = -0x7fffffff;

/// Notes what the lines of a thread block are made with. Are all of them there already, or is nothing to be made? For
/// all threads of the block.
__device__ __forceinline__ bool are_made(const ConvertArguments& args, std::int64_t first_line) {
    const MadeLines& made = args.made[blockIdx.z];
    const ResidueLines& from = args.launch.from[blockIdx.z];
    const int taken = moduli_taken(args.launch.choice);
    bool is_made = true;
    const std::int64_t line = first_line + threadIdx.x;
    if (taken != 0 && threadIdx.x < kTileLines && line < from.lines) {
        const bool has_powers = from.inner != nullptr && *from.scaled != 0;
        const int exponent = integer_exponent(args.launch.choice, taken, __ldg(from.log2_norm + line));
        const std::int32_t now = has_powers ? kMadeForOneProduct : made_with(exponent, taken);
        is_made = !has_powers && made.before[line] == now;
        if (blockIdx.x == 0) {
            from.exponents[line] = exponent;
            made.after[line] = now;
        }
    }
    return __syncthreads_and(static_cast<int>(is_made)) != 0;
}

/// Of a few lines' neighbours, all residues.
template <class Integer, class T, class Powers>
__device__ __forceinline__ void store_residues(const T (&x)[kOwnLines][kEach], const int (&exponents)[kOwnLines],
                                               int lines, int taken, const ModulusConstants& constants,
                                               std::uint8_t* to, const BytePlanes& planes) {
    IntegerBytes<Integer::kWords> integers[kOwnLines][kEach];
#pragma unroll
    for (int i = 0; i < kOwnLines; ++i) {
        const Powers powers(exponents[i]);
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            integers[i][e] = Integer(powers.times(x[i][e]));
        }
    }
    for (int t = 0; t < taken; ++t) {
#pragma unroll
        for (int i = 0; i < kOwnLines; ++i) {
            unsigned bytes[kEach];
#pragma unroll
            for (int e = 0; e < kEach; ++e) {
                bytes[e] = integers[i][e].modulo(constants, t);
            }
            if (i < lines) {
                *reinterpret_cast<unsigned*>(to + i * planes.line_bytes) = lowest_bytes(bytes);
            }
        }
        to += planes.plane_bytes;
    }
}

template <class T>
__global__ void __launch_bounds__(kThreads) convert(const __grid_constant__ ConvertArguments args) {
    __shared__ __align__(16) T tile[kTileLines][kTileDepth + 4];
    const ResidueChoice& choice = args.launch.choice;
    const ResidueLines& from = args.launch.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.to[blockIdx.z];
    const int taken = moduli_taken(choice);
    const bool has_powers = from.inner != nullptr && *from.scaled != 0;
    if (taken == 0) {
        return;
    }
    const bool along_k = args.along_k[blockIdx.z], by_vectors = args.by_vectors[blockIdx.z];
    const auto* const data = static_cast<const T*>(from.data);
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t first_line = static_cast<std::int64_t>(blockIdx.y) * kTileLines;
    const std::int64_t first_depth = static_cast<std::int64_t>(blockIdx.x) * kTileDepth;
    if (args.made[blockIdx.z].before != nullptr && are_made(args, first_line)) {
        return;
    }
    if (!along_k) {
        const std::int64_t line = first_line + lane;
        T kept[kTileDepth / kWarps];
#pragma unroll
        for (int i = 0; i < kTileDepth / kWarps; ++i) {
            const std::int64_t p = first_depth + warp + i * kWarps;
            kept[i] =
                line < from.lines && p < from.depth ? data[line * from.line_stride + p * from.depth_stride] : T(0);
        }
#pragma unroll
        for (int i = 0; i < kTileDepth / kWarps; ++i) {
            tile[lane][warp + i * kWarps] = kept[i];
        }
        __syncthreads();
    }
    const std::int64_t depth = first_depth + lane * kEach;
    T values[kOwnLines][kEach];
#pragma unroll
    for (int i = 0; i < kOwnLines; ++i) {
        const int in_tile = warp * kOwnLines + i;
        const std::int64_t line = first_line + in_tile;
        if (!along_k) {
#pragma unroll
            for (int e = 0; e < kEach; ++e) {
                values[i][e] = tile[in_tile][lane * kEach + e];
            }
            continue;
        }
        const T* const at = data + line * from.line_stride + depth * from.depth_stride;
        if (by_vectors && line < from.lines && depth + kEach <= from.depth) {
            constexpr int kVectors = static_cast<int>(sizeof(T)) * kEach / 16;
#pragma unroll
            for (int v = 0; v < kVectors; ++v) {
                reinterpret_cast<uint4*>(values[i])[v] = __ldg(reinterpret_cast<const uint4*>(at) + v);
            }
            continue;
        }
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            values[i][e] = line < from.lines && depth + e < from.depth ? at[e * from.depth_stride] : T(0);
        }
    }
    const std::int64_t own_line = first_line + warp * kOwnLines;
    const int lines = static_cast<int>(min(from.lines - own_line, std::int64_t{kOwnLines}));
    if (depth >= to_planes.line_bytes || lines <= 0) {
        return;
    }
    int exponents[kOwnLines];
#pragma unroll
    for (int i = 0; i < kOwnLines; ++i) {
        exponents[i] = i < lines ? integer_exponent(choice, taken, __ldg(from.log2_norm + own_line + i)) : 0;
        if (blockIdx.x == 0 && lane == 0 && i < lines) {
            from.exponents[own_line + i] = exponents[i];
        }
    }
    std::uint8_t* const to = to_planes.data + own_line * to_planes.line_bytes + depth;
    if constexpr (sizeof(T) == 4) {
        if (taken <= kMostShortModuli && !has_powers) {
            store_residues<ShortInteger, T, TwoShortPowers>(values, exponents, lines, taken, args.constants, to,
                                                            to_planes);
            return;
        }
    }
    double x[kOwnLines][kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        const int power = has_powers && depth + e < from.depth ? __ldg(from.inner + depth + e) : 0;
#pragma unroll
        for (int i = 0; i < kOwnLines; ++i) {
            x[i][e] = has_powers ? times_power(values[i][e], power) : values[i][e];
        }
    }
    store_residues<LongInteger, double, TwoPowers>(x, exponents, lines, taken, args.constants, to, to_planes);
}

}  // namespace

DeviceStatus launch_residue_convert(const ResidueConvert& launch, StreamHandle handle) {
    return launch.from[0].is_complex ? launch_residue_convert_complex(launch, handle)
           : launch.to[0].levels > 0 ? launch_residue_convert_levels(launch, handle)
                                     : launch_residue_convert_kept(launch, {}, handle);
}

DeviceStatus launch_residue_convert_kept(const ResidueConvert& launch, const MadeLines (&made)[2],
                                         StreamHandle handle) {
    static_assert(kEach == 4);
    auto* const stream = static_cast<cudaStream_t>(handle);
    ConvertArguments args{launch, {}, {}, {}, {made[0], made[1]}};
    const std::int64_t element = launch.scalar == Scalar::f64 ? 8 : 4;
    std::int64_t most_bytes = 0, most_lines = 0;
    for (int i = 0; i < launch.count; ++i) {
        const ResidueLines& from = launch.from[i];
        args.along_k[i] = !(from.line_stride == 1 && from.depth_stride != 1);
        args.by_vectors[i] = from.depth_stride == 1 && from.line_stride * element % 16 == 0 &&
                             reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0;
        most_bytes = std::max(most_bytes, launch.to[i].line_bytes);
        most_lines = std::max(most_lines, from.lines);
    }
    args.constants = modulus_constants();
    const dim3 grid(static_cast<unsigned>((most_bytes + kTileDepth - 1) / kTileDepth),
                    static_cast<unsigned>((most_lines + kTileLines - 1) / kTileLines),
                    static_cast<unsigned>(launch.count));
    if (launch.scalar == Scalar::f64) {
        convert<double><<<grid, kThreads, 0, stream>>>(args);
    } else {
        convert<float><<<grid, kThreads, 0, stream>>>(args);
    }
    cudaError_t status = cudaGetLastError();
    for (int i = 0; i < launch.count && status == cudaSuccess; ++i) {
        if (made[i].before != nullptr) {
            status = cudaMemcpyAsync(made[i].before, made[i].after,
                                     static_cast<std::size_t>(launch.from[i].lines) * sizeof(std::int32_t),
                                     cudaMemcpyDeviceToDevice, stream);
        }
    }
    return status;
}

}  // namespace heptad::cuda
