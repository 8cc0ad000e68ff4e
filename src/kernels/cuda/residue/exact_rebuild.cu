// From bytes to entries of C without rounding but the last one, with up to two levels of Winograd's algorithm inside.
// Every residue is read once, every entry written once.
#include <type_traits>

#include "kernels/cuda/residue/exact_entry.hpp"
#include "kernels/cuda/residue/exact_integers.hpp"
#include "kernels/cuda/residue/exact_launches.hpp"
#include "kernels/cuda/residue/residue_entries.cuh"
#include "kernels/cuda/residue/residue_results.cuh"

namespace heptad::cuda {
namespace {

constexpr int kEach = 4;  // neighbours of a row to a thread

struct ExactRebuildArguments {
    ExactRebuild launch;
    std::int64_t blocks_across;
    ExactTable table;
    ModulusConstants constants;
};

/// The products of row and column that are not finite, added up.
template <class T>
__device__ __noinline__ double not_finite_sum(const ResidueLines& rows, const ResidueLines& cols, std::int64_t row,
                                              std::int64_t col) {
    const T* const a = static_cast<const T*>(rows.data) + row * rows.line_stride;
    const T* const b = static_cast<const T*>(cols.data) + col * cols.line_stride;
    double sum = 0;
    for (std::int64_t p = 0; p < rows.depth && !isnan(sum); ++p) {
        const double x = a[p * rows.depth_stride], y = b[p * cols.depth_stride];
        if (!isfinite(x) || !isfinite(y)) {
            sum += x * y;
        }
    }
    return sum;
}

/// With factors, exactly: rare, and kept apart so that the usual case has all registers.
template <class T>
__device__ __noinline__ T rounded_with_factors(const ExactRebuild& launch, const ExactTerm& term, double old) {
    if (isfinite(launch.alpha) && isfinite(launch.beta)) {
        return rounded_sum<T>(launch.alpha, term, launch.beta, old);
    }
    return static_cast<T>(launch.alpha * rounded_sum<double>(1, term, 0, 0) + launch.beta * old);
}

template <class T, int Limbs>
__device__ __forceinline__ T entry_of(const ExactRebuild& launch, std::uint32_t (&limbs)[Limbs], std::int64_t row,
                                      std::int64_t col, const T* old) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
        const std::uint64_t value = limbs[0] | static_cast<std::uint64_t>(limbs[1]) << 32;
        const std::uint64_t added =
            launch.beta_of_ring == 0 ? 0 : launch.beta_of_ring * static_cast<std::uint64_t>(*old);
        return static_cast<T>(launch.alpha_of_ring * value + added);
    } else {
        const bool has_exponents = launch.rows.exponents != nullptr;
        const std::int32_t of_row = has_exponents ? __ldg(launch.rows.exponents + row) : 0;
        const std::int32_t of_col = has_exponents ? __ldg(launch.cols.exponents + col) : 0;
        const double added = launch.beta == 0 ? 0 : static_cast<double>(*old);
        const bool is_finite = of_row != ExactLine::kNotFinite && of_col != ExactLine::kNotFinite;
        if (!is_finite || !isfinite(added)) {
            const double sum = is_finite ? 0 : not_finite_sum<T>(launch.rows, launch.cols, row, col);
            return static_cast<T>(launch.alpha * sum + (launch.beta == 0 ? 0 : launch.beta * added));
        }
        const int exponent = -of_row - of_col;
        return launch.alpha == 1 && launch.beta == 0
                   ? rounded_integer<T>(limbs, exponent)
                   : rounded_with_factors<T>(launch, exact_term(limbs, exponent), added);
    }
}

