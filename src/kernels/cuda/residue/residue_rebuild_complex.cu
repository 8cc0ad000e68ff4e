// From bytes to complex numbers: the three products of parts (residue_parts.hpp) make real and imaginary parts modulo
// each modulus, and those the entries of C, each written once.
#include <algorithm>

#include "kernels/cuda/residue/residue_complex.cuh"
#include "kernels/cuda/residue/residue_parts.hpp"
#include "kernels/cuda/residue/residue_remainder.cuh"

namespace heptad::cuda {
namespace {

constexpr int kComplexThreads = 128;

struct RebuildComplexArguments {
    ResidueRebuild launch;
    std::int64_t blocks_across;
    std::uint32_t moduli[kMostDeviceModuli];
    RemainderTable tables[kModuliChoices];
};

/// Residues of both parts of four neighbours, four to a word.
template <int Count>
struct PartWords {
    std::uint32_t real[Count], imaginary[Count];
};

template <int Count>
__device__ __forceinline__ PartWords<Count> load_parts(const RebuildComplexArguments& args, std::int64_t row,
                                                       std::int64_t col) {
    const BytePlanes& from = args.launch.residues;
    const std::uint8_t* const at = from.data + row * from.line_bytes + col;
    std::uint32_t products[Count][kComplexParts];
#pragma unroll
    for (int t = 0; t < Count; ++t) {
#pragma unroll
        for (int part = 0; part < kComplexParts; ++part) {
            products[t][part] =
                __ldcs(reinterpret_cast<const unsigned*>(at + (t * kComplexParts + part) * from.plane_bytes));
        }
    }
    PartWords<Count> words;
#pragma unroll
    for (int t = 0; t < Count; ++t) {
        const ComplexBytes bytes = complex_bytes(products[t][0], products[t][1], products[t][2], args.moduli[t]);
        words.real[t] = bytes.real;
        words.imaginary[t] = bytes.imaginary;
    }
    return words;
}

template <class Part, int Count>
__device__ __forceinline__ void rebuild_parts(const RebuildComplexArguments& args, std::int64_t row, std::int64_t col,
                                              Complex<Part>* made) {
    const ResidueRebuild& launch = args.launch;
    const RemainderTable& table = args.tables[Count - kFewestModuli<Part>];
    const Complex<double> alpha{launch.alpha, launch.alpha_imaginary}, beta{launch.beta, launch.beta_imaginary};
    const bool adds = beta.real != 0 || beta.imaginary != 0;
    const PartWords<Count> words = load_parts<Count>(args, row, col);
    const auto* const old =
        static_cast<const Complex<Part>*>(launch.c.data) + row * launch.c.row_stride + col * launch.c.col_stride;
    const int of_row = __ldg(launch.row_exponents + row);
    PieceSums<Count> reals[kEach], imaginaries[kEach];
    add_residues(table, words.real, reals);
    add_residues(table, words.imaginary, imaginaries);
    alignas(16) Complex<Part> result[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        const bool inside = col + e < launch.c.cols;
        const int exponent = -of_row - (inside ? __ldg(launch.col_exponents + col + e) : 0);
        Complex<double> value = times(
            alpha, {scaled_by(reals[e].value(table), exponent), scaled_by(imaginaries[e].value(table), exponent)});
        if (adds && inside) {
            const Complex<Part> entry = old[e * launch.c.col_stride];
            const Complex<double> added = times(beta, {entry.real, entry.imaginary});
            value = {value.real + added.real, value.imaginary + added.imaginary};
        }
        result[e] = {static_cast<Part>(value.real), static_cast<Part>(value.imaginary)};
    }
    put_entries(result, made);
}

template <class Part>
__global__ void __launch_bounds__(kComplexThreads)
    rebuild_complex(const __grid_constant__ RebuildComplexArguments args) {
    __shared__ WarpEntries<Complex<Part>, kEach> entries[kComplexThreads / 32];
    const DeviceMatrix& c = args.launch.c;
    const int taken = moduli_taken(args.launch.choice);
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t row = blockIdx.x / args.blocks_across;
    const std::int64_t first = ((blockIdx.x % args.blocks_across) * kComplexThreads + warp * 32) * kEach;
    if (taken == 0 || first >= c.cols) {
        return;
    }
    // Lanes behind the last residues look at those, for nothing.
    const std::int64_t col = min(first + lane * kEach, args.launch.residues.line_bytes - kEach);
    Complex<Part>* const made = entries[warp].of_lane();
    with_moduli<Part>(taken, [&](auto count) { rebuild_parts<Part, count()>(args, row, col, made); });
    entries[warp].store(static_cast<Complex<Part>*>(c.data) + row * c.row_stride + first * c.col_stride, c.cols - first,
                        c.col_stride);
}

template <class Part>
DeviceStatus start_complex(const ResidueRebuild& launch, cudaStream_t stream) {
    RebuildComplexArguments args{
        launch, (launch.c.cols + kComplexThreads * kEach - 1) / (kComplexThreads * kEach), {}, {}};
    std::copy_n(kModuli.begin(), kMostDeviceModuli, args.moduli);
    fill_remainder_tables<Part>(args.tables);
    rebuild_complex<Part>
        <<<static_cast<unsigned>(launch.c.rows * args.blocks_across), kComplexThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_residue_rebuild_complex(const ResidueRebuild& launch, StreamHandle stream) {
    return launch.scalar == Scalar::f64 ? start_complex<double>(launch, static_cast<cudaStream_t>(stream))
                                        : start_complex<float>(launch, static_cast<cudaStream_t>(stream));
}

}  // namespace heptad::cuda
