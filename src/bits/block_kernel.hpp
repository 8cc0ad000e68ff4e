// C(i, j) ^= sum over k of A(i, k) * B(k, j) for 8 x 8 blocks over GF(2) in the order of BlockLayout; eight blocks of B
// side by side fill a vector, and a block of A goes to all its lanes. `Vector` says how that is done:
//
//   load, store, zero; broadcast (one word to eight lanes); product (lane by lane, 8 x 8 blocks); xor3
//
// Compiled once per instruction set, so nothing here may be shared with other files: no function of the library.
#pragma once

#include <cstddef>
#include <span>

#include "bits/block_layout.hpp"
#include "bits/side_work.hpp"

namespace heptad::bits {

/// Depth in blocks after which a panel of B (32 blocks wide) no longer fits in the L1 cache.
inline constexpr std::int64_t kDepthBlocks = 128;

/// One tile: 4 x 8 W blocks. `depth` is even; `side` may be null.
template <class Vector, int W>
inline void block_tile(const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth, std::uint64_t* c,
                       bool accumulate, const SideWork<Vector>* side = nullptr) {
    constexpr int R = kPanelBlockRows;
    constexpr std::int64_t steps = SideWork<Vector>::kSteps;
    typename Vector::Register sums[std::size_t{R}][std::size_t{W}];
    for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t w = 0; w < W; ++w) {
            sums[r][w] = accumulate ? Vector::load(c + (r * W + w) * 8) : Vector::zero();
        }
    }
    for (std::int64_t step = 0, k = 0; step < steps; ++step) {
        if (side != nullptr) {
            side->step(step);
        }
        for (const std::int64_t until = depth / 2 * (step + 1) / steps; k < until; ++k) {
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
    }
    for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t w = 0; w < W; ++w) {
            Vector::store(c + (r * W + w) * 8, sums[r][w]);
        }
    }
}

/// The tile for a panel of `width` vectors.
template <class Vector>
inline void block_tile_of_width(int width, const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth,
                                std::uint64_t* c, bool accumulate, const SideWork<Vector>* side = nullptr) {
    switch (width) {
        case 4:
            return block_tile<Vector, 4>(a, b, depth, c, accumulate, side);
        case 3:
            return block_tile<Vector, 3>(a, b, depth, c, accumulate, side);
        case 2:
            return block_tile<Vector, 2>(a, b, depth, c, accumulate, side);
        default:
            return block_tile<Vector, 1>(a, b, depth, c, accumulate, side);
    }
}

/// A part of B that stays in the cache while it meets all rows of A: up to 1024 rows and 256 columns.
struct BlockPanel {
    std::int64_t from = 0, count = 0;  // blocks of the depth
    std::int64_t tile = 0;
    int width = 0;
    std::int64_t offset = 0, words = 0;  // in the packed operand

    BlockPanel(const LeafShape& shape, std::int64_t first, std::int64_t number) : from(first), tile(number) {
        const std::int64_t left = shape.n / 64 - tile * kPanelWords, depth = shape.k / 8 - from;
        width = left < kPanelWords ? static_cast<int>(left) : kPanelWords;
        count = depth < kDepthBlocks ? depth : kDepthBlocks;
        offset = tile * kPanelWords * shape.k + from * 8 * width;
        words = count * 8 * width;
    }
    bool exists(const LeafShape& shape) const { return from < shape.k / 8; }
    BlockPanel next(const LeafShape& shape) const {
        const bool last = (tile + 1) * kPanelWords * 64 >= shape.n;
        return last ? BlockPanel(shape, from + kDepthBlocks, 0) : BlockPanel(shape, from, tile + 1);
    }
};

/// One product of sums, whose parts are made beside the tiles: the next panel of B, the next rows of A, and the way of
/// the last tile to its quarters of C.
template <class Vector>
class FusedBlockProduct {
public:
    FusedBlockProduct(const LeafShape& shape, const FusedOperands& operands)
        : shape_(shape),
          operands_(operands),
          depth_(shape.k / 8),
          groups_(shape.m / kGroupRows),
          sums_a_(operands.a.size() > 1),
          sums_b_(operands.b.size() > 1),
          summed_a_(operands.scratch) {
        std::uint64_t* panels = summed_a_ + shape.m * (shape.k / 64);
        panels_[0] = panels;
        panels_[1] = panels + kFusedPanelWords / 2;
    }

