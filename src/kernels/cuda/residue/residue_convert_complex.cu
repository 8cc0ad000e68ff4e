// From complex numbers to bytes: a line times a power of two, rounded to integers; of each modulus the real part, the
// imaginary part and their sum. Every number is read once, and lines that do not lie along k are turned on the way.
#include <algorithm>

#include "kernels/cuda/residue/residue_complex.cuh"
#include "kernels/cuda/residue/residue_integers.cuh"
#include "kernels/cuda/residue/residue_parts.hpp"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kEach = 4, kTileDepth = 32 * kEach;  // neighbours along k to a lane, and to a warp
/// As many as shared memory holds.
template <class T>
constexpr int kTileLines = sizeof(T) == 8 ? 32 : 16;

struct ConvertComplexArguments {
    ResidueConvert launch;
    bool along_k[2], by_vectors[2];
    ModulusConstants constants;
};

template <class Integer>
__device__ __forceinline__ unsigned four_residues(const Integer (&integers)[kEach], const ModulusConstants& constants,
                                                  int t) {
    unsigned bytes[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        bytes[e] = integers[e].modulo(constants, t);
    }
    return lowest_bytes(bytes);
}

/// Of four neighbours, all residues.
template <class Integer, class T, class Powers>
__device__ __forceinline__ void store_residues(const Complex<T> (&x)[kEach], const Powers& powers, int taken,
                                               const ModulusConstants& constants, std::uint8_t* to,
                                               std::int64_t plane_bytes) {
    IntegerBytes<Integer::kWords> reals[kEach], imaginaries[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        reals[e] = Integer(powers.times(x[e].real));
        imaginaries[e] = Integer(powers.times(x[e].imaginary));
    }
    for (int t = 0; t < taken; ++t) {
        const unsigned real = four_residues(reals, constants, t), imaginary = four_residues(imaginaries, constants, t);
        const unsigned p = __float2uint_rn(constants.modulus[t]);
        *reinterpret_cast<unsigned*>(to) = real;
        *reinterpret_cast<unsigned*>(to + plane_bytes) = imaginary;
        *reinterpret_cast<unsigned*>(to + 2 * plane_bytes) = sum_of_bytes(real, imaginary, p);
        to += kComplexParts * plane_bytes;
    }
}

template <class Part>
__global__ void __launch_bounds__(kThreads) convert_complex(const __grid_constant__ ConvertComplexArguments args) {
    using T = Complex<Part>;
    constexpr int kLines = kTileLines<T>, kOwnLines = kLines / kWarps;
    __shared__ __align__(16) T tile[kLines][kTileDepth + 4];
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
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const std::int64_t first_line = static_cast<std::int64_t>(blockIdx.y) * kLines;
    const std::int64_t first_depth = static_cast<std::int64_t>(blockIdx.x) * kTileDepth;
    const auto load = [&](std::int64_t line, std::int64_t p) {
        return line < from.lines && p < from.depth ? data[line * from.line_stride + p * from.depth_stride] : T{};
    };
    if (!along_k) {
        constexpr int kStep = kThreads / kLines;
        T kept[kTileDepth / kStep];
#pragma unroll
        for (int i = 0; i < kTileDepth / kStep; ++i) {
            kept[i] = load(first_line + thread % kLines, first_depth + thread / kLines + i * kStep);
        }
#pragma unroll
        for (int i = 0; i < kTileDepth / kStep; ++i) {
            tile[thread % kLines][thread / kLines + i * kStep] = kept[i];
        }
        __syncthreads();
    }
    const std::int64_t depth = first_depth + lane * kEach;
    if (depth >= to_planes.line_bytes) {
        return;
    }
#pragma unroll
    for (int i = 0; i < kOwnLines; ++i) {
        const int in_tile = warp * kOwnLines + i;
        const std::int64_t line = first_line + in_tile;
        if (line >= from.lines) {
            return;
        }
        alignas(16) T values[kEach];
        if (along_k && by_vectors && depth + kEach <= from.depth) {
            const auto* const at = reinterpret_cast<const uint4*>(data + line * from.line_stride + depth);
#pragma unroll
            for (int v = 0; v < static_cast<int>(sizeof(values)) / 16; ++v) {
                reinterpret_cast<uint4*>(values)[v] = __ldg(at + v);
            }
        } else {
#pragma unroll
            for (int e = 0; e < kEach; ++e) {
                values[e] = along_k ? load(line, depth + e) : tile[in_tile][lane * kEach + e];
            }
        }
        if (from.conjugate) {
#pragma unroll
            for (T& x : values) {
                x.imaginary = -x.imaginary;
            }
        }
        const int exponent = integer_exponent(choice, taken, __ldg(from.log2_norm + line));
        if (blockIdx.x == 0 && lane == 0) {
            from.exponents[line] = exponent;
        }
        std::uint8_t* const to = to_planes.data + line * to_planes.line_bytes + depth;
        if constexpr (sizeof(Part) == 4) {
            if (taken <= kMostShortModuli && !has_powers) {
                store_residues<ShortInteger>(values, TwoShortPowers(exponent), taken, args.constants, to,
                                             to_planes.plane_bytes);
                continue;
            }
        }
        Complex<double> x[kEach];
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            x[e] = {values[e].real, values[e].imaginary};
            if (has_powers && depth + e < from.depth) {
                x[e] = times_power(x[e], __ldg(from.inner + depth + e));
            }
        }
        store_residues<LongInteger>(x, TwoPowers(exponent), taken, args.constants, to, to_planes.plane_bytes);
    }
}

}  // namespace

DeviceStatus launch_residue_convert_complex(const ResidueConvert& launch, StreamHandle stream) {
    ConvertComplexArguments args{launch, {}, {}, modulus_constants()};
    const std::int64_t element = launch.scalar == Scalar::f64 ? 16 : 8;
    std::int64_t most_bytes = 0, most_lines = 0;
    for (int i = 0; i < launch.count; ++i) {
        const ResidueLines& from = launch.from[i];
        args.along_k[i] = !(from.line_stride == 1 && from.depth_stride != 1);
        args.by_vectors[i] = from.depth_stride == 1 && from.line_stride * element % 16 == 0 &&
                             reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0;
        most_bytes = std::max(most_bytes, launch.to[i].line_bytes);
        most_lines = std::max(most_lines, from.lines);
    }
    return with_complex_type(launch.scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        const dim3 grid(static_cast<unsigned>((most_bytes + kTileDepth - 1) / kTileDepth),
                        static_cast<unsigned>((most_lines + kTileLines<T> - 1) / kTileLines<T>),
                        static_cast<unsigned>(launch.count));
        convert_complex<PartOf<T>><<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(args);
        return cudaGetLastError();
    });
}

}  // namespace heptad::cuda
