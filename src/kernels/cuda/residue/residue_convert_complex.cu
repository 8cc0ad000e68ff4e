// From complex numbers to bytes: a line times a power of two, rounded to integers; of each modulus the real part, the
// imaginary part and their sum.
#include "kernels/cuda/residue/residue_loads.cuh"
#include "kernels/cuda/residue/residue_parts.hpp"

namespace heptad::cuda {
namespace {

struct ConvertComplexArguments {
    ResidueConvert launch;
    LineWays ways;
    ModulusConstants constants;
};

/// Of four neighbours, all residues.
template <class Integer, class T, class Powers>
__device__ __forceinline__ void store_parts(const Complex<T> (&x)[kEach], const Powers& powers, int taken,
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
    __shared__ NumberTile<T> tile;
    const ResidueChoice& choice = args.launch.choice;
    const ResidueLines& from = args.launch.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.to[blockIdx.z];
    const int taken = moduli_taken(choice);
    const bool has_powers = from.inner != nullptr && *from.scaled != 0;
    if (taken == 0) {
        return;
    }
    const LineReader<T> reader(from, args.ways, tile);
    const std::int64_t depth = reader.depth;
    if (depth >= to_planes.line_bytes) {
        return;
    }
#pragma unroll
    for (int i = 0; i < kOwnLines<T>; ++i) {
        const std::int64_t line = reader.first_line + i;
        if (line >= from.lines) {
            return;
        }
        alignas(16) T values[kEach];
        reader.read(i, values);
        if (from.conjugate) {
#pragma unroll
            for (T& x : values) {
                x.imaginary = -x.imaginary;
            }
        }
        const int exponent = integer_exponent(choice, taken, __ldg(from.log2_norm + line));
        if (depth == 0) {
            from.exponents[line] = exponent;
        }
        std::uint8_t* const to = to_planes.data + line * to_planes.line_bytes + depth;
        if constexpr (sizeof(Part) == 4) {
            if (taken <= kMostShortModuli && !has_powers) {
                store_parts<ShortInteger>(values, TwoShortPowers(exponent), taken, args.constants, to,
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
        store_parts<LongInteger>(x, TwoPowers(exponent), taken, args.constants, to, to_planes.plane_bytes);
    }
}

}  // namespace

DeviceStatus launch_residue_convert_complex(const ResidueConvert& launch, StreamHandle stream) {
    return with_complex_type(launch.scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        convert_complex<PartOf<T>>
            <<<grid_of_tiles(launch, kTileLines<T>, kTileDepth), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
                {launch, line_ways<T>(launch), modulus_constants()});
        return cudaGetLastError();
    });
}

}  // namespace heptad::cuda
