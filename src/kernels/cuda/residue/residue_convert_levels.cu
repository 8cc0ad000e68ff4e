// From numbers to bytes with one or two levels of Winograd's algorithm inside: residues of all blocks of an operand,
// and from them the residues of the sums that are multiplied. Every number is read once.
#include <type_traits>

#include "kernels/cuda/residue/residue_sums.cuh"

namespace heptad::cuda {
namespace {

struct ConvertLevelsArguments {
    ResidueConvert launch;
    ModulusConstants constants;
};

template <class T, int Levels>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 8 ? 1
                                            : Levels == 1  ? 4
                                                           : 2)
    convert_levels(const __grid_constant__ ConvertLevelsArguments args) {
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int exponents[kSideBlocks<Levels>][kBlockLines];
    const ResidueChoice& choice = args.launch.choice;
    const ResidueLines& from = args.launch.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.to[blockIdx.z];
    const int taken = moduli_taken(choice);
    const bool has_powers = from.inner != nullptr && *from.scaled != 0;
    if (taken == 0 || !has_tile(to_planes)) {
        return;
    }
    note_lines<Levels>(from, to_planes, exponents, [&](std::int64_t line) {
        const int exponent = integer_exponent(choice, taken, __ldg(from.log2_norm + line));
        if (blockIdx.x == 0) {
            from.exponents[line] = exponent;
        }
        return exponent;
    });
    // Numbers times their powers of two: integers but for the rounding.
    if constexpr (sizeof(T) == 4) {
        if (taken <= kMostShortModuli && !has_powers) {
            convert_tile<T, Levels, ShortInteger>(
                args.launch, taken, args.constants, reinterpret_cast<Tile<int>*>(shared),
                [&](T x, int row, int line, std::int64_t) {
                    return ShortInteger::bytes_of(TwoShortPowers(exponents[row][line]).times(x));
                });
            return;
        }
    }
    // What f32 has no room for is far below one half.
    using Kept = std::conditional_t<sizeof(T) == 8, long long, float>;
    convert_tile<T, Levels, LongInteger>(args.launch, taken, args.constants, reinterpret_cast<Tile<Kept>*>(shared),
                                         [&](double x, int row, int line, std::int64_t p) {
                                             if (has_powers && p < from.depth) {
                                                 x = times_power(x, __ldg(from.inner + p));
                                             }
                                             const double scaled = TwoPowers(exponents[row][line]).times(x);
                                             if constexpr (sizeof(T) == 8) {
                                                 return LongInteger::bytes_of(scaled);
                                             } else {
                                                 return static_cast<float>(scaled);
                                             }
                                         });
}

template <class T, int Levels>
DeviceStatus start(const ResidueConvert& launch, StreamHandle stream) {
    return start_tiles(convert_levels<T, Levels>, launch, {launch, modulus_constants()},
                       kBlocks<Levels> * sizeof(Tile<T>), stream);
}

}  // namespace

DeviceStatus launch_residue_convert_levels(const ResidueConvert& launch, StreamHandle stream) {
    const bool two = launch.to[0].levels == 2;
    if (launch.scalar == Scalar::f64) {
        return two ? start<double, 2>(launch, stream) : start<double, 1>(launch, stream);
    }
    return two ? start<float, 2>(launch, stream) : start<float, 1>(launch, stream);
}

}  // namespace heptad::cuda
