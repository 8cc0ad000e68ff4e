// Packs rows of A and columns of B of bf16 as Bf16Kernels says: in chunks of 32 depths, which instructions take in
// pairs. Element (i, p) is source[i * stride + p * depth_stride]. Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/pack_panels.hpp"

namespace heptad::cpu {
namespace {

constexpr int pairs_in_chunk = Bf16Kernels::chunk / 2;

/// Two runs of `count` numbers become one of pairs.
template <int count>
HEPTAD_INLINE void interleave(const std::uint16_t* first, const std::uint16_t* second, std::uint32_t* pairs) {
    for (int i = 0; i < count; ++i) {
        pairs[i] = static_cast<std::uint32_t>(first[i]) | static_cast<std::uint32_t>(second[i]) << 16;
    }
}

/// A chunk of a full panel of A whose rows lie side by side (the depths are apart).
template <int rows>
HEPTAD_INLINE void pack_across_depth(const std::uint16_t* source, std::int64_t depth_stride, std::uint16_t* to) {
    static_assert(rows >= 4);
    Array<Array<std::uint32_t, rows>, pairs_in_chunk> pairs;
    for (std::int64_t p = 0; p < pairs_in_chunk; ++p) {
        interleave<rows>(source + 2 * p * depth_stride, source + (2 * p + 1) * depth_stride, pairs[p]);
    }
    for (int s = 0; s < rows; s += 4) {
        const int i = s + 4 <= rows ? s : rows - 4;  // the last ones may come a second time
        for (std::int64_t p = 0; p < pairs_in_chunk; p += 4) {
            transpose_square<std::uint32_t>(reinterpret_cast<const std::uint16_t*>(&pairs[p][i]), 2 * rows,
                                            to + i * Bf16Kernels::chunk + 2 * p, Bf16Kernels::chunk);
        }
    }
}

template <int rows>
HEPTAD_INLINE void pack_chunk_of_a(const std::uint16_t* source, std::int64_t stride, std::int64_t depth_stride,
                                   std::uint16_t* to) {
    if (depth_stride == 1) {
        for (int i = 0; i < rows; ++i) {
            __builtin_memcpy(to + i * Bf16Kernels::chunk, source + i * stride, Bf16Kernels::chunk * sizeof *to);
        }
    } else {
        pack_across_depth<rows>(source, depth_stride, to);
    }
}

template <int cols>
HEPTAD_INLINE void pack_chunk_of_b(const std::uint16_t* source, std::int64_t stride, std::int64_t depth_stride,
                                   std::uint16_t* to) {
    static_assert(cols % 4 == 0);
    if (stride == 1) {
        for (std::int64_t p = 0; p < Bf16Kernels::chunk; p += 2) {
            Array<std::uint32_t, cols> pairs;
            interleave<cols>(source + p * depth_stride, source + (p + 1) * depth_stride, pairs);
            __builtin_memcpy(to + p * cols, pairs, sizeof pairs);
        }
    } else {
        for (std::int64_t j = 0; j < cols; j += 4) {
            for (std::int64_t p = 0; p < Bf16Kernels::chunk; p += 8) {
                transpose_square<std::uint32_t>(source + j * stride + p, stride, to + p * cols + 2 * j, 2 * cols);
            }
        }
    }
}

/// Packs a chunk of a full panel, one of the strides being 1.
using PackChunk = void (*)(const std::uint16_t* source, std::int64_t stride, std::int64_t depth_stride,
                           std::uint16_t* to);

/// Any strides, where `used` rows (or columns) and `depths` exist.
template <int panel, PackChunk pack_chunk>
void pack_part(std::int64_t used, std::int64_t depths, const std::uint16_t* source, std::int64_t stride,
               std::int64_t depth_stride, std::uint16_t* to) {
    Array<std::uint16_t, panel* static_cast<int>(Bf16Kernels::chunk)> part = {};
    for (std::int64_t p = 0; p < depths; ++p) {
        for (std::int64_t i = 0; i < used; ++i) {
            part[p * panel + i] = source[i * stride + p * depth_stride];
        }
    }
    pack_chunk(part, 1, panel, to);
}

template <int panel, PackChunk pack_chunk>
void pack_pairs(std::int64_t width, std::int64_t k, const std::uint16_t* source, std::int64_t stride,
                std::int64_t depth_stride, std::uint16_t* packed) {
    constexpr std::int64_t chunk = Bf16Kernels::chunk;
    const std::int64_t panels = (width + panel - 1) / panel, chunks = (k + chunk - 1) / chunk;
    const auto pack = [=](std::int64_t q, std::int64_t g) {
        const std::int64_t used = width - q * panel < panel ? width - q * panel : panel;
        const std::int64_t depths = k - g * chunk < chunk ? k - g * chunk : chunk;
        const std::uint16_t* const from = source + q * panel * stride + g * chunk * depth_stride;
        std::uint16_t* const to = packed + (q * chunks + g) * panel * chunk;
        if (used == panel && depths == chunk && (stride == 1 || depth_stride == 1)) {
            pack_chunk(from, stride, depth_stride, to);
        } else {
            pack_part<panel, pack_chunk>(used, depths, from, stride, depth_stride, to);
        }
    };
    over_panels(panels, chunks, stride == 1, pack);
}

inline int least_exponent(const std::uint16_t* packed, std::int64_t count) {
    std::uint16_t least = UINT16_MAX;  // of magnitudes less one, so that zero is the largest
    for (std::int64_t i = 0; i < count; ++i) {
        const auto magnitude = static_cast<std::uint16_t>((packed[i] & 0x7fffU) - 1U);
        least = magnitude < least ? magnitude : least;
    }
    return least == UINT16_MAX ? 255 : (least + 1) >> 7;
}

template <int rows, int cols>
constexpr Bf16Kernels bf16_kernels(Bf16Kernels::Tile tile, Bf16Kernels::Tile tile_of_any_numbers) {
    Bf16Kernels kernels;
    kernels.tile_rows = rows;
    kernels.tile_cols = cols;
    kernels.block_rows = (1024 + rows - 1) / rows * rows;
    kernels.block_depth = 512;
    kernels.block_cols = 1024;
    kernels.pack_a = pack_pairs<rows, pack_chunk_of_a<rows>>;
    kernels.pack_b = pack_pairs<cols, pack_chunk_of_b<cols>>;
    kernels.least_exponent = least_exponent;
    kernels.tile = tile;
    kernels.tile_of_any_numbers = tile_of_any_numbers;
    return kernels;
}

}  // namespace
}  // namespace heptad::cpu
