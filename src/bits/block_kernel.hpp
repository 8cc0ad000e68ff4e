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

namespace heptad::bits {
namespace {

/// Depth in blocks after which a panel of B (32 blocks wide) no longer fits in the L1 cache.
inline constexpr std::int64_t kDepthBlocks = 128;

/// Words of a tile, and of any piece of memory that is called into the cache while a tile is made.
inline constexpr std::int64_t kPieceWords = std::int64_t{kPanelBlockRows} * kPanelWords * 8;
inline constexpr std::int64_t kPieceLines = kPieceWords / 8;
static_assert(kLaterPiece == kPieceWords);

/// Queues of later sums that get their turn beside one tile.
inline constexpr std::size_t kMostLater = 6;

/// Pieces of memory that are wanted soon. Memory is idle while a tile is made, and the tile's instructions leave room
/// to ask it. (There is no room for the sums themselves: their instructions take the port of the block products.)
class Ahead {
public:
    /// Into the L1 cache, to be changed after the tile.
    void add_written(const std::uint64_t* piece) { written_[written_count_++] = piece; }
    /// `pieces` of each source: into the L1 cache, to be summed after the tile.
    void add_near(std::span<const std::uint64_t* const> from, std::int64_t offset, std::int64_t pieces) {
        for (const std::uint64_t* source : from) {
            for (std::int64_t i = 0; i < pieces; ++i) {
                near_[near_count_++] = source + offset + i * kPieceWords;
            }
        }
    }
    /// The same for what is wanted later, into the L2 cache.
    void add_far(std::span<const std::uint64_t* const> from, std::int64_t offset, std::int64_t pieces) {
        for (const std::uint64_t* source : from) {
            for (std::int64_t i = 0; i < pieces; ++i) {
                far_[far_count_++] = source + offset + i * kPieceWords;
            }
        }
    }
    /// Called kPieceLines times during a tile, which asks for all lines: what is wanted after it in the first half.
    void ask_for_lines(std::int64_t step) const {
        if (2 * step < kPieceLines) {
            ask_for_near_line(2 * step);
            ask_for_near_line(2 * step + 1);
        }
        for (std::size_t i = 0; i < far_count_; ++i) {
            __builtin_prefetch(far_[i] + step * 8, 0, 2);
        }
    }

private:
    void ask_for_near_line(std::int64_t line) const {
        for (std::size_t i = 0; i < written_count_; ++i) {
            __builtin_prefetch(written_[i] + line * 8, 1, 3);
        }
        for (std::size_t i = 0; i < near_count_; ++i) {
            __builtin_prefetch(near_[i] + line * 8, 0, 3);
        }
    }

