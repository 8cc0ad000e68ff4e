// The Chinese remainder theorem for four neighbours of a row of C.
//
// The integer is  sum of r_t weight_t - product * quotient,  all of it modulo 2^64 or 2^128, where it fits. Weights are
// multiplied in pieces of 16 bits, those of two moduli by one instruction; the upper pieces' sums tell the quotient.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/cuda/residue/residue_choice.cuh"
#include "kernels/cuda/residue/residue_entries.cuh"

namespace heptad::cuda {
namespace {

constexpr int kEach = 4;

/// From so many moduli on, kModuliChoices of them.
template <class T>
constexpr int kFewestModuli = sizeof(T) == 8 ? kFewestModuliOfF64 : kFewestModuliOfF32;

using Unsigned128 = unsigned __int128;

constexpr int kPieceBits = 16, kMostPieces = 8;

struct RemainderTable {
    std::uint32_t weights[kMostDeviceModuli / 2][kMostPieces];  // of two moduli, one in each half
    std::uint64_t product[2];
    std::uint32_t reciprocal;  // of the product: 2^(bits_of(product) + 30) / product
};

/// What the first moduli multiply to.
constexpr Unsigned128 product_of_moduli(int count) {
    Unsigned128 product = 1;
    for (int t = 0; t < count; ++t) {
        product *= static_cast<unsigned>(kModuli[static_cast<std::size_t>(t)]);
    }
    return product;
}
constexpr int bits_of_product(int count) {
    int bits = 0;
    for (Unsigned128 rest = product_of_moduli(count); rest != 0; rest >>= 1) {
        ++bits;
    }
    return bits;
}
static_assert(bits_of_product(kMostDeviceModuli) <= kPieceBits * kMostPieces);

constexpr RemainderTable remainder_table(int count) {
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
        for (std::uint32_t& pieces : table.weights[t / 2]) {
            pieces |= (static_cast<std::uint32_t>(rest) & 0xffffU) << (t % 2 * kPieceBits);
            rest >>= kPieceBits;
        }
    }
    const int bits = bits_of_product(count);
    const Unsigned128 upper = bits > 64 ? product >> (bits - 64) : product << (64 - bits);
    table.reciprocal = static_cast<std::uint32_t>((Unsigned128{1} << (64 + 30)) / upper);
    return table;
}

/// For every number of moduli from the fewest on; best known to the compiler.
template <class T>
void fill_remainder_tables(RemainderTable (&tables)[kModuliChoices]) {
    constexpr auto kAll = [] {
        std::array<RemainderTable, kModuliChoices> all{};
        for (std::size_t choice = 0; choice < all.size(); ++choice) {
            all[choice] = remainder_table(kFewestModuli<T> + static_cast<int>(choice));
        }
        return all;
    }();
    std::copy(kAll.begin(), kAll.end(), tables);
}

__device__ __forceinline__ double rounded(long long x) {
    return __ll2double_rn(x);
}
/// What 53 bits hold is exact; beyond 64 bits either half is rounded before the sum is.
__device__ __forceinline__ double rounded(__int128 x) {
    const Unsigned128 size = static_cast<Unsigned128>(x < 0 ? -x : x);
    const double value = fma(__ull2double_rn(static_cast<unsigned long long>(size >> 64)), 0x1p64,
                             __ull2double_rn(static_cast<unsigned long long>(size)));
    return x < 0 ? -value : value;
}

/// Of up to 8 moduli in 64 bits, of more in 128.
template <int Count>
struct PieceSums {
    static constexpr bool kIn64Bits = Count <= 8;
    static constexpr int kBits = bits_of_product(Count), kPieces = (kBits + kPieceBits - 1) / kPieceBits;
    std::uint32_t piece[kPieces] = {};  // each below 2^28

