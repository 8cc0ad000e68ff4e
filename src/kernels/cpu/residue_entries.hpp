// From sums of products of bytes to their remainders, and from the remainders of an entry to its integer. Only for
// microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/microkernel_vector.hpp"
#include "kernels/cpu/residue_bytes.hpp"

namespace heptad::cpu {
namespace {

void sum_remainders(const std::int32_t* sums, std::int64_t count, int modulus, std::uint8_t* to) {
    const float reciprocal = 1.0F / static_cast<float>(modulus);
    for (std::int64_t i = 0; i < count; ++i) {
        // A float knows 24 bits of a sum of 31: the first quotient is wrong by less than 3, the second by less than 1.
        std::int32_t x = sums[i];
        x -= static_cast<std::int32_t>(static_cast<float>(x) * reciprocal) * modulus;
        x -= static_cast<std::int32_t>(static_cast<float>(x) * reciprocal) * modulus;
        x += x < 0 ? modulus : 0;
        x -= x >= modulus ? modulus : 0;
        to[i] = static_cast<std::uint8_t>(x);
    }
}

HEPTAD_INLINE Vector<double> load_residues(const std::uint8_t* from) {
#if defined(HEPTAD_AVX512)
    return _mm512_maskz_cvtepi32_pd(0xff,
                                    _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
    Vector<double> x{};
    for (int l = 0; l < lanes<double>; ++l) {
        x[l] = from[l];
    }
    return x;
#endif
}

template <int pieces>
void tile_entries(const std::uint8_t* residues, std::int64_t plane_bytes, const RemainderConstants& constants,
                  double* to) {
    using V = Vector<double>;
    constexpr int group = 4, tile = ByteKernels::tile_size;
    const V magic = broadcast(to_integer), unit = broadcast(0x1p40), part_of_unit = broadcast(0x1p-40);
    for (int i = 0; i < tile; i += group * lanes<double>) {
        Array<Array<V, pieces>, group> sum = {};
        Array<V, group> quotient = {};
        for (int t = 0; t < constants.moduli; ++t) {
            HEPTAD_UNROLL
            for (int g = 0; g < group; ++g) {
                const V residue = load_residues(residues + t * plane_bytes + i + g * lanes<double>);
                quotient[g] = multiply_add<double>(residue, broadcast(constants.part[t]), quotient[g]);
                HEPTAD_UNROLL
                for (int q = 0; q < pieces; ++q) {
                    sum[g][q] = multiply_add<double>(residue, broadcast(constants.weight[q][t]), sum[g][q]);
                }
            }
        }
        HEPTAD_UNROLL
        for (int g = 0; g < group; ++g) {
            const V minus_times = magic - (quotient[g] + magic);
            HEPTAD_UNROLL
            for (int q = 0; q < pieces; ++q) {
                sum[g][q] = multiply_add<double>(minus_times, broadcast(constants.product[q]), sum[g][q]);
            }
            HEPTAD_UNROLL
            for (int q = 0; q + 1 < pieces; ++q) {
                const V carry = (sum[g][q] * part_of_unit + magic) - magic;
                sum[g][q] = sum[g][q] - carry * unit;
                sum[g][q + 1] = sum[g][q + 1] + carry;
            }
            HEPTAD_UNROLL
            for (int q = 0; q < pieces; ++q) {
                store(to + q * tile + i + g * lanes<double>, sum[g][q]);
            }
        }
    }
}

void entries_of_tile(const std::uint8_t* residues, std::int64_t plane_bytes, const RemainderConstants& constants,
                     double* pieces) {
    switch (constants.pieces) {
        case 1:
            return tile_entries<1>(residues, plane_bytes, constants, pieces);
        case 2:
            return tile_entries<2>(residues, plane_bytes, constants, pieces);
        case 3:
            return tile_entries<3>(residues, plane_bytes, constants, pieces);
        case 4:
            return tile_entries<4>(residues, plane_bytes, constants, pieces);
        default:
            return tile_entries<RemainderConstants::most_pieces>(residues, plane_bytes, constants, pieces);
    }
}

}  // namespace
}  // namespace heptad::cpu
