// Packs f32 as sums of three bf16, x = high + middle + low, each the rest rounded to nearest even:
//
//   |x - high| < 2^-8 |x|,   |x - high - middle| < 2^-17 |x|,   nothing is left of x after that
//
// The layout is that of Bf16Kernels, chunk by chunk of 32 depths, with the three planes of a chunk one after another.
// Element (i, p) is source[i * stride + p * depth_stride]. Only for microkernel_<set>.cpp.
#pragma once

#if defined(__AVX512BW__)
#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/pack_panels.hpp"

namespace heptad::cpu {
namespace {

constexpr int split_planes = 3;
constexpr int split_panel = 32, split_chunk = 32;
constexpr int split_plane_size = split_panel * split_chunk, split_chunk_size = split_planes * split_plane_size;

using Bits = Vector<std::uint32_t>;

/// The upper half of the bits, rounded to nearest even: a bf16, where x is finite and not too large.
HEPTAD_INLINE Vector<float> rounded_to_bf16(Vector<float> x) {
    const Bits bits = reinterpret_cast<Bits>(x);
    const Bits rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
    return reinterpret_cast<Vector<float>>(rounded & 0xffff0000U);
}

/// The least and the largest of the magnitudes seen so far; zeros do not count.
struct SeenMagnitudes {
    Bits least_less_one, largest;
    SeenMagnitudes() : least_less_one(broadcast(UINT32_MAX)), largest{} {}
    HEPTAD_INLINE void add(Vector<float> x) {
        const Bits magnitude = reinterpret_cast<Bits>(x) & 0x7fffffffU, less_one = magnitude - 1U;
        least_less_one = less_one < least_less_one ? less_one : least_less_one;
        largest = magnitude > largest ? magnitude : largest;
    }
    Magnitudes result() const {
        Magnitudes seen;
        for (int lane = 0; lane < lanes<float>; ++lane) {
            const std::uint32_t least = least_less_one[lane];
            seen.least = least != UINT32_MAX && least + 1 < seen.least ? least + 1 : seen.least;
            seen.largest = largest[lane] > seen.largest ? largest[lane] : seen.largest;
        }
        return seen;
    }
};

constexpr int exponent_of(std::uint32_t magnitude) {
    return static_cast<int>(magnitude >> 23) - 127;
}

/// Three parts are all of each number: parts are multiples of 2^-23 of it, and those below 2^-126 are no bf16 that the
/// tiles read. Nothing seen but zeros has the largest `least` and the smallest `largest`, and passes.
constexpr bool can_be_split(const Magnitudes& seen) {
    return exponent_of(seen.least) >= -126 + 23 && exponent_of(seen.largest) <= 120;
}

/// Pairs of bf16, the first in the lower half, out of numbers that are bf16.
HEPTAD_INLINE Bits pairs_of(Vector<float> first, Vector<float> second) {
    return reinterpret_cast<Bits>(first) >> 16 | reinterpret_cast<Bits>(second);
}

/// Pairs of numbers, as pairs of bf16 in each plane.
HEPTAD_INLINE void store_split(Vector<float> first, Vector<float> second, std::uint16_t* to, SeenMagnitudes& seen) {
    seen.add(first);
    seen.add(second);
    HEPTAD_UNROLL
    for (int plane = 0; plane < split_planes; ++plane) {
        const bool is_last = plane + 1 == split_planes;  // what is left is a bf16
        const Vector<float> x = is_last ? first : rounded_to_bf16(first);
        const Vector<float> y = is_last ? second : rounded_to_bf16(second);
        store(to + plane * split_plane_size, pairs_of(x, y));
        first = first - x;
        second = second - y;
    }
}

/// A chunk of a panel of A whose lines have their depths side by side.
HEPTAD_INLINE void split_lines(const float* source, std::int64_t stride, std::uint16_t* to, SeenMagnitudes& seen) {
    for (int i = 0; i < split_panel; ++i) {
        const Vector<float> x = load(source + i * stride), y = load(source + i * stride + lanes<float>);
        store_split(__builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
                    __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31),
                    to + i * split_chunk, seen);
    }
}

/// A chunk of a panel of B whose columns lie side by side at each depth.
HEPTAD_INLINE void split_depths(const float* source, std::int64_t depth_stride, std::uint16_t* to,
                                SeenMagnitudes& seen) {
    for (int p = 0; p < split_chunk; p += 2) {
        const float *const first = source + p * depth_stride, *const second = first + depth_stride;
        for (int j = 0; j < split_panel; j += lanes<float>) {
            store_split(load(first + j), load(second + j), to + p * split_panel + 2 * j, seen);
        }
    }
}

/// 32 x 32 numbers side by side the other way round, `to` row by row.
HEPTAD_INLINE void transpose_chunk(const float* source, std::int64_t stride, float* to) {
    for (int i = 0; i < split_panel; i += 4) {
        HEPTAD_UNROLL
        for (int p = 0; p < split_chunk; p += 4) {
            transpose_square<float>(source + i * stride + p, stride, to + p * split_panel + i, split_panel);
        }
    }
}

/// Any strides, where `used` lines and `depths` exist; `to` is filled up with zeros.
inline void copy_part(std::int64_t used, std::int64_t depths, const float* source, std::int64_t stride,
                      std::int64_t depth_stride, float* to, std::int64_t to_stride, std::int64_t to_depth_stride) {
    __builtin_memset(to, 0, split_plane_size * sizeof(float));
    for (std::int64_t i = 0; i < used; ++i) {
        for (std::int64_t p = 0; p < depths; ++p) {
            to[i * to_stride + p * to_depth_stride] = source[i * stride + p * depth_stride];
        }
    }
}

template <bool is_a>
Magnitudes pack_split(std::int64_t width, std::int64_t k, const float* source, std::int64_t stride,
                      std::int64_t depth_stride, float* packed) {
    const std::int64_t panels = (width + split_panel - 1) / split_panel, chunks = (k + split_chunk - 1) / split_chunk;
    auto* const planes = reinterpret_cast<std::uint16_t*>(packed);
    SeenMagnitudes seen;
    bool splits =
        true;  // a block that does not is packed no further: rests of tiny numbers take a hundred times as long
    const auto pack = [&](std::int64_t q, std::int64_t g) {
        if (!splits) {
            return;
        }
        const std::int64_t used = width - q * split_panel, depths = k - g * split_chunk;
        const float* from = source + q * split_panel * stride + g * split_chunk * depth_stride;
        std::uint16_t* const to = planes + (q * chunks + g) * split_chunk_size;
        const std::int64_t wanted_unit = is_a ? depth_stride : stride, other_unit = is_a ? stride : depth_stride;
        std::int64_t from_stride = other_unit;
        alignas(64) float chunk[split_plane_size];
        if (used < split_panel || depths < split_chunk || (wanted_unit != 1 && other_unit != 1)) {
            copy_part(used < split_panel ? used : split_panel, depths < split_chunk ? depths : split_chunk, from,
                      stride, depth_stride, chunk, is_a ? split_chunk : 1, is_a ? 1 : split_panel);
        } else if (wanted_unit != 1) {
            transpose_chunk(from, wanted_unit, chunk);
        }
        if (used < split_panel || depths < split_chunk || wanted_unit != 1) {
            from = chunk;
            from_stride = split_panel;
        }
        if constexpr (is_a) {
            split_lines(from, from_stride, to, seen);
        } else {
            split_depths(from, from_stride, to, seen);
        }
        splits = can_be_split(seen.result());
    };
    over_panels(panels, chunks, stride == 1, pack);
    return seen.result();
}

}  // namespace
}  // namespace heptad::cpu
#endif