    /// Residues of two moduli in the lower bytes, or in the upper ones.
    template <bool Upper>
    __device__ __forceinline__ void add(const std::uint32_t (&weights)[kMostPieces], std::uint32_t residues) {
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            piece[i] = Upper ? __dp2a_hi(weights[i], residues, piece[i]) : __dp2a_lo(weights[i], residues, piece[i]);
        }
    }
    /// What is to be taken off, in products. The sum, below 2^12 of them, is looked at in units of 2^-17 of one or
    /// less: three are lost.
    __device__ __forceinline__ std::uint32_t quotient(const RemainderTable& table) const {
        constexpr int kUnit = kBits - 18;
        std::uint32_t units = 0;
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            const int shift = kPieceBits * i - kUnit;
            units += shift >= 0 ? piece[i] << shift : shift > -32 ? piece[i] >> -shift : 0;
        }
        return (__umulhi(units, table.reciprocal) + (1U << 15)) >> 16;
    }
    __device__ __forceinline__ double value(const RemainderTable& table) const {
        using Wide = std::conditional_t<kIn64Bits, unsigned long long, Unsigned128>;
        using Signed = std::conditional_t<kIn64Bits, long long, __int128>;
        Wide product = table.product[0];
        if constexpr (!kIn64Bits) {
            product |= static_cast<Wide>(table.product[1]) << 64;
        }
        Wide places[2] = {};  // every second piece has 32 bits to itself
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            places[i % 2] |= static_cast<Wide>(piece[i]) << (i / 2 * 2 * kPieceBits);
        }
        return rounded(static_cast<Signed>(places[0] + (places[1] << kPieceBits) - product * quotient(table)));
    }
};

/// Calls `f` with the number of moduli, known to the compiler: then all bytes are on their way before the first is
/// used, and the tables are operands of instructions.
template <class T, int Count = kFewestModuli<T>, class F>
__device__ __forceinline__ void with_moduli(int taken, const F& f) {
    if (taken == Count) {
        f(std::integral_constant<int, Count>());
    } else if constexpr (Count < kFewestModuli<T> + kModuliChoices - 1) {
        with_moduli<T, Count + 1>(taken, f);
    }
}

/// 2^exponent times x, of which few exponents need more than one factor.
__device__ __forceinline__ double scaled_by(double x, int exponent) {
    constexpr int kMost = 1022;
    return abs(exponent) <= kMost ? x * __hiloint2double((exponent + 1023) << 20, 0) : TwoPowers(exponent).times(x);
}

/// Of neighbours, from residues of which four of one modulus come to a word.
template <int Count>
__device__ __forceinline__ void add_residues(const RemainderTable& table, const std::uint32_t (&words)[Count],
                                             PieceSums<Count> (&sums)[kEach]) {
#pragma unroll
    for (int pair = 0; pair < (Count + 1) / 2; ++pair) {
        const std::uint32_t first = words[2 * pair], second = 2 * pair + 1 < Count ? words[2 * pair + 1] : 0;
        const std::uint32_t lower = __byte_perm(first, second, 0x5140), upper = __byte_perm(first, second, 0x7362);
        sums[0].template add<false>(table.weights[pair], lower);
        sums[1].template add<true>(table.weights[pair], lower);
        sums[2].template add<false>(table.weights[pair], upper);
        sums[3].template add<true>(table.weights[pair], upper);
    }
}

/// The exponents of neighbouring columns; zero behind the last one. On boundaries unless tiles of C begin between them.
__device__ __forceinline__ void load_exponents(const ResidueRebuild& launch, std::int64_t col, int (&to)[kEach]) {
    const std::int32_t* const from = launch.col_exponents + col;
    if (col + kEach <= launch.c.cols && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
        const int4 all = __ldg(reinterpret_cast<const int4*>(from));
        to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
        return;
    }
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        to[e] = col + e < launch.c.cols ? __ldg(from + e) : 0;
    }
}

/// What entry (row, col) of C and its neighbours will be, from their residues, four of one modulus to a word. Behind
/// the end of a row it is anything.
template <class T, int Count>
__device__ __forceinline__ void put_together(const ResidueRebuild& launch, const RemainderTable& table,
                                             const std::uint32_t (&words)[Count], std::int64_t row, std::int64_t col,
                                             T* made) {
    const T* const old = static_cast<const T*>(launch.c.data) + row * launch.c.row_stride + col * launch.c.col_stride;
    const int of_row = __ldg(launch.row_exponents + row);
    int of_cols[kEach];
    load_exponents(launch, col, of_cols);
    PieceSums<Count> sums[kEach];
    add_residues(table, words, sums);
    alignas(16) T result[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        double value = launch.alpha * scaled_by(sums[e].value(table), -of_row - of_cols[e]);
        if (launch.beta != 0 && col + e < launch.c.cols) {
            value += launch.beta * static_cast<double>(old[e * launch.c.col_stride]);
        }
        result[e] = static_cast<T>(value);
    }
    put_entries(result, made);
}

}  // namespace
}  // namespace heptad::cuda