/// What entry (row, col) of C and its neighbours will be, of up to `Most` moduli, four residues of each to a word;
/// three fewer at most, unless there are at most four. Behind the end of a row it is zero.
template <class T, int Limbs, int Most, class Word>
__device__ __forceinline__ void put_together(const ExactRebuildArguments& args, std::int64_t row, std::int64_t col,
                                             const Word& word, T* made) {
    const ExactRebuild& launch = args.launch;
    const int moduli = launch.moduli;
    const auto counts = [&](int t) { return (Most > kModuliOfLimb && t + kModuliOfLimb <= Most) || t < moduli; };
    std::uint32_t words[Most];
#pragma unroll
    for (int t = 0; t < Most; ++t) {
        words[t] = counts(t) ? word(t) : 0;
    }
    const T* const old = static_cast<const T*>(launch.c.data) + row * launch.c.row_stride + col * launch.c.col_stride;
    alignas(16) T result[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        ExactSum<Limbs> sum;
#pragma unroll
        for (int t = 0; t < Most; ++t) {
            if (counts(t)) {
                sum.add(args.table, t, __byte_perm(words[t], 0, 0x4440U + static_cast<unsigned>(e)));
            }
        }
        std::uint32_t limbs[Limbs];
        sum.value(args.table, limbs);
        result[e] = col + e < launch.c.cols
                        ? entry_of<T, Limbs>(launch, limbs, row, col + e, old + e * launch.c.col_stride)
                        : T(0);
    }
    put_entries(result, made);
}

/// Did the norms turn out to be more than the moduli hold?
__device__ __forceinline__ bool is_beyond(const ExactRebuild& launch) {
    if (launch.words == nullptr) {
        return false;
    }
    const double a = kept_value(launch.words->norms[0]), b = kept_value(launch.words->norms[1]);
    return a != 0 && b != 0 && a + b > launch.capacity;
}

template <class T>
__device__ __forceinline__ void fill_with_nan(T* made) {
    if constexpr (!std::is_same_v<T, std::int64_t>) {
        for (int e = 0; e < kEach; ++e) {
            made[e] = static_cast<T>(__longlong_as_double(0x7ff8000000000000LL));
        }
    }
}

template <int Levels>
constexpr int kRebuildThreads = Levels == 0 ? 256 : 64;  // with levels each keeps up to a kilobyte and a half
/// So many blocks must have registers on a multiprocessor: those of 64 threads that have shared memory there.
template <class T, int Levels>
constexpr int rebuild_blocks() {
    if (Levels == 0) {
        return std::is_same_v<T, std::int64_t> ? 5 : 3;
    }
    return Levels == 2 ? 2 : sizeof(T) == 4 ? 12 : 10;
}

template <class T, int Limbs, int Most, int Levels>
__global__ void __launch_bounds__(kRebuildThreads<Levels>, rebuild_blocks<T, Levels>())
    rebuild_exactly(const __grid_constant__ ExactRebuildArguments args) {
    constexpr int kThreads = kRebuildThreads<Levels>, kSide = kSideBlocks<Levels>;
    const ExactRebuild& launch = args.launch;
    const BytePlanes& from = launch.residues;
    const std::int64_t row = blockIdx.x / args.blocks_across;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const std::int64_t first = ((blockIdx.x % args.blocks_across) * kThreads + warp * 32) * kEach;
    if (first >= (Levels == 0 ? launch.c.cols : from.line_bytes)) {
        return;
    }
    // Lanes behind the last residues look at those, for nothing.
    const std::int64_t col = min(first + lane * kEach, from.line_bytes - kEach);
    const bool beyond = is_beyond(launch);
    if (beyond && blockIdx.x == 0 && threadIdx.x == 0) {
        *launch.refused = 1;
    }
    __shared__ WarpEntries<T, kEach> entries[kThreads / 32];
    const auto make = [&](std::int64_t own_row, std::int64_t own_first, const auto& word) {
        T* const made = entries[warp].of_lane();
        if (beyond) {
            fill_with_nan(made);
        } else {
            put_together<T, Limbs, Most>(args, own_row, own_first + lane * kEach, word, made);
        }
        T* const to = static_cast<T*>(launch.c.data) + own_row * launch.c.row_stride + own_first * launch.c.col_stride;
        entries[warp].store(to, min(launch.c.cols - own_first, from.line_bytes - first), launch.c.col_stride);
    };
    if constexpr (Levels == 0) {
        const std::uint8_t* const at = from.data + row * from.line_bytes + col;
        make(row, first, [&](int t) { return __ldcs(reinterpret_cast<const unsigned*>(at + t * from.plane_bytes)); });
    } else {
        extern __shared__ std::uint32_t shared[];
        std::uint32_t* const own = shared + threadIdx.x;
        bytes_of_blocks<Levels, kThreads>(from, launch.moduli, args.constants, row, col, own);
        for (int block = 0; block < kBlocks<Levels>; ++block) {
            const std::int64_t own_row = block / kSide * from.lines + row,
                               own_first = block % kSide * from.line_bytes + first;
            if (own_row < launch.c.rows && own_first < launch.c.cols) {
                make(own_row, own_first, [&](int t) { return own[(t * kBlocks<Levels> + block) * kThreads]; });
            }
        }
    }
}

