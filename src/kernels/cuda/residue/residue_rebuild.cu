// From bytes to numbers by the Chinese remainder theorem: every residue is read once, every entry of C written once.
//
// The integer is  sum of r_t weight_t - product * quotient,  all of it modulo 2^64 or 2^128, where it fits. Weights are
// multiplied in pieces of 32 bits, whose sums need no carries.
#include <algorithm>

#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256, kEach = 4;

using Unsigned128 = unsigned __int128;

struct RemainderTable {
    std::uint32_t weight[kMostDeviceModuli][4];
    std::uint32_t part[kMostDeviceModuli];  // weight / product, times 2^32
    std::uint32_t product[4];
};

RemainderTable remainder_table(int count) {
    RemainderTable table{};
    const auto put = [](Unsigned128 x, std::uint32_t(&to)[4]) {
        for (std::uint32_t& piece : to) {
            piece = static_cast<std::uint32_t>(x);
            x >>= 32;
        }
    };
    Unsigned128 product = 1;
    for (int t = 0; t < count; ++t) {
        product *= static_cast<unsigned>(kModuli[static_cast<std::size_t>(t)]);
    }
    put(product, table.product);
    for (int t = 0; t < count; ++t) {
        const auto p = static_cast<unsigned>(kModuli[static_cast<std::size_t>(t)]);
        const Unsigned128 others = product / p;
        unsigned inverse = 1;
        while (static_cast<unsigned>(others % p) * inverse % p != 1) {
            ++inverse;
        }
        put(others * inverse, table.weight[t]);
        table.part[t] = static_cast<std::uint32_t>((std::uint64_t{inverse} << 32) / p);
    }
    return table;
}

struct RebuildArguments {
    ResidueRebuild launch;
    std::int64_t blocks_across;
    RemainderTable tables[kModuliChoices];
};

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

/// Sums of pieces of 32 bits, in 64 bits each.
template <class Signed>
struct PieceSums {
    static constexpr int kPieces = sizeof(Signed) / 4;
    unsigned long long piece[kPieces] = {};
    unsigned long long quotient = 0;  // times 2^32
    __device__ __forceinline__ void add(const RemainderTable& table, int t, std::uint32_t residue) {
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            piece[i] += static_cast<unsigned long long>(residue) * table.weight[t][i];
        }
        quotient += static_cast<unsigned long long>(residue) * table.part[t];
    }
    __device__ __forceinline__ double value(const RemainderTable& table) const {
        using Wide = std::conditional_t<kPieces == 2, unsigned long long, Unsigned128>;
        constexpr unsigned long long kHalf = 1ULL << 31;
        const Wide times = (quotient + kHalf) >> 32;
        Wide sum = 0;
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            sum += static_cast<Wide>(piece[i]) << (32 * i);
            sum -= (static_cast<Wide>(table.product[i]) * times) << (32 * i);
        }
        return rounded(static_cast<Signed>(sum));
    }
};

template <class T, class Signed>
__device__ __forceinline__ void rebuild(const RebuildArguments& args, int taken, std::int64_t row, std::int64_t col) {
    const ResidueRebuild& launch = args.launch;
    const RemainderTable& table = args.tables[taken - launch.choice.usual];
    const std::uint8_t* from = launch.residues.data + row * launch.residues.line_bytes + col;
    PieceSums<Signed> sums[kEach];
    for (int t = 0; t < taken; ++t) {
        const std::uint32_t word = __ldcs(reinterpret_cast<const unsigned*>(from));
        from += launch.residues.plane_bytes;
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            sums[e].add(table, t, word >> (8 * e) & 0xffU);
        }
    }
    T* const to = static_cast<T*>(launch.c.data) + row * launch.c.row_stride + col * launch.c.col_stride;
    const int of_row = integer_exponent(launch.choice, taken, __ldg(launch.row_log2_norm + row));
    T result[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
        const bool inside = col + e < launch.c.cols;
        const int of_col = inside ? integer_exponent(launch.choice, taken, __ldg(launch.col_log2_norm + col + e)) : 0;
        double value = launch.alpha * TwoPowers(-of_row - of_col).times(sums[e].value(table));
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

template <class T>
__global__ void __launch_bounds__(kThreads) rebuild_entries(const __grid_constant__ RebuildArguments args) {
    const int taken = moduli_taken(args.launch.choice);
    const std::int64_t row = blockIdx.x / args.blocks_across;
    const std::int64_t col = ((blockIdx.x % args.blocks_across) * kThreads + threadIdx.x) * kEach;
    if (taken == 0 || col >= args.launch.c.cols) {
        return;
    }
    constexpr int kMostIn64Bits = 8;
    if (taken <= kMostIn64Bits) {
        rebuild<T, long long>(args, taken, row, col);
    } else {
        rebuild<T, __int128>(args, taken, row, col);
    }
}

}  // namespace

DeviceStatus launch_residue_rebuild(const ResidueRebuild& launch, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    RebuildArguments args{launch, (launch.c.cols + kThreads * kEach - 1) / (kThreads * kEach), {}};
    for (int count = launch.choice.usual; count <= launch.choice.most; ++count) {
        args.tables[count - launch.choice.usual] = remainder_table(count);
    }
    const auto blocks = static_cast<unsigned>(launch.c.rows * args.blocks_across);
    if (launch.scalar == Scalar::f64) {
        rebuild_entries<double><<<blocks, kThreads, 0, stream>>>(args);
    } else {
        rebuild_entries<float><<<blocks, kThreads, 0, stream>>>(args);
    }
    return cudaGetLastError();
}

}  // namespace heptad::cuda