    void run() {
        BlockPanel panel(shape_, 0, 0);
        if (sums_b_) {
            at_once(panels_[0], operands_.b, panel.offset, panel.words);
        }
        for (int parity = 0; panel.exists(shape_); parity = 1 - parity) {
            const BlockPanel next = panel.next(shape_);
            if (panel.tile == 0 && sums_a_) {
                at_once(summed_a_ + panel.from * R, operands_.a, panel.from * R, panel.count * R);
            }
            for (std::int64_t group = 0; group < groups_; ++group) {
                SideWork<Vector> side;
                finish_tile(side);
                prepare_panel(side, panel, next, group, panels_[1 - parity]);
                prepare_rows(side, panel, next, group);
                const std::int64_t rows = (group * depth_ + panel.from) * R;
                const std::int64_t offset = group * R * (shape_.n / 8) + panel.tile * kPanelWords * kGroupRows;
                const std::int64_t words = std::int64_t{R} * panel.width * 8;
                for (const std::uint64_t* to : operands_.c) {
                    side.call_near(to + offset, words);
                }
                tile_number_ = 1 - tile_number_;
                block_tile_of_width<Vector>(panel.width, (sums_a_ ? summed_a_ : operands_.a[0]) + rows,
                                            sums_b_ ? panels_[parity] : operands_.b[0] + panel.offset, panel.count,
                                            tiles_[tile_number_], false, &side);
                finished_ = {tiles_[tile_number_]};
                finished_offset_ = offset;
                finished_words_ = words;
                finished_adds_ = panel.from > 0 ? ~0U : operands_.adds;
            }
            panel = next;
        }
        SideWork<Vector> side;
        finish_tile(side);
        side.all_steps();
    }

private:
    static constexpr int R = kPanelBlockRows;

    static void at_once(std::uint64_t* to, std::span<const std::uint64_t* const> from, std::int64_t offset,
                        std::int64_t words) {
        SideWork<Vector> side;
        side.sum(to, from, offset, words, false, 0);
        side.all_steps();
    }

    /// The tile before this one goes to its quarters of C.
    void finish_tile(SideWork<Vector>& side) const {
        for (std::size_t i = 0; finished_words_ > 0 && i < operands_.c.size(); ++i) {
            side.sum(operands_.c[i] + finished_offset_, {&finished_, 1}, 0, finished_words_,
                     ((finished_adds_ >> i) & 1) != 0, 0);
        }
    }

    /// A share of the next panel of B, or of the first one of the next product.
    void prepare_panel(SideWork<Vector>& side, const BlockPanel& panel, const BlockPanel& next, std::int64_t group,
                       std::uint64_t* to) const {
        const bool here = next.exists(shape_);
        const std::int64_t all = here ? next.words : panel.words, lines = all / 8;
        const std::int64_t first = lines * group / groups_ * 8, words = lines * (group + 1) / groups_ * 8 - first;
        if (!here) {
            side.call(operands_.next_b, first, words);
        } else if (sums_b_) {
            side.sum(to + first, operands_.b, next.offset + first, words, false, first + 2 * words <= all ? words : 0);
        } else {
            side.call(operands_.b, next.offset + first, words);
        }
    }

    /// The next rows of A, or the first ones of the next product.
    void prepare_rows(SideWork<Vector>& side, const BlockPanel& panel, const BlockPanel& next,
                      std::int64_t group) const {
        const std::int64_t words = panel.count * R;
        const std::int64_t rows = ((group + 1) * depth_ + panel.from) * R;
        if (group + 1 == groups_) {
            if (!next.exists(shape_)) {
                side.call(operands_.next_a, 0, words);
            }
        } else if (panel.tile == 0 && sums_a_) {
            side.sum(summed_a_ + rows, operands_.a, rows, words, false, group + 2 < groups_ ? depth_ * R : 0);
        } else if (panel.tile == 0) {
            side.call(operands_.a, rows, words);
        }
    }

    const LeafShape& shape_;
    const FusedOperands& operands_;
    std::int64_t depth_, groups_;  // in blocks, in groups of rows
    bool sums_a_, sums_b_;
    std::uint64_t* summed_a_;
    std::uint64_t* panels_[2];
    alignas(64) std::uint64_t tiles_[2][std::size_t{R} * kPanelWords * 8];
    int tile_number_ = 0;
    const std::uint64_t* finished_ = nullptr;
    std::int64_t finished_offset_ = 0, finished_words_ = 0;
    unsigned finished_adds_ = 0;
};

template <class Vector>
void block_product_fused(const LeafShape& shape, const FusedOperands& operands) {
    FusedBlockProduct<Vector>(shape, operands).run();
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
                block_tile_of_width<Vector>(width, rows, panel, count, out, adds);
            }
        }
    }
}

}  // namespace heptad::bits
