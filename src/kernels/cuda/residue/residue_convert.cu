// From numbers to bytes: a line times a power of two, rounded to integers, taken modulo each modulus.
#include "kernels/cuda/residue/residue_kept.hpp"
#include "kernels/cuda/residue/residue_loads.cuh"

namespace heptad::cuda {
namespace {

struct ConvertArguments {
    ResidueConvert launch;
    LineWays ways;
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
template <int kLines>
__device__ __forceinline__ bool are_made(const ConvertArguments& args) {
    const MadeLines& made = args.made[blockIdx.z];
    const ResidueLines& from = args.launch.from[blockIdx.z];
    const int taken = moduli_taken(args.launch.choice);
    bool is_made = true;
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.y) * kLines + threadIdx.x;
    if (taken != 0 && threadIdx.x < kLines && line < from.lines) {
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

/// Of the warp's lines all residues, as integers of that kind.
template <class Integer, class Powers, class T, int Lines>
__device__ __forceinline__ void store_rounded(const T (&x)[Lines][kEach], const int (&exponents)[Lines], int lines,
                                              int taken, const ModulusConstants& constants, std::uint8_t* to,
                                              const BytePlanes& planes) {
    IntegerBytes<Integer::kWords> integers[Lines][kEach];
#pragma unroll
    for (int i = 0; i < Lines; ++i) {
        const Powers powers(exponents[i]);
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            integers[i][e] = Integer(powers.times(x[i][e]));
        }
    }
    store_residues(integers, lines, taken, constants, to, planes);
}

/// Doubles keep four blocks of threads on a multiprocessor.
template <class T>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 8 ? 4 : 0)
    convert(const __grid_constant__ ConvertArguments args) {
    constexpr int kLines = kOwnLines<T>;
    __shared__ NumberTile<T> tile;
    const ResidueChoice& choice = args.launch.choice;
    const ResidueLines& from = args.launch.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.to[blockIdx.z];
    const int taken = moduli_taken(choice);
    const bool has_powers = from.inner != nullptr && *from.scaled != 0;
    if (taken == 0 || (args.made[blockIdx.z].before != nullptr && are_made<kTileLines<T>>(args))) {
        return;
    }
    const LineReader<T> reader(from, args.ways, tile);
    alignas(16) T values[kLines][kEach];
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
        reader.read(i, values[i]);
    }
    const std::int64_t own_line = reader.first_line, depth = reader.depth;
    const int lines = static_cast<int>(min(from.lines - own_line, std::int64_t{kLines}));
    if (depth >= to_planes.line_bytes || lines <= 0) {
        return;
    }
    int exponents[kLines];
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
        exponents[i] = i < lines ? integer_exponent(choice, taken, __ldg(from.log2_norm + own_line + i)) : 0;
        if (depth == 0 && i < lines) {
            from.exponents[own_line + i] = exponents[i];
        }
    }
    std::uint8_t* const to = to_planes.data + own_line * to_planes.line_bytes + depth;
    if constexpr (sizeof(T) == 4) {
        if (taken <= kMostShortModuli && !has_powers) {
            store_rounded<ShortInteger, TwoShortPowers>(values, exponents, lines, taken, args.constants, to, to_planes);
            return;
        }
    }
    double x[kLines][kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        const int power = has_powers && depth + e < from.depth ? __ldg(from.inner + depth + e) : 0;
#pragma unroll
        for (int i = 0; i < kLines; ++i) {
            x[i][e] = has_powers ? times_power(values[i][e], power) : values[i][e];
        }
    }
    store_rounded<LongInteger, TwoPowers>(x, exponents, lines, taken, args.constants, to, to_planes);
}

}  // namespace

DeviceStatus launch_residue_convert(const ResidueConvert& launch, StreamHandle handle) {
    return launch.from[0].is_complex ? launch_residue_convert_complex(launch, handle)
           : launch.to[0].levels > 0 ? launch_residue_convert_levels(launch, handle)
                                     : launch_residue_convert_kept(launch, {}, handle);
}

DeviceStatus launch_residue_convert_kept(const ResidueConvert& launch, const MadeLines (&made)[2],
                                         StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    const auto start = [&](auto example) {
        using T = decltype(example);
        convert<T><<<grid_of_tiles(launch, kTileLines<T>, kTileDepth), kThreads, 0, stream>>>(
            {launch, line_ways<T>(launch), modulus_constants(), {made[0], made[1]}});
    };
    launch.scalar == Scalar::f64 ? start(double()) : start(float());
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
