// C(i, j) ^= sum over k of A(i, k) * B(k, j) for 8 x 8 blocks over GF(2) in the order of BlockLayout; eight blocks of B
// side by side fill a vector, and a block of A goes to all its lanes. `Vector` says how that is done:
//
//   load, store, zero; broadcast (one word to eight lanes); product (lane by lane, 8 x 8 blocks); xor3
//
// Compiled once per instruction set, so nothing here may be shared with other files: no function of the library.
#pragma once

#include <cstddef>

#include "bits/block_layout.hpp"

namespace heptad::bits {

/// Depth in blocks after which a panel of B (32 blocks wide) no longer fits in the L1 cache.
inline constexpr std::int64_t kDepthBlocks = 128;

/// One tile: 4 x 8 W blocks. `depth` is even.
template <class Vector, int W>
inline void block_tile(const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth, std::uint64_t* c,
                       bool accumulate) {
    constexpr int R = kPanelBlockRows;
    typename Vector::Register sums[std::size_t{R}][std::size_t{W}];
    for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t w = 0; w < W; ++w) {
            sums[r][w] = accumulate ? Vector::load(c + (r * W + w) * 8) : Vector::zero();
        }
    }
    for (std::int64_t k = 0; k < depth; k += 2) {
        typename Vector::Register first[std::size_t{W}], second[std::size_t{W}];
        for (std::int64_t w = 0; w < W; ++w) {
            first[w] = Vector::load(b + w * 8);
            second[w] = Vector::load(b + (W + w) * 8);
        }
        for (std::int64_t r = 0; r < R; ++r) {
            const auto x = Vector::broadcast(a[r]), y = Vector::broadcast(a[R + r]);
            for (std::int64_t w = 0; w < W; ++w) {
                sums[r][w] = Vector::xor3(sums[r][w], Vector::product(x, first[w]), Vector::product(y, second[w]));
            }
        }
        a += std::int64_t{2} * R;
        b += std::int64_t{2} * W * 8;
    }
    for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t w = 0; w < W; ++w) {
            Vector::store(c + (r * W + w) * 8, sums[r][w]);
        }
    }
}

/// to = the sum of the sources' words from `offset` on.
template <class Vector>
inline void sum_words(std::span<const std::uint64_t* const> from, std::int64_t offset, std::int64_t words,
                      std::uint64_t* to) {
    for (std::int64_t i = 0; i < words; i += 8) {
        auto sum = Vector::load(from[0] + offset + i);
        for (std::size_t s = 1; s < from.size(); ++s) {
            sum = Vector::xor3(sum, Vector::load(from[s] + offset + i), Vector::zero());
        }
        Vector::store(to + i, sum);
    }
}

/// c[i] (+)= one tile that lies at `offset` in each of them.
template <class Vector, int W>
inline void block_tile_to_all(const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth,
                              std::span<std::uint64_t* const> c, std::int64_t offset, unsigned adds) {
    constexpr std::int64_t words = std::int64_t{kPanelBlockRows} * W * 8;
    alignas(64) std::uint64_t tile[std::size_t{words}];
    block_tile<Vector, W>(a, b, depth, tile, false);
    for (std::size_t i = 0; i < c.size(); ++i) {
        std::uint64_t* to = c[i] + offset;
        const bool added = ((adds >> i) & 1) != 0;
        for (std::int64_t w = 0; w < words; w += 8) {
            const auto sum = Vector::load(tile + w);
            Vector::store(to + w, added ? Vector::xor3(sum, Vector::load(to + w), Vector::zero()) : sum);
        }
    }
}

/// The sums of B are made panel by panel, in the L1 cache; those of A once, on the way.
template <class Vector>
void block_product_fused(const LeafShape& shape, const FusedOperands& operands) {
    constexpr int R = kPanelBlockRows;
    static_assert(kFusedPanelWords >= kDepthBlocks * 8 * kPanelWords);
    const std::int64_t depth = shape.k / 8, columns = shape.n / 8;
    const std::int64_t groups = shape.m / kGroupRows, tiles = (shape.n / 64 + kPanelWords - 1) / kPanelWords;
    const bool sums_a = operands.a.size() > 1, sums_b = operands.b.size() > 1;
    std::uint64_t* summed_a = operands.scratch;
    std::uint64_t* summed_panel = operands.scratch + shape.m * (shape.k / 64);
    for (std::int64_t from = 0; from < depth; from += kDepthBlocks) {
        const std::int64_t count = depth - from < kDepthBlocks ? depth - from : kDepthBlocks;
        const unsigned adds = from > 0 ? ~0U : operands.adds;
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const std::int64_t left = shape.n / 64 - tile * kPanelWords;
            const int width = left < kPanelWords ? static_cast<int>(left) : kPanelWords;
            const std::int64_t panel_offset = tile * kPanelWords * shape.k + from * 8 * width;
            const std::uint64_t* panel = operands.b[0] + panel_offset;
            if (sums_b) {
                sum_words<Vector>(operands.b, panel_offset, count * 8 * width, summed_panel);
                panel = summed_panel;
            }
            for (std::int64_t group = 0; group < groups; ++group) {
                const std::int64_t rows_offset = (group * depth + from) * R;
                if (sums_a && tile == 0) {
                    sum_words<Vector>(operands.a, rows_offset, count * R, summed_a + rows_offset);
                }
                const std::uint64_t* rows = (sums_a ? summed_a : operands.a[0]) + rows_offset;
                const std::int64_t offset = group * R * columns + tile * kPanelWords * kGroupRows;
                switch (width) {
                    case 4:
                        block_tile_to_all<Vector, 4>(rows, panel, count, operands.c, offset, adds);
                        break;
                    case 3:
                        block_tile_to_all<Vector, 3>(rows, panel, count, operands.c, offset, adds);
                        break;
                    case 2:
                        block_tile_to_all<Vector, 2>(rows, panel, count, operands.c, offset, adds);
                        break;
                    default:
                        block_tile_to_all<Vector, 1>(rows, panel, count, operands.c, offset, adds);
                }
            }
        }
    }
}

template <class Vector>
void block_product(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a, const std::uint64_t* b,
                   std::uint64_t* c, bool accumulate) {
    constexpr int R = kPanelBlockRows;
    const std::int64_t depth = shape.k / 8, columns = shape.n / 8;
    for (std::int64_t from = 0; from < depth || (from == 0 && !accumulate); from += kDepthBlocks) {
        const std::int64_t count = depth - from < kDepthBlocks ? depth - from : kDepthBlocks;
        const bool adds = accumulate || from > 0;
        for (std::int64_t tile = part.first_tile; tile < part.last_tile; ++tile) {
            const std::int64_t left = shape.n / 64 - tile * kPanelWords;
            const int width = left < kPanelWords ? static_cast<int>(left) : kPanelWords;
            const std::uint64_t* panel = b + tile * kPanelWords * shape.k + from * 8 * width;
            for (std::int64_t group = part.first_group; group < part.last_group; ++group) {
                const std::uint64_t* rows = a + (group * depth + from) * R;
                std::uint64_t* out = c + group * R * columns + tile * kPanelWords * kGroupRows;
                switch (width) {
                    case 4:
                        block_tile<Vector, 4>(rows, panel, count, out, adds);
                        break;
                    case 3:
                        block_tile<Vector, 3>(rows, panel, count, out, adds);
                        break;
                    case 2:
                        block_tile<Vector, 2>(rows, panel, count, out, adds);
                        break;
                    default:
                        block_tile<Vector, 1>(rows, panel, count, out, adds);
                }
            }
        }
    }
}

}  // namespace heptad::bits
