// Packs rows of A (or columns of B) of 32-bit integers as bytes for the tile of microkernel_limbs.hpp:
// source[i * stride + p * depth_stride] = sum over l < 4 of limb_l(i, p) * 2^(8 l). Only for microkernel_<set>.cpp.
//
// A panel is a sequence of depth groups of 8; each holds limb 0 of all its rows, then limb 1, 2 and 3; a limb lies in
// pairs of rows: 8 depths of the first row, 8 of the second. Rows and depths that do not exist are zero.
#pragma once

#include "kernels/cpu/pack_panels.hpp"

namespace heptad::cpu {
namespace {

inline constexpr int limbs = 4;
inline constexpr int limb_depths = 8;                // depths that one matrix instruction multiplies
inline constexpr std::int64_t limb_pair_bytes = 16;  // one limb of two rows

using Bytes = Vector<std::uint8_t, 16>;
using Words = Vector<std::uint32_t, 16>;

HEPTAD_INLINE Bytes even_bytes(Bytes x, Bytes y) {
    return __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
HEPTAD_INLINE Bytes odd_bytes(Bytes x, Bytes y) {
    return __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

/// Two rows of 8 depths, each contiguous; limb l goes to `to + l * limb_bytes`.
HEPTAD_INLINE void split_along_depth(const std::uint32_t* row_0, const std::uint32_t* row_1, std::uint8_t* to,
                                     std::int64_t limb_bytes) {
    const auto x0 = load_as<Bytes>(row_0), x1 = load_as<Bytes>(row_0 + 4);
    const auto y0 = load_as<Bytes>(row_1), y1 = load_as<Bytes>(row_1 + 4);
    const Bytes x_even = even_bytes(x0, x1), x_odd = odd_bytes(x0, x1);  // limbs 0 and 2, limbs 1 and 3, in turn
    const Bytes y_even = even_bytes(y0, y1), y_odd = odd_bytes(y0, y1);
    store(to, even_bytes(x_even, y_even));
    store(to + limb_bytes, even_bytes(x_odd, y_odd));
    store(to + 2 * limb_bytes, odd_bytes(x_even, y_even));
    store(to + 3 * limb_bytes, odd_bytes(x_odd, y_odd));
}

/// The same for two rows that lie side by side, their depths `depth_stride` apart.
HEPTAD_INLINE void split_across_depth(const std::uint32_t* source, std::int64_t depth_stride, std::uint8_t* to,
                                      std::int64_t limb_bytes) {
    using Pair = Vector<std::uint32_t, 8>;
    using Halves = Vector<std::uint16_t, 16>;
    Words apart_4[4];  // row 0 at depths p and p + 4, then row 1
    HEPTAD_UNROLL
    for (int p = 0; p < 4; ++p) {
        apart_4[p] = __builtin_shufflevector(load_as<Pair>(source + p * depth_stride),
                                             load_as<Pair>(source + (p + 4) * depth_stride), 0, 2, 1, 3);
    }
    Halves limb[4][2];  // of depths 0, 1 and of depths 2, 3: the limb and the one two above it, in turn
    HEPTAD_UNROLL
    for (std::size_t p = 0; p < 2; ++p) {
        const auto x = reinterpret_cast<Bytes>(apart_4[2 * p]), y = reinterpret_cast<Bytes>(apart_4[2 * p + 1]);
        limb[0][p] = reinterpret_cast<Halves>(
            __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30));
        limb[1][p] = reinterpret_cast<Halves>(
            __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31));
    }
    HEPTAD_UNROLL
    for (int l = 0; l < 2; ++l) {
        store(to + l * limb_bytes, __builtin_shufflevector(limb[l][0], limb[l][1], 0, 8, 2, 10, 4, 12, 6, 14));
        store(to + (l + 2) * limb_bytes, __builtin_shufflevector(limb[l][0], limb[l][1], 1, 9, 3, 11, 5, 13, 7, 15));
    }
}

/// The same for any strides, where `rows` (at most 2) x `depths` (at most 8) exist.
inline void split_part(std::int64_t rows, std::int64_t depths, const std::uint32_t* source, std::int64_t stride,
                       std::int64_t depth_stride, std::uint8_t* to, std::int64_t limb_bytes) {
    std::uint32_t entries[2][limb_depths] = {};
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t p = 0; p < depths; ++p) {
            entries[i][p] = source[i * stride + p * depth_stride];
        }
    }
    split_along_depth(entries[0], entries[1], to, limb_bytes);
}

/// One depth group of one panel.
template <int panel>
HEPTAD_INLINE void pack_limb_group(std::int64_t rows, std::int64_t depths, const std::uint32_t* source,
                                   std::int64_t stride, std::int64_t depth_stride, std::uint8_t* to) {
    constexpr std::int64_t limb_bytes = panel / 2 * limb_pair_bytes;
    const bool full = rows >= panel && depths >= limb_depths;
    HEPTAD_UNROLL
    for (int i = 0; i < panel; i += 2) {
        const std::uint32_t* from = source + i * stride;
        std::uint8_t* pair = to + i / 2 * limb_pair_bytes;
        if (full && depth_stride == 1) {
            split_along_depth(from, from + stride, pair, limb_bytes);
        } else if (full && stride == 1) {
            split_across_depth(from, depth_stride, pair, limb_bytes);
        } else {
            const std::int64_t left = rows - i;
            split_part(left < 2 ? left : 2, depths < limb_depths ? depths : limb_depths, from, stride, depth_stride,
                       pair, limb_bytes);
        }
    }
}

template <int panel>
Magnitudes pack_limbs(std::int64_t width, std::int64_t k, const std::uint32_t* source, std::int64_t stride,
                      std::int64_t depth_stride, std::uint32_t* packed) {
    constexpr std::int64_t group_bytes = static_cast<std::int64_t>(panel) * limb_depths * limbs;
    const std::int64_t panels = (width + panel - 1) / panel, groups = (k + limb_depths - 1) / limb_depths;
    auto* const to = reinterpret_cast<std::uint8_t*>(packed);
    const auto pack_group = [=](std::int64_t q, std::int64_t g) {
        pack_limb_group<panel>(width - q * panel, k - g * limb_depths,
                               source + q * panel * stride + g * limb_depths * depth_stride, stride, depth_stride,
                               to + (q * groups + g) * group_bytes);
    };
    over_panels(panels, groups, stride == 1, pack_group);
    return {};
}

}  // namespace
}  // namespace heptad::cpu