template <class T, int Limbs, int Most, int Levels>
DeviceStatus start(const ExactRebuild& launch, cudaStream_t stream) {
    constexpr int kThreads = kRebuildThreads<Levels>;
    constexpr int kOfModulus = Levels == 0 ? 0 : kBlocks<Levels> * kThreads * static_cast<int>(sizeof(std::uint32_t));
    // The same for all launches: others may be on their way to theirs.
    const cudaError_t status = cudaFuncSetAttribute(rebuild_exactly<T, Limbs, Most, Levels>,
                                                    cudaFuncAttributeMaxDynamicSharedMemorySize, Most * kOfModulus);
    if (status != cudaSuccess) {
        return status;
    }
    const std::int64_t rows = Levels == 0 ? launch.c.rows : launch.residues.lines;
    const std::int64_t cols = Levels == 0 ? launch.c.cols : launch.residues.line_bytes;
    const ExactRebuildArguments args{launch, (cols + kThreads * kEach - 1) / (kThreads * kEach),
                                     exact_table(launch.moduli), modulus_constants()};
    rebuild_exactly<T, Limbs, Most, Levels>
        <<<static_cast<unsigned>(rows * args.blocks_across), kThreads, launch.moduli * kOfModulus, stream>>>(args);
    return cudaGetLastError();
}

template <class T, int Limbs, int Most>
DeviceStatus with_levels(const ExactRebuild& launch, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    const int levels = launch.residues.levels;
    return levels == 0   ? start<T, Limbs, Most, 0>(launch, stream)
           : levels == 1 ? start<T, Limbs, Most, 1>(launch, stream)
                         : start<T, Limbs, Most, 2>(launch, stream);
}

/// With as few limbs as the moduli take.
template <class T, int Limbs = 1>
DeviceStatus with_limbs(const ExactRebuild& launch, StreamHandle stream) {
    if constexpr (Limbs < kMostLimbs) {
        if (launch.moduli > Limbs * kModuliOfLimb) {
            return with_limbs<T, Limbs + 1>(launch, stream);
        }
    }
    return with_levels<T, Limbs, Limbs * kModuliOfLimb>(launch, stream);
}

}  // namespace

DeviceStatus launch_exact_rebuild(const ExactRebuild& launch, StreamHandle stream) {
    constexpr int kWordLimbs = 2;  // modulo 2^64 the lowest two are all that counts
    switch (launch.element) {
        case ExactElement::f64:
            return with_limbs<double>(launch, stream);
        case ExactElement::i64:
            return launch.moduli == 0 ? with_levels<std::int64_t, kWordLimbs, kModuliOfLimb>(launch, stream)
                                      : with_levels<std::int64_t, kWordLimbs, 5 * kModuliOfLimb>(launch, stream);
        default:
            return with_limbs<float>(launch, stream);
    }
}

}  // namespace heptad::cuda