    static constexpr std::size_t kRowPieces = static_cast<std::size_t>(kDepthBlocks) * kPanelBlockRows / kPieceWords;
    // Blocks of C, rows of a summed A, a piece of a summed panel and of every later sum.
    const std::uint64_t* written_[kMostFused + kRowPieces + 1 + kMostLater];
    // Of each term of B one piece, of A the rows of a group, and the terms of later sums.
    const std::uint64_t* near_[kMostFused * (1 + kRowPieces) + LaterSum::kMostTerms * kMostLater];
    const std::uint64_t* far_[kMostFused * (1 + kRowPieces)];
    std::size_t written_count_ = 0, near_count_ = 0, far_count_ = 0;
};

/// One tile: 4 x 8 W blocks. `depth` is even.
template <class Vector, int W>
inline void block_tile(const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth, std::uint64_t* c,
                       bool accumulate, const Ahead& ahead) {
    constexpr int R = kPanelBlockRows;
    typename Vector::Register sums[std::size_t{R}][std::size_t{W}];
    for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t w = 0; w < W; ++w) {
            sums[r][w] = accumulate ? Vector::load(c + (r * W + w) * 8) : Vector::zero();
        }
    }
    for (std::int64_t line = 0, k = 0; line < kPieceLines; ++line) {
        ahead.ask_for_lines(line);
        for (const std::int64_t until = depth / 2 * (line + 1) / kPieceLines; k < until; ++k) {
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
                                std::uint64_t* c, bool accumulate, const Ahead& ahead) {
    switch (width) {
        case 4:
            return block_tile<Vector, 4>(a, b, depth, c, accumulate, ahead);
        case 3:
            return block_tile<Vector, 3>(a, b, depth, c, accumulate, ahead);
        case 2:
            return block_tile<Vector, 2>(a, b, depth, c, accumulate, ahead);
        default:
            return block_tile<Vector, 1>(a, b, depth, c, accumulate, ahead);
    }
}

/// to = the sum of `terms` sources, or of so many more as there are if it is 4; from `offset` on.
template <class Vector, int terms>
inline void sum_terms(std::span<const std::uint64_t* const> from, std::int64_t offset, std::int64_t words,
                      std::uint64_t* to) {
    // Copies, which the stores below cannot reach: the compiler keeps them in registers.
    const std::uint64_t* source[std::size_t{terms}];
    for (std::size_t t = 0; t < terms; ++t) {
        source[t] = from[t] + offset;
    }
    for (std::int64_t i = 0; i < words; i += 8) {
        auto sum = Vector::load(source[0] + i);
        if constexpr (terms == 2) {
            sum = Vector::xor3(sum, Vector::load(source[1] + i), Vector::zero());
        } else if constexpr (terms == 3) {
            sum = Vector::xor3(sum, Vector::load(source[1] + i), Vector::load(source[2] + i));
        } else if constexpr (terms == 4) {
            sum = Vector::xor3(sum, Vector::load(source[1] + i), Vector::load(source[2] + i));
            sum = Vector::xor3(sum, Vector::load(source[3] + i), Vector::zero());
            for (std::size_t t = 4; t < from.size(); ++t) {
                sum = Vector::xor3(sum, Vector::load(from[t] + offset + i), Vector::zero());
            }
        }
        Vector::store(to + i, sum);
    }
}

template <class Vector>
inline void sum_words(std::span<const std::uint64_t* const> from, std::int64_t offset, std::int64_t words,
                      std::uint64_t* to) {
    switch (from.size()) {
        case 1:
            return sum_terms<Vector, 1>(from, offset, words, to);
        case 2:
            return sum_terms<Vector, 2>(from, offset, words, to);
        case 3:
            return sum_terms<Vector, 3>(from, offset, words, to);
        default:
            return sum_terms<Vector, 4>(from, offset, words, to);
    }
}

/// The pieces of later sums that are made after a tile, from what is called in during the tile.
class LaterPieces {
public:
    LaterPieces(std::span<LaterQueue> queues, Ahead& ahead) {
        for (LaterQueue& queue : queues) {
            if (queue.first == queue.last || count_ == kMostLater) {
                continue;
            }
            const LaterSum& sum = queue.sums[queue.first];
            ahead.add_near({sum.from, static_cast<std::size_t>(sum.count)}, sum.done, 1);
            ahead.add_written(sum.to + sum.done);
            queues_[count_++] = &queue;
        }
    }
    template <class Vector>
    void make() const {
        for (std::size_t i = 0; i < count_; ++i) {
            LaterSum& sum = queues_[i]->sums[queues_[i]->first];
            sum_words<Vector>({sum.from, static_cast<std::size_t>(sum.count)}, sum.done, kLaterPiece,
                              sum.to + sum.done);
            sum.done += kLaterPiece;
            queues_[i]->first += sum.done == sum.words ? 1 : 0;
        }
    }

private:
    LaterQueue* queues_[kMostLater];
    std::size_t count_ = 0;
};

/// to (+)= a tile.
template <class Vector>
inline void add_tile(const std::uint64_t* tile, std::int64_t words, std::uint64_t* to, bool adds) {
    for (std::int64_t w = 0; w < words; w += 8) {
        const auto sum = Vector::load(tile + w);
        Vector::store(to + w, adds ? Vector::xor3(sum, Vector::load(to + w), Vector::zero()) : sum);
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

/// The panel of a sum of B that is wanted next, made piece by piece after the tiles of the panel before.
class ComingPanel {
public:
    /// `tiles`: how many come before the panel is wanted.
    ComingPanel(std::span<const std::uint64_t* const> from, const BlockPanel& panel, std::uint64_t* to,
                std::int64_t tiles)
        : from_(from),
          offset_(panel.offset),
          words_(from.size() > 1 ? panel.words : 0),
          to_(to),
          step_((words_ + tiles * kPieceWords - 1) / (tiles * kPieceWords) * kPieceWords) {}

    void call_in(Ahead& ahead) const {
        if (done_ < words_) {
            ahead.add_near(from_, offset_ + done_, 1);
            ahead.add_written(to_ + done_);
        }
    }
    template <class Vector>
    void make_piece() {
        const std::int64_t left = words_ - done_;
        if (left > 0) {
            const std::int64_t count = left < step_ ? left : step_;
            sum_words<Vector>(from_, offset_ + done_, count, to_ + done_);
            done_ += count;
        }
    }
    bool is_complete() const { return words_ > 0 && done_ == words_; }

private:
    std::span<const std::uint64_t* const> from_;
    std::int64_t offset_, words_;
    std::uint64_t* to_;
    std::int64_t step_, done_ = 0;
};

/// One product of sums. Those of B are made panel by panel, in the L1 cache; those of A once, on the way; a tile goes
/// from the L1 cache to all its places in C. What comes next is called in meanwhile.
template <class Vector>
FirstPanel block_product_fused(const LeafShape& shape, const FusedOperands& operands) {
    constexpr int R = kPanelBlockRows;
    constexpr std::int64_t panel_room = kFusedPanelWords / 2;
    static_assert(panel_room >= kDepthBlocks * 8 * kPanelWords);
    const std::int64_t depth = shape.k / 8, groups = shape.m / kGroupRows;
    const bool sums_a = operands.a.size() > 1, sums_b = operands.b.size() > 1;
    std::uint64_t* summed_a = operands.scratch;
    std::uint64_t* const panels = operands.scratch + shape.m * (shape.k / 64);
    alignas(64) std::uint64_t tile[std::size_t{kPieceWords}];
    FirstPanel current = operands.first_panel;
    for (BlockPanel panel(shape, 0, 0); panel.exists(shape); panel = panel.next(shape)) {
        std::uint64_t* summed_panel = panels + current.place * panel_room;
        if (sums_b && !current.made) {
            sum_words<Vector>(operands.b, panel.offset, panel.words, summed_panel);
        }
        const BlockPanel following = panel.next(shape);
        const bool last = !following.exists(shape);
        const BlockPanel next = last ? BlockPanel(shape, 0, 0) : following;
        const std::span<const std::uint64_t* const> next_b = last ? operands.next_b : operands.b;
        const int next_place = 1 - current.place;
        ComingPanel coming(next_b, next, panels + next_place * panel_room, groups);
        const std::int64_t row_pieces = panel.count * R / kPieceWords;
        for (std::int64_t group = 0; group < groups; ++group) {
            const std::int64_t rows = (group * depth + panel.from) * R, next_rows = rows + depth * R;
            if (sums_a && panel.tile == 0) {
                sum_words<Vector>(operands.a, rows, panel.count * R, summed_a + rows);
            }
            const std::int64_t offset = group * R * (shape.n / 8) + panel.tile * kPanelWords * kGroupRows;
            Ahead ahead;
            for (const std::uint64_t* to : operands.c) {
                ahead.add_written(to + offset);
            }
            coming.call_in(ahead);
            if (next_b.size() == 1 && (group + 1) * kPieceWords <= next.words) {
                ahead.add_far(next_b, next.offset + group * kPieceWords, 1);
            }
            if (panel.tile == 0 && group + 1 < groups && sums_a) {
                ahead.add_near(operands.a, next_rows, row_pieces);
                for (std::int64_t i = 0; i < row_pieces; ++i) {
                    ahead.add_written(summed_a + next_rows + i * kPieceWords);
                }
            } else if (panel.tile == 0 && group + 1 < groups) {
                ahead.add_far(operands.a, next_rows, row_pieces);
            } else if (last && group + 1 == groups) {
                ahead.add_near(operands.next_a, 0, row_pieces);
            }
            const LaterPieces later(operands.later, ahead);
            block_tile_of_width<Vector>(panel.width, (sums_a ? summed_a : operands.a[0]) + rows,
                                        sums_b ? summed_panel : operands.b[0] + panel.offset, panel.count, tile, false,
                                        ahead);
            for (std::size_t i = 0; i < operands.c.size(); ++i) {
                add_tile<Vector>(tile, std::int64_t{R} * panel.width * 8, operands.c[i] + offset,
                                 panel.from > 0 || ((operands.adds >> i) & 1) != 0);
            }
            later.template make<Vector>();
            coming.template make_piece<Vector>();
        }
        current = {next_place, coming.is_complete()};
    }
    return current;
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
                block_tile_of_width<Vector>(width, rows, panel, count, out, adds, {});
            }
        }
    }
}

}  // namespace
}  // namespace heptad::bits
