// From floats to bytes: a line times a power of two, rounded to integers, taken modulo each modulus.
// Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

/// Added to a number of moderate size, it leaves the integer part in the lower bits.
constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52

/// To nearest even. Without branches, so that loops of it become vectors everywhere.
HEPTAD_INLINE double rounded_integer(double x) {
    const double large = __builtin_copysign(0x1p52, x);
    const double rounded = (x + large) - large;
    return __builtin_fabs(x) < 0x1p52 ? rounded : x;
}
HEPTAD_INLINE double unless_not_finite(double x) {
    return x - x == 0 ? x : 0;
}

/// Depths side by side, of one line.
template <class T>
HEPTAD_INLINE void scale_along(const T* from, int count, double first, double second, const double* inner, double* to) {
    for (int p = 0; p < count; ++p) {
        const double x = unless_not_finite(static_cast<double>(from[p])) * first * second;
        to[p] = rounded_integer(inner != nullptr ? x * inner[p] : x);
    }
}
/// Lines side by side, or with a stride, at one depth.
template <class T>
HEPTAD_INLINE void scale_across(const T* from, std::int64_t stride, int count, const double* first,
                                const double* second, double inner, double* to) {
    for (int i = 0; i < count; ++i) {
        to[i] =
            rounded_integer(unless_not_finite(static_cast<double>(from[i * stride])) * first[i] * second[i] * inner);
    }
}

template <class T>
void chunk_integers(const ScaledBlock<T>& from, bool fours, double* to) {
    constexpr int panel = ByteKernels::panel, chunk = ByteKernels::chunk, four = 4;
    const int lines = from.lines, depths = from.depths;
    if (lines < panel || depths < chunk) {
        for (int i = 0; i < panel * chunk; ++i) {
            to[i] = 0;
        }
    }
    if (from.depth_stride == 1) {
        double line[chunk] = {};
        for (int i = 0; i < lines; ++i) {
            const T* const data = from.data + i * from.line_stride;
            double* const out = fours ? line : to + i * chunk;
            if (depths == chunk && from.inner_power == nullptr) {
                scale_along(data, chunk, from.first_power[i], from.power[i], nullptr, out);
            } else {
                scale_along(data, depths, from.first_power[i], from.power[i], from.inner_power, out);
            }
            for (int p = 0; fours && p < chunk; p += four) {
                __builtin_memcpy(to + (p / four * panel + i) * four, line + p, four * sizeof(double));
            }
        }
        return;
    }
    double across[four][panel] = {};
    for (int p = 0; p < depths; p += four) {
        for (int r = 0; r < four; ++r) {
            const T* const data = from.data + (p + r) * from.depth_stride;
            if (p + r >= depths) {
                for (int i = 0; i < panel; ++i) {
                    across[r][i] = 0;
                }
            } else if (const double inner = from.inner_power != nullptr ? from.inner_power[p + r] : 1;
                       lines == panel && from.line_stride == 1) {
                scale_across(data, 1, panel, from.first_power, from.power, inner, across[r]);
            } else {
                scale_across(data, from.line_stride, lines, from.first_power, from.power, inner, across[r]);
            }
        }
        // Four numbers of each line: side by side in panels of B, 64 apart in those of A.
        double* const out = fours ? to + p * panel : to + p;
        const int step = fours ? four : chunk;
        for (int i = 0; i < panel; ++i) {
            for (int r = 0; r < four; ++r) {
                out[i * step + r] = across[r][i];
            }
        }
    }
}

