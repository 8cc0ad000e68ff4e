// From numbers to bytes: a line times a power of two, rounded to integers, taken modulo each modulus. Every number is
// read once, and lines that do not lie along k are turned on the way.
#include <algorithm>

#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kTileLines = 32, kTileDepth = 128;
constexpr int kEach = kTileDepth / 32;  // neighbours along k to a lane

struct ModulusConstants {
    double modulus[kMostDeviceModuli], reciprocal[kMostDeviceModuli];
    double two_to_27[kMostDeviceModuli];  // modulo each
    float short_modulus[kMostDeviceModuli], short_reciprocal[kMostDeviceModuli], two_to_12[kMostDeviceModuli];
};

struct ConvertArguments {
    ResidueConvert launch;
    bool along_k[2], by_vectors[2];
    ModulusConstants constants;
};

/// 2^exponent as a product of two numbers that a float has.
struct TwoShortPowers {
    float first, second;
    __device__ __forceinline__ explicit TwoShortPowers(int exponent) {
        constexpr int kMost = 252;
        const int whole = min(max(exponent, -kMost), kMost), half = whole >> 1;
        first = __int_as_float((half + 127) << 23);
        second = __int_as_float((whole - half + 127) << 23);
    }
    __device__ __forceinline__ float times(float x) const { return x * first * second; }
};

/// Added to a number of moderate size, they leave its integer part in the lower bits.
constexpr double kToInteger = 6755399441055744.0;  // 1.5 * 2^52
constexpr float kToShortInteger = 12582912.0F;     // 1.5 * 2^23

/// An integer below 2^63, of which f32 needs 2^40.
template <class T>
struct LongInteger {
    double upper = 0, lower;
    __device__ __forceinline__ LongInteger(double x, const TwoPowers& powers) {
        lower = rint(powers.times(x));
        if constexpr (sizeof(T) == 8) {
            const double whole = lower;
            upper = fma(whole, 0x1p-27, kToInteger) - kToInteger;
            lower = fma(upper, -0x1p27, whole);
        }
    }
    /// From -p/2 to p/2 in the lowest byte.
    __device__ __forceinline__ unsigned modulo(const ModulusConstants& constants, int t) const {
        const double x = sizeof(T) == 8 ? fma(upper, constants.two_to_27[t], lower) : lower;
        const double quotient = fma(x, constants.reciprocal[t], kToInteger) - kToInteger;
        return static_cast<unsigned>(__double2loint(fma(-constants.modulus[t], quotient, x) + kToInteger));
    }
};

/// An integer below 2^27.6, in floats: as  upper * 2^12 + lower  modulo p it is below 2^23, and its quotient is found
/// to one part in 2^25, where 2^24 would do.
struct ShortInteger {
    float upper, lower;
    __device__ __forceinline__ ShortInteger(float x, const TwoShortPowers& powers) {
        x = powers.times(x);
        upper = fmaf(x, 0x1p-12F, kToShortInteger) - kToShortInteger;
        lower = (fmaf(upper, -0x1p12F, x) + kToShortInteger) - kToShortInteger;
    }
    __device__ __forceinline__ unsigned modulo(const ModulusConstants& constants, int t) const {
        const float x = fmaf(upper, constants.two_to_12[t], lower);
        const float quotient = fmaf(x, constants.short_reciprocal[t], kToShortInteger) - kToShortInteger;
        return __float_as_uint(fmaf(-constants.short_modulus[t], quotient, x) + kToShortInteger);
    }
};

/// Of four neighbours, all residues.
template <class Integer, class T, class Powers>
__device__ __forceinline__ void store_residues(const T (&x)[kEach], const Powers& powers, int taken,
                                               const ModulusConstants& constants, std::uint8_t* to,
                                               std::int64_t plane_bytes) {
    const Integer integers[kEach] = {Integer(x[0], powers), Integer(x[1], powers), Integer(x[2], powers),
                                     Integer(x[3], powers)};
    for (int t = 0; t < taken; ++t) {
        unsigned bytes[kEach];
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            bytes[e] = integers[e].modulo(constants, t);
        }
        constexpr unsigned kLowestBytes = 0x0040, kBothHalves = 0x5410;
        *reinterpret_cast<unsigned*>(to) = __byte_perm(__byte_perm(bytes[0], bytes[1], kLowestBytes),
                                                       __byte_perm(bytes[2], bytes[3], kLowestBytes), kBothHalves);
        to += plane_bytes;
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
    T values[kTileLines / kWarps][kEach];
#pragma unroll
    for (int i = 0; i < kTileLines / kWarps; ++i) {
        const int in_tile = warp * (kTileLines / kWarps) + i;
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
    if (depth >= to_planes.line_bytes) {
        return;
    }
#pragma unroll
    for (int i = 0; i < kTileLines / kWarps; ++i) {
        const std::int64_t line = first_line + warp * (kTileLines / kWarps) + i;
        if (line >= from.lines) {
            return;
        }
        const int exponent = integer_exponent(choice, taken, __ldg(from.log2_norm + line));
        if (blockIdx.x == 0 && lane == 0) {
            from.exponents[line] = exponent;
        }
        std::uint8_t* const to = to_planes.data + line * to_planes.line_bytes + depth;
        if constexpr (sizeof(T) == 4) {
            constexpr int kMostShort = 7;
            if (taken <= kMostShort && !has_powers) {
                store_residues<ShortInteger>(values[i], TwoShortPowers(exponent), taken, args.constants, to,
                                             to_planes.plane_bytes);
                continue;
            }
        }
        double x[kEach];
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            x[e] = values[i][e];
            if (has_powers && depth + e < from.depth) {
                x[e] = times_power(x[e], __ldg(from.inner + depth + e));
            }
        }
        store_residues<LongInteger<T>>(x, TwoPowers(exponent), taken, args.constants, to, to_planes.plane_bytes);
    }
}

}  // namespace

DeviceStatus launch_residue_convert(const ResidueConvert& launch, StreamHandle handle) {
    static_assert(kEach == 4);
    auto* const stream = static_cast<cudaStream_t>(handle);
    ConvertArguments args{launch, {}, {}, {}};
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
    for (int t = 0; t < kMostDeviceModuli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)];
        const auto power = [p](int exponent) {
            const int rest = static_cast<int>((std::int64_t{1} << exponent) % p);
            return rest > p / 2 ? rest - p : rest;
        };
        args.constants.modulus[t] = p;
        args.constants.reciprocal[t] = 1.0 / p;
        args.constants.two_to_27[t] = power(27);
        args.constants.short_modulus[t] = static_cast<float>(p);
        args.constants.short_reciprocal[t] = static_cast<float>(1.0 / p);
        args.constants.two_to_12[t] = static_cast<float>(power(12));
    }
    const dim3 grid(static_cast<unsigned>((most_bytes + kTileDepth - 1) / kTileDepth),
                    static_cast<unsigned>((most_lines + kTileLines - 1) / kTileLines),
                    static_cast<unsigned>(launch.count));
    if (launch.scalar == Scalar::f64) {
        convert<double><<<grid, kThreads, 0, stream>>>(args);
    } else {
        convert<float><<<grid, kThreads, 0, stream>>>(args);
    }
    return cudaGetLastError();
}

}  // namespace heptad::cuda
