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
HEPTAD_INLINE void scale_along(const T* from, int count, double first, double second, double* to) {
    for (int p = 0; p < count; ++p) {
        to[p] = rounded_integer(unless_not_finite(static_cast<double>(from[p])) * first * second);
    }
}
/// Lines side by side, or with a stride, at one depth.
template <class T>
HEPTAD_INLINE void scale_across(const T* from, std::int64_t stride, int count, const double* first,
                                const double* second, double* to) {
    for (int i = 0; i < count; ++i) {
        to[i] = rounded_integer(unless_not_finite(static_cast<double>(from[i * stride])) * first[i] * second[i]);
    }
}

/// Line by line, or (`across`) depth by depth.
template <class T>
void chunk_integers(const ScaledBlock<T>& from, bool across, double* to) {
    constexpr int panel = ByteKernels::panel, chunk = ByteKernels::chunk, together = 4;
    const int lines = from.lines, depths = from.depths;
    if (lines < panel || depths < chunk) {
        for (int i = 0; i < panel * chunk; ++i) {
            to[i] = 0;
        }
    }
    if (from.depth_stride == 1) {
        double line[together][chunk] = {};
        for (int i = 0; i < lines; ++i) {
            const T* const data = from.data + i * from.line_stride;
            double* const out = across ? line[i % together] : to + i * chunk;
            if (depths == chunk) {
                scale_along(data, chunk, from.first_power[i], from.power[i], out);
            } else {
                scale_along(data, depths, from.first_power[i], from.power[i], out);
            }
            const int first = i / together * together;
            for (int p = 0; across && (i + 1 == lines || i + 1 == first + together) && p < depths; ++p) {
                for (int r = 0; r < together; ++r) {
                    to[p * panel + first + r] = first + r <= i ? line[r][p] : 0;
                }
            }
        }
        return;
    }
    double depth[together][panel] = {};
    for (int p = 0; p < depths; ++p) {
        const T* const data = from.data + p * from.depth_stride;
        double* const out = across ? to + p * panel : depth[p % together];
        if (lines == panel && from.line_stride == 1) {
            scale_across(data, 1, panel, from.first_power, from.power, out);
        } else {
            scale_across(data, from.line_stride, lines, from.first_power, from.power, out);
        }
        const int first = p / together * together;
        for (int i = 0; !across && (p + 1 == depths || p + 1 == first + together) && i < lines; ++i) {
            for (int r = 0; r < together; ++r) {
                to[i * chunk + first + r] = first + r <= p ? depth[r][i] : 0;
            }
        }
    }
}

/// Integers in the lowest bytes of 64-bit lanes, as bytes: of four vectors one behind the other, or (`fours`) four
/// neighbours from four vectors. `from_zero`: negative ones are that much larger.
#if defined(HEPTAD_AVX512)
HEPTAD_INLINE __m256i from_zero_on(__m256i bytes, int modulus, bool from_zero) {
    return from_zero ? _mm256_mask_add_epi8(bytes, _mm256_movepi8_mask(bytes), bytes,
                                            _mm256_set1_epi8(static_cast<char>(modulus)))
                     : bytes;
}
template <bool fours>
HEPTAD_INLINE void store_bytes(const Vector<double> (&lowest)[4], int modulus, bool from_zero, std::uint8_t* to) {
    constexpr __mmask8 all = 0xff;  // GCC 12 warns of an unset operand without a mask
    __m256i bytes;
    if constexpr (fours) {
        const auto at = [&](int g) { return reinterpret_cast<Vector<std::int64_t>>(lowest[g]) & 0xff; };
        const Vector<std::int64_t> words = at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24;
        bytes = _mm512_maskz_cvtepi64_epi32(all, reinterpret_cast<__m512i>(words));
    } else {
        const auto at = [&](int g) { return _mm512_maskz_cvtepi64_epi8(all, reinterpret_cast<__m512i>(lowest[g])); };
        bytes = _mm256_set_m128i(_mm_unpacklo_epi64(at(2), at(3)), _mm_unpacklo_epi64(at(0), at(1)));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), from_zero_on(bytes, modulus, from_zero));
}
#else
template <bool fours>
HEPTAD_INLINE void store_bytes(const Vector<double> (&lowest)[4], int modulus, bool from_zero, std::uint8_t* to) {
    for (int g = 0; g < 4; ++g) {
        const auto words = reinterpret_cast<Vector<std::int64_t>>(lowest[g]);
        for (int l = 0; l < lanes<double>; ++l) {
            const auto byte = static_cast<std::int8_t>(words[l]);
            to[fours ? 4 * l + g : g * lanes<double> + l] =
                static_cast<std::uint8_t>(from_zero && byte < 0 ? byte + modulus : byte);
        }
    }
}
#endif

/// An integer is the sum of pieces * 2^(27 i), and so modulo p below 2^48 in pieces: its quotient by p is found to one
/// part in a thousand, where a 500th would do (p is odd, or a power of two).
template <int pieces, bool fours>
void chunk_residues(const double* integers, const ResidueConstants& constants, std::uint8_t* to,
                    std::int64_t plane_bytes) {
    using V = Vector<double>;
    constexpr int group = 4, panel = ByteKernels::panel;
    const V magic = broadcast(to_integer);
    for (int i = 0; i < ByteKernels::chunk_bytes; i += group * lanes<double>) {
        // Neighbours, or four depths of some lines.
        const double* const from =
            fours ? integers + i / (group * panel) * (group * panel) + i % (group * panel) / group : integers + i;
        constexpr int step = fours ? panel : lanes<double>;
        Array<Array<V, group>, pieces> piece;
        HEPTAD_UNROLL
        for (int g = 0; g < group; ++g) {
            V rest = load(from + g * step);
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
            store_bytes<fours>(lowest, static_cast<int>(constants.modulus[t]), fours, to + t * plane_bytes + i);
        }
    }
}

template <bool of_b>
void residues_of_chunk(const double* integers, int pieces, const ResidueConstants& constants, std::uint8_t* to,
                       std::int64_t plane_bytes) {
    switch (pieces) {
        case 1:
            return chunk_residues<1, of_b>(integers, constants, to, plane_bytes);
        case 2:
            return chunk_residues<2, of_b>(integers, constants, to, plane_bytes);
        case 3:
            return chunk_residues<3, of_b>(integers, constants, to, plane_bytes);
        case 4:
            return chunk_residues<4, of_b>(integers, constants, to, plane_bytes);
        default:
            return chunk_residues<ResidueConstants::most_pieces, of_b>(integers, constants, to, plane_bytes);
    }
}

}  // namespace
}  // namespace heptad::cpu
