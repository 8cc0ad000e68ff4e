// What a warp of the tensor cores makes of its sums: remainders, so that a byte for each entry is all that reaches
// memory.
#pragma once

#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad::cuda {
namespace {

__device__ __forceinline__ std::uint32_t modulo(const ByteModulus& m, int sum) {
    const std::uint32_t x = static_cast<std::uint32_t>(sum) + m.bias;
    return x - m.p * (__umulhi(x, m.reciprocal) >> 7);
}
/// 16 rows of `d`, from (row, col) on. Of every eight columns a lane has two. Four lanes turn four of those around
/// among them: eight bytes to a lane.
template <int Count>
__device__ __forceinline__ void store_remainders(const BytePlanes& c, const ByteModulus& m, std::int64_t plane,
                                                 std::int64_t row, std::int64_t col, const int (&d)[Count]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, q = lane % 4;
    // Where the halves that a lane kept and those that it got go, by its place among the four.
    const unsigned lower = q == 0 ? 0x5410U : q == 1 ? 0x1054U : q == 2 ? 0x7632U : 0x3276U;
    const unsigned upper = q == 0 ? 0x7632U : q == 1 ? 0x3276U : q == 2 ? 0x5410U : 0x1054U;
    const unsigned mine = q % 2 == 0 ? 0x5410U : 0x7632U, other = q % 2 == 0 ? 0x7632U : 0x5410U;
    std::uint8_t* const plane_data = c.data + plane * c.plane_bytes;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const std::int64_t own_row = row + 8 * half + lane / 4;
        std::uint8_t* const to = plane_data + own_row * c.line_bytes;
#pragma unroll
        for (int group = 0; group < Count / 16; ++group) {
            std::uint32_t pairs[4];  // of eight columns each
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int at = (group * 4 + j) * 4 + half * 2;
                pairs[j] = __byte_perm(modulo(m, d[at]), modulo(m, d[at + 1]), 0x0040);
            }
            const std::uint32_t first = __byte_perm(pairs[0], pairs[1], 0x5410),
                                second = __byte_perm(pairs[2], pairs[3], 0x5410);
            const std::uint32_t kept = q < 2 ? first : second;
            const std::uint32_t got = __shfl_xor_sync(0xffffffffU, q < 2 ? second : first, 2);
            const std::uint32_t own = __byte_perm(kept, got, mine);
            const std::uint32_t theirs = __shfl_xor_sync(0xffffffffU, __byte_perm(kept, got, other), 1);
            const std::int64_t own_col = col + group * 32 + q * 8;
            if (own_row < c.lines && own_col < c.line_bytes) {
                *reinterpret_cast<uint2*>(to + own_col) =
                    make_uint2(__byte_perm(own, theirs, lower), __byte_perm(own, theirs, upper));
            }
        }
    }
}

}  // namespace
}  // namespace heptad::cuda
