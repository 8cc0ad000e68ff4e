// The Chinese remainder theorem for four neighbours of a row of C.
//
// The integer is  sum of r_t weight_t - product * quotient,  all of it modulo 2^64 or 2^128, where it fits. Weights are
// multiplied in pieces of 20 bits, whose sums over up to 16 residues of 8 bits fit 32.
#pragma once

#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

constexpr int kEach = 4;

/// From so many moduli on, kModuliChoices of them.
template <class T>
constexpr int kFewestModuli = sizeof(T) == 8 ? kFewestModuliOfF64 : kFewestModuliOfF32;

using Unsigned128 = unsigned __int128;

constexpr int kPieceBits = 20, kMostPieces = 7;

struct RemainderTable {
    std::uint32_t weight[kMostDeviceModuli][kMostPieces];
    std::uint32_t part[kMostDeviceModuli];  // weight / product, times 2^kPieceBits, rounded
    std::uint64_t product[2];
};

/// What the first moduli multiply to.
constexpr Unsigned128 product_of_moduli(int count) {
    Unsigned128 product = 1;
    for (int t = 0; t < count; ++t) {
        product *= static_cast<unsigned>(kModuli[static_cast<std::size_t>(t)]);
    }
    return product;
}
constexpr int pieces_for(int count) {
    int pieces = 0;
    for (Unsigned128 rest = product_of_moduli(count); rest != 0; rest >>= kPieceBits) {
        ++pieces;
    }
    return pieces;
}
static_assert(pieces_for(kMostDeviceModuli) <= kMostPieces);

RemainderTable remainder_table(int count) {
    RemainderTable table{};
    const Unsigned128 product = product_of_moduli(count);
    table.product[0] = static_cast<std::uint64_t>(product);
    table.product[1] = static_cast<std::uint64_t>(product >> 64);
    for (int t = 0; t < count; ++t) {
        const auto p = static_cast<unsigned>(kModuli[static_cast<std::size_t>(t)]);
        const Unsigned128 others = product / p;
        unsigned inverse = 1;
        while (static_cast<unsigned>(others % p) * inverse % p != 1) {
            ++inverse;
        }
        Unsigned128 rest = others * inverse;
        for (std::uint32_t& piece : table.weight[t]) {
            piece = static_cast<std::uint32_t>(rest) & ((1U << kPieceBits) - 1);
            rest >>= kPieceBits;
        }
        table.part[t] = ((inverse << kPieceBits) + p / 2) / p;
    }
    return table;
}

/// For every number of moduli from the fewest on.
template <class T>
void fill_remainder_tables(RemainderTable (&tables)[kModuliChoices]) {
    for (int choice = 0; choice < kModuliChoices; ++choice) {
        tables[choice] = remainder_table(kFewestModuli<T> + choice);
    }
}

__device__ __forceinline__ double rounded(long long x) {
    return __ll2double_rn(x);
}
/// To nearest even, as one rounding.
__device__ __forceinline__ double rounded(__int128 x) {
    const Unsigned128 size = static_cast<Unsigned128>(x < 0 ? -x : x);
    const auto upper = static_cast<unsigned long long>(size >> 64), lower = static_cast<unsigned long long>(size);
    if (upper == 0) {
        const double value = __ull2double_rn(lower);
        return x < 0 ? -value : value;
    }
    const int zeros = __clzll(static_cast<long long>(upper));
    const Unsigned128 shifted = size << zeros;
    const auto top = static_cast<unsigned long long>(shifted >> 64);
    const bool has_rest = static_cast<unsigned long long>(shifted) != 0;
    const double value =
        __ull2double_rn(top | (has_rest ? 1ULL : 0ULL)) * __hiloint2double((1023 + 64 - zeros) << 20, 0);
    return x < 0 ? -value : value;
}

/// Of up to 8 moduli in 64 bits, of more in 128.
template <int Count>
struct PieceSums {
    static constexpr bool kIn64Bits = Count <= 8;
    static constexpr int kPieces = pieces_for(Count);
    std::uint32_t piece[kPieces] = {};
    std::uint32_t quotient = 0;  // times 2^kPieceBits

    __device__ __forceinline__ void add(const RemainderTable& table, int t, std::uint32_t residue) {
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            piece[i] += residue * table.weight[t][i];
        }
        quotient += residue * table.part[t];
    }
    __device__ __forceinline__ double value(const RemainderTable& table) const {
        using Wide = std::conditional_t<kIn64Bits, unsigned long long, Unsigned128>;
        using Signed = std::conditional_t<kIn64Bits, long long, __int128>;
        const std::uint32_t times = (quotient + (1U << (kPieceBits - 1))) >> kPieceBits;
        Wide product = table.product[0];
        if constexpr (!kIn64Bits) {
            product |= static_cast<Wide>(table.product[1]) << 64;
        }
        Wide sum = Wide{0} - product * times;
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            sum += static_cast<Wide>(piece[i]) << (kPieceBits * i);
        }
        return rounded(static_cast<Signed>(sum));
    }
};

/// Entries (row, col) and its neighbours of C from their residues, four of one modulus to a word.
template <class T, int Count>
__device__ __forceinline__ void put_together(const ResidueRebuild& launch, const RemainderTable& table,
                                             const std::uint32_t (&words)[Count], std::int64_t row, std::int64_t col) {
    T* const to = static_cast<T*>(launch.c.data) + row * launch.c.row_stride + col * launch.c.col_stride;
    const int of_row = __ldg(launch.row_exponents + row);
    T result[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        PieceSums<Count> sums;
#pragma unroll
        for (int t = 0; t < Count; ++t) {
            sums.add(table, t, __byte_perm(words[t], 0, 0x4440U + static_cast<unsigned>(e)));
        }
        const bool inside = col + e < launch.c.cols;
        const int of_col = inside ? __ldg(launch.col_exponents + col + e) : 0;
        double value = launch.alpha * TwoPowers(-of_row - of_col).times(sums.value(table));
        if (launch.beta != 0 && inside) {
            value += launch.beta * static_cast<double>(to[e * launch.c.col_stride]);
        }
        result[e] = static_cast<T>(value);
    }
    const bool by_vectors =
        launch.c.col_stride == 1 && col + kEach <= launch.c.cols && reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
    if (by_vectors) {
#pragma unroll
        for (int v = 0; v < static_cast<int>(sizeof(result)) / 16; ++v) {
            __stcs(reinterpret_cast<uint4*>(to) + v, reinterpret_cast<const uint4*>(result)[v]);
        }
        return;
    }
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        if (col + e < launch.c.cols) {
            to[e * launch.c.col_stride] = result[e];
        }
    }
}

}  // namespace
}  // namespace heptad::cuda
