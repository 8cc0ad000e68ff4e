// Packs rows of A (or columns of B) into panels: panel q, depth p, lane i holds source[(q * panel + i) * stride +
// p * depth_stride]; the last panel is filled up with zeros. Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

/// Runs of 16 bytes, `stride` elements apart, become the columns of others, `to_stride` apart: 4 x 4 units of four
/// bytes, or 2 x 2 of eight. A unit is an element, or a pair of them.
template <class Unit, class T>
HEPTAD_INLINE void transpose_square(const T* from, std::int64_t stride, T* to, std::int64_t to_stride) {
    using V = Vector<Unit, 16>;
    if constexpr (sizeof(Unit) == 4) {
        const V r0 = load_as<V>(from), r1 = load_as<V>(from + stride);
        const V r2 = load_as<V>(from + 2 * stride), r3 = load_as<V>(from + 3 * stride);
        const V even_01 = __builtin_shufflevector(r0, r1, 0, 4, 2, 6),
                odd_01 = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
        const V even_23 = __builtin_shufflevector(r2, r3, 0, 4, 2, 6),
                odd_23 = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
        store(to, __builtin_shufflevector(even_01, even_23, 0, 1, 4, 5));
        store(to + to_stride, __builtin_shufflevector(odd_01, odd_23, 0, 1, 4, 5));
        store(to + 2 * to_stride, __builtin_shufflevector(even_01, even_23, 2, 3, 6, 7));
        store(to + 3 * to_stride, __builtin_shufflevector(odd_01, odd_23, 2, 3, 6, 7));
    } else {
        const V r0 = load_as<V>(from), r1 = load_as<V>(from + stride);
        store(to, __builtin_shufflevector(r0, r1, 0, 2));
        store(to + to_stride, __builtin_shufflevector(r0, r1, 1, 3));
    }
}

/// `depths` depths of all rows of a panel.
template <class T, int panel, int depths>
HEPTAD_INLINE void transpose_rows(const T* source, std::int64_t stride, T* packed) {
    constexpr int square = 16 / static_cast<int>(sizeof(T));
    constexpr int squares = (panel + square - 1) / square;
    static_assert(panel >= square);
    HEPTAD_UNROLL
    for (int s = 0; s < squares; ++s) {
        const int i = s + 1 < squares ? s * square : panel - square;  // the last ones may come a second time
        HEPTAD_UNROLL
        for (int p = 0; p < depths; p += square) {
            transpose_square<T>(source + i * stride + p, stride, packed + p * panel + i, panel);
        }
    }
}

/// One full panel whose source is contiguous along the depth. A cache line of a few rows at a time: rows that begin a
/// power of two apart share one set of the first cache, which does not hold a line of each.
template <class T, int panel>
HEPTAD_INLINE void pack_transposing(std::int64_t k, const T* source, std::int64_t stride, T* packed) {
    constexpr int line = 64 / static_cast<int>(sizeof(T)), square = 16 / static_cast<int>(sizeof(T));
    std::int64_t p = 0;
    for (; p + line <= k; p += line) {
        transpose_rows<T, panel, line>(source + p, stride, packed + p * panel);
    }
    for (; p + square <= k; p += square) {
        transpose_rows<T, panel, square>(source + p, stride, packed + p * panel);
    }
    for (; p < k; ++p) {
        for (int i = 0; i < panel; ++i) {
            packed[p * panel + i] = source[i * stride + p];
        }
    }
}

/// The panels' source is contiguous across the panel: a few depths at a time over all panels, so that both the source
/// and the packed panels are walked in long runs.
template <class T, int panel>
HEPTAD_INLINE void pack_straight(std::int64_t full_panels, std::int64_t k, const T* source, std::int64_t depth_stride,
                                 T* packed) {
    constexpr std::int64_t run = 8;
    for (std::int64_t begin = 0; begin < k; begin += run) {
        const std::int64_t end = begin + run < k ? begin + run : k;
        for (std::int64_t q = 0; q < full_panels; ++q) {
            for (std::int64_t p = begin; p < end; ++p) {
                __builtin_memcpy(packed + (q * k + p) * panel, source + p * depth_stride + q * panel,
                                 panel * sizeof(T));
            }
        }
    }
}

/// pack(panel, group) for groups of depths of all panels: the source is walked in long runs, `across` the panels or
/// along the depth.
template <class Pack>
HEPTAD_INLINE void over_panels(std::int64_t panels, std::int64_t groups, bool across, const Pack& pack) {
    if (across) {
        for (std::int64_t g = 0; g < groups; ++g) {
            for (std::int64_t q = 0; q < panels; ++q) {
                pack(q, g);
            }
        }
    } else {
        for (std::int64_t q = 0; q < panels; ++q) {
            for (std::int64_t g = 0; g < groups; ++g) {
                pack(q, g);
            }
        }
    }
}

template <class T, int panel>
Magnitudes pack_panels(std::int64_t width, std::int64_t k, const T* source, std::int64_t stride,
                       std::int64_t depth_stride, T* packed) {
    const std::int64_t full_panels = width / panel;
    std::int64_t packed_panels = 0;
    if (stride == 1) {
        pack_straight<T, panel>(full_panels, k, source, depth_stride, packed);
        packed_panels = full_panels;
    } else if (depth_stride == 1) {
        for (; packed_panels < full_panels; ++packed_panels) {
            pack_transposing<T, panel>(k, source + packed_panels * panel * stride, stride,
                                       packed + packed_panels * panel * k);
        }
    }
    for (; packed_panels * panel < width; ++packed_panels) {  // any strides, and the last panel
        const std::int64_t first = packed_panels * panel;
        const std::int64_t used = width - first < panel ? width - first : panel;
        T* to = packed + first * k;
        for (std::int64_t p = 0; p < k; ++p) {
            for (std::int64_t i = 0; i < panel; ++i) {
                to[p * panel + i] = i < used ? source[(first + i) * stride + p * depth_stride] : T{0};
            }
        }
    }
    return {};
}

}  // namespace
}  // namespace heptad::cpu