/// Two or more vectors of integers in the lowest bytes of 64-bit lanes as bytes.
#if defined(HEPTAD_AVX512)
constexpr int vectors_of_bytes = 2;
HEPTAD_INLINE void store_bytes(const Vector<double>* lowest, int modulus, bool from_zero, std::uint8_t* to) {
    constexpr __mmask8 all = 0xff;  // GCC 12 warns of an unset operand without a mask
    __m128i bytes = _mm_unpacklo_epi64(_mm512_maskz_cvtepi64_epi8(all, reinterpret_cast<__m512i>(lowest[0])),
                                       _mm512_maskz_cvtepi64_epi8(all, reinterpret_cast<__m512i>(lowest[1])));
    if (from_zero) {
        bytes = _mm_mask_add_epi8(bytes, _mm_movepi8_mask(bytes), bytes, _mm_set1_epi8(static_cast<char>(modulus)));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}
#else
constexpr int vectors_of_bytes = 4;
HEPTAD_INLINE void store_bytes(const Vector<double>* lowest, int modulus, bool from_zero, std::uint8_t* to) {
    for (int g = 0; g < vectors_of_bytes; ++g) {
        const auto words = reinterpret_cast<Vector<std::int64_t>>(lowest[g]);
        for (int l = 0; l < lanes<double>; ++l) {
            const auto byte = static_cast<std::int8_t>(words[l]);
            to[g * lanes<double> + l] = static_cast<std::uint8_t>(from_zero && byte < 0 ? byte + modulus : byte);
        }
    }
}
#endif

/// An integer is the sum of pieces * 2^(27 i), and so modulo p below 2^48 in pieces: its quotient by p is found to one
/// part in a thousand, where a 500th would do (p is odd, or a power of two).
template <int pieces>
void chunk_residues(const double* integers, const ResidueConstants& constants, bool from_zero, std::uint8_t* to,
                    std::int64_t plane_bytes) {
    using V = Vector<double>;
    constexpr int group = 2 * vectors_of_bytes, together = group * lanes<double>;
    const V magic = broadcast(to_integer);
    for (int i = 0; i < ByteKernels::chunk_bytes; i += together) {
        Array<Array<V, group>, pieces> piece;
        HEPTAD_UNROLL
        for (int g = 0; g < group; ++g) {
            V rest = load(integers + i + g * lanes<double>);
            double unit = 1;
            for (int q = 1; q < pieces; ++q) {
                unit *= 0x1p27;
            }
            HEPTAD_UNROLL
            for (int q = pieces - 1; q > 0; --q) {
                piece[q][g] = (rest * broadcast(1 / unit) + magic) - magic;
                rest = rest - piece[q][g] * broadcast(unit);  // exact
                unit /= 0x1p27;
            }
            piece[0][g] = rest;
        }
        for (int t = 0; t < constants.moduli; ++t) {
            const V minus_modulus = broadcast(-constants.modulus[t]), reciprocal = broadcast(constants.reciprocal[t]);
            Array<V, group> lowest;
            HEPTAD_UNROLL
            for (int g = 0; g < group; ++g) {
                V x = piece[0][g];
                HEPTAD_UNROLL
                for (int q = 1; q < pieces; ++q) {
                    x = multiply_add<double>(piece[q][g], broadcast(constants.power[q][t]), x);
                }
                const V quotient = multiply_add<double>(x, reciprocal, magic) - magic;
                lowest[g] = multiply_add<double>(minus_modulus, quotient, x) + magic;
            }
            std::uint8_t* const out = to + t * plane_bytes + i;
            HEPTAD_UNROLL
            for (int g = 0; g < group; g += vectors_of_bytes) {
                store_bytes(lowest + g, static_cast<int>(constants.modulus[t]), from_zero, out + g * lanes<double>);
            }
        }
    }
}

void residues_of_chunk(const double* integers, int pieces, const ResidueConstants& constants, bool from_zero,
                       std::uint8_t* to, std::int64_t plane_bytes) {
    switch (pieces) {
        case 1:
            return chunk_residues<1>(integers, constants, from_zero, to, plane_bytes);
        case 2:
            return chunk_residues<2>(integers, constants, from_zero, to, plane_bytes);
        case 3:
            return chunk_residues<3>(integers, constants, from_zero, to, plane_bytes);
        case 4:
            return chunk_residues<4>(integers, constants, from_zero, to, plane_bytes);
        default:
            return chunk_residues<ResidueConstants::most_pieces>(integers, constants, from_zero, to, plane_bytes);
    }
}

}  // namespace
}  // namespace heptad::cpu
