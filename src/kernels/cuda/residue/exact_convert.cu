// From numbers to bytes without rounding, with up to two levels of Winograd's algorithm inside. Every number is read
// once.
#include <new>
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
    LineWays ways;
    ConvertConstants constants;
};

template <class T>
constexpr bool kIsWord = std::is_same_v<T, std::int64_t>;

/// A float has room for its own significand and two pieces more; integers of 64 bits are as they are.
template <class T, int Pieces>
using KeptNumber = std::conditional_t<std::is_same_v<T, float> && (Pieces > 3), double, T>;
/// Of these as much as a piece holds is a matter of bytes.
template <class T, int Pieces>
using IntegerOf =
    std::conditional_t<kIsWord<T>, WordInteger, std::conditional_t<Pieces == 1, LongInteger, ExactInteger<Pieces>>>;

/// The number times the power of two of its line, if that has one.
template <class T>
__device__ __forceinline__ auto integer_value(T x, int exponent) {
    if constexpr (kIsWord<T>) {
        return x;
    } else {
        return exponent == ExactLine::kNotFinite ? 0.0 : TwoPowers(exponent).times(x);
    }
}

template <class T, int Pieces>
__global__ void __launch_bounds__(kThreads) convert_exactly(const __grid_constant__ ExactConvertArguments args) {
    using Integer = IntegerOf<T, Pieces>;
    constexpr int kTogether = Pieces == 1 ? kOwnLines<T> : 1;  // of more there are no registers
    __shared__ NumberTile<T> tile;
    const ResidueLines& from = args.launch.lines.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.lines.to[blockIdx.z];
    const LineReader<T> reader(from, args.ways, tile);
    if (reader.depth >= to_planes.line_bytes) {
        return;
    }
#pragma unroll 1
    for (int first = 0; first < kOwnLines<T>; first += kTogether) {
        const std::int64_t first_line = reader.first_line + first;
        const int lines = static_cast<int>(min(to_planes.lines - first_line, std::int64_t{kTogether}));
        if (lines <= 0) {
            return;
        }
        alignas(16) T x[kTogether][kEach];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
            reader.read(first + i, x[i]);
        }
        Integer integers[kTogether][kEach];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
            const bool has_exponent = !kIsWord<T> && first_line + i < from.lines;
            const int exponent = has_exponent ? __ldg(from.exponents + first_line + i) : 0;
#pragma unroll
            for (int e = 0; e < kEach; ++e) {
                new (&integers[i][e]) Integer(integer_value(x[i][e], exponent));
            }
        }
        store_residues(integers, lines, args.launch.moduli, args.constants,
                       to_planes.data + first_line * to_planes.line_bytes + reader.depth, to_planes);
    }
}

template <class T, int Pieces, int Levels>
__global__ void __launch_bounds__(kThreads) convert_sums_exactly(const __grid_constant__ ExactConvertArguments args) {
    using Kept = KeptNumber<T, Pieces>;
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int exponents[kSideBlocks<Levels>][kBlockLines];
    const ResidueLines& from = args.launch.lines.from[blockIdx.z];
    const BytePlanes& to_planes = args.launch.lines.to[blockIdx.z];
    if (!has_tile(to_planes)) {
        return;
    }
    if constexpr (!kIsWord<T>) {
        note_lines<Levels>(from, to_planes, exponents, [&](std::int64_t line) { return __ldg(from.exponents + line); });
    }
    convert_tile<T, Levels, IntegerOf<T, Pieces>>(
        args.launch.lines, args.launch.moduli, args.constants, reinterpret_cast<Tile<Kept>*>(shared),
        [&](T x, int row, int line, std::int64_t) {
            return static_cast<Kept>(integer_value(x, kIsWord<T> ? 0 : exponents[row][line]));
        });
}

template <class T, int Pieces>
DeviceStatus with_levels(const ExactConvert& launch, StreamHandle stream) {
    const ResidueConvert& lines = launch.lines;
    constexpr ExactConstants kOfNumbers = exact_constants();
    const ExactConvertArguments args{launch, line_ways<T>(lines), {kOfNumbers, modulus_constants()}};
    constexpr std::size_t kOfTile = sizeof(Tile<KeptNumber<T, Pieces>>);
    switch (lines.to[0].levels) {
        case 2:
            return start_tiles(convert_sums_exactly<T, Pieces, 2>, lines, args, kBlocks<2> * kOfTile, stream);
        case 1:
            return start_tiles(convert_sums_exactly<T, Pieces, 1>, lines, args, kBlocks<1> * kOfTile, stream);
        default:
            convert_exactly<T, Pieces>
                <<<grid_of_tiles(lines, kTileLines<T>, kTileDepth), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
                    args);
            return cudaGetLastError();
    }
}

template <class T>
DeviceStatus with_pieces(const ExactConvert& launch, StreamHandle stream) {
    return launch.pieces == 1   ? with_levels<T, 1>(launch, stream)
           : launch.pieces == 3 ? with_levels<T, 3>(launch, stream)
                                : with_levels<T, kMostNumberPieces>(launch, stream);
}

}  // namespace

DeviceStatus launch_exact_convert(const ExactConvert& launch, StreamHandle stream) {
    switch (launch.element) {
        case ExactElement::f64:
            return with_pieces<double>(launch, stream);
        case ExactElement::i64:
            return with_levels<std::int64_t, 1>(launch, stream);
        default:
            return with_pieces<float>(launch, stream);
    }
}

}  // namespace heptad::cuda
