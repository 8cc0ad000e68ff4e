// C(i, j) ^= sum over k of A(i, k) * B(k, j) for 8 x 8 blocks over GF(2) in the order of BlockLayout; eight blocks of B
// side by side fill a vector, and a block of A goes to all its lanes. `Vector` says how that is done:
//
//   load, store, zero; broadcast (one word to eight lanes); product (lane by lane, 8 x 8 blocks); Xor::sum2, sum3
//
// Compiled once per instruction set, so nothing here may be shared with other files: no function of the library.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/bits/leaf_layouts.hpp"
#include "kernels/bits/word_sums_kernel.hpp"

namespace heptad::bits {
namespace {

/// Depth in blocks after which a panel of B (32 blocks wide) no longer fits in the L1 cache.
inline constexpr std::int64_t kDepthBlocks = 128;

/// Words of a tile, and of any piece of memory that is made beside one.
inline constexpr std::int64_t kPieceWords = std::int64_t{kPanelBlockRows} * kPanelWords * 8;
inline constexpr std::int64_t kPieceLines = kPieceWords / 8;
static_assert(kLaterPiece == kPieceWords);

/// Queues of later sums that get their turn beside one tile.
inline constexpr std::size_t kMostLater = 6;

/// A piece of memory that becomes the sum of two others, of which it may be one, while a tile is made: a line after
/// each step of the tile. A step keeps the port of the block products busy and little else, so that the sums cost
/// nothing where their lines are in the L2 cache, or come one after the other so that the processor fetches them by
/// itself. (Asking for them a tile ahead by instructions takes longer than that: so many at once stop the loads of the
/// tile.)
struct PieceSum {
    std::uint64_t* to;
    const std::uint64_t* x;
    const std::uint64_t* y;
};

template <class Vector>
inline void make_pieces(std::span<const PieceSum> pieces) {
    for (const PieceSum& piece : pieces) {
        for (std::int64_t i = 0; i < kPieceWords; i += 8) {
            Vector::store(piece.to + i, Vector::Xor::sum2(Vector::load(piece.x + i), Vector::load(piece.y + i)));
        }
    }
}

/// One tile: 4 x 8 W blocks, in steps of two blocks of the even `depth`. Beside every kPieceLines whole steps, `pieces`
/// pieces are made. (One function for each number of them: if that changed on the way, the sums would leave their
/// registers.)
template <class Vector, int W, int pieces>
void block_tile(const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth, std::uint64_t* c, bool accumulate,
                const PieceSum* beside) {
    constexpr int R = kPanelBlockRows;
    typename Vector::Register sums[std::size_t{R}][std::size_t{W}];
    for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t w = 0; w < W; ++w) {
            sums[r][w] = accumulate ? Vector::load(c + (r * W + w) * 8) : Vector::zero();
        }
    }
    const std::uint64_t* const end = a + depth * R;
    const auto step = [&] {
        typename Vector::Register first[std::size_t{W}], second[std::size_t{W}];
        for (std::int64_t w = 0; w < W; ++w) {
            first[w] = Vector::load(b + w * 8);
            second[w] = Vector::load(b + (W + w) * 8);
        }
        for (std::int64_t r = 0; r < R; ++r) {
            const auto x = Vector::broadcast(a[r]), y = Vector::broadcast(a[R + r]);
            for (std::int64_t w = 0; w < W; ++w) {
                sums[r][w] = Vector::Xor::sum3(sums[r][w], Vector::product(x, first[w]), Vector::product(y, second[w]));
            }
        }
        a += std::int64_t{2} * R;
        b += std::int64_t{2} * W * 8;
    };
    if constexpr (pieces > 0) {
        for (std::int64_t runs = depth / (2 * kPieceLines); runs > 0; --runs) {
            for (std::int64_t line = 0; line < kPieceWords; line += 8) {
                step();
                for (int i = 0; i < pieces; ++i) {
                    Vector::store(beside[i].to + line, Vector::Xor::sum2(Vector::load(beside[i].x + line),
                                                                         Vector::load(beside[i].y + line)));
                }
            }
            beside += pieces;
        }
    }
    while (a != end) {
        step();
    }
    for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t w = 0; w < W; ++w) {
            Vector::store(c + (r * W + w) * 8, sums[r][w]);
        }
    }
}

inline constexpr std::uint64_t kZeroPiece[std::size_t{kPieceWords}] = {};

/// What is made beside the next tile.
class BesideTile {
public:
    /// to = the sum of a piece of each source; `to` may be the first of them.
    void add_sum(std::span<const std::uint64_t* const> from, std::int64_t offset, std::uint64_t* to) {
        pieces_[count_++] = {to, from[0] + offset, from.size() > 1 ? from[1] + offset : kZeroPiece};
        for (std::size_t i = 2; i < from.size(); ++i) {
            pieces_[count_++] = {to, to, from[i] + offset};
        }
    }
    /// to (+)= a tile.
    void add_tile(const std::uint64_t* tile, std::uint64_t* to, bool adds) {
        pieces_[count_++] = {to, tile, adds ? to : kZeroPiece};
    }
    /// A piece of the first sum of each queue.
    void add_later(std::span<LaterQueue> queues) {
        std::size_t taken = 0;
        for (LaterQueue& queue : queues) {
            if (queue.first == queue.last || taken == kMostLater) {
                continue;
            }
            DeferredSum& sum = queue.sums[queue.first];
            add_sum({sum.from, static_cast<std::size_t>(sum.count)}, sum.done, sum.to + sum.done);
            sum.done += kLaterPiece;
            queue.first += sum.done == sum.words ? 1 : 0;
            ++taken;
        }
    }
    /// The tile of full width, and all pieces.
    template <class Vector>
    void make_with_tile(const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth, std::uint64_t* tile) {
        const auto runs = static_cast<std::size_t>(depth / (2 * kPieceLines));
        std::size_t each = kMostPerStep;
        for (std::size_t fewer = 0; fewer < kMostPerStep; ++fewer) {
            if (fewer * runs >= count_) {
                each = fewer;
                break;
            }
        }
        while (count_ < each * runs) {  // at most runs - 1 times
            pieces_[count_++] = {unused_, kZeroPiece, kZeroPiece};
        }
        switch (each) {
            case 0:
                block_tile<Vector, kPanelWords, 0>(a, b, depth, tile, false, pieces_);
                break;
            case 1:
                block_tile<Vector, kPanelWords, 1>(a, b, depth, tile, false, pieces_);
                break;
            case 2:
                block_tile<Vector, kPanelWords, 2>(a, b, depth, tile, false, pieces_);
                break;
            case 3:
                block_tile<Vector, kPanelWords, 3>(a, b, depth, tile, false, pieces_);
                break;
            default:
                block_tile<Vector, kPanelWords, kMostPerStep>(a, b, depth, tile, false, pieces_);
        }
        make_pieces<Vector>(std::span(pieces_, count_).subspan(each * runs));
        count_ = 0;
    }
    template <class Vector>
    void make_without_tile() {
        make_pieces<Vector>({pieces_, count_});
        count_ = 0;
    }

private:
    static constexpr std::size_t kMostPerStep = 4;
    static constexpr std::size_t kRowPieces = static_cast<std::size_t>(kDepthBlocks) * kPanelBlockRows / kPieceWords;
    static constexpr std::size_t kMostRuns = static_cast<std::size_t>(kDepthBlocks / (2 * kPieceLines));
    // Blocks of C, rows of a summed A, a piece of a summed panel and of every later sum, and what fills up the runs.
    PieceSum pieces_[kMostFused + kMostFused * (kRowPieces + 1) + DeferredSum::kMostTerms * kMostLater + kMostRuns];
    std::size_t count_ = 0;
    alignas(64) std::uint64_t unused_[std::size_t{kPieceWords}];
};

/// The tile for a panel of `width` vectors.
template <class Vector>
inline void block_tile_of_width(int width, const std::uint64_t* a, const std::uint64_t* b, std::int64_t depth,
                                std::uint64_t* c, bool accumulate) {
    switch (width) {
        case 4:
            return block_tile<Vector, 4, 0>(a, b, depth, c, accumulate, nullptr);
        case 3:
            return block_tile<Vector, 3, 0>(a, b, depth, c, accumulate, nullptr);
        case 2:
            return block_tile<Vector, 2, 0>(a, b, depth, c, accumulate, nullptr);
        default:
            return block_tile<Vector, 1, 0>(a, b, depth, c, accumulate, nullptr);
    }
}

/// to (+)= a tile.
template <class Vector>
inline void add_tile(const std::uint64_t* tile, std::int64_t words, std::uint64_t* to, bool adds) {
    for (std::int64_t w = 0; w < words; w += 8) {
        const auto sum = Vector::load(tile + w);
        Vector::store(to + w, adds ? Vector::Xor::sum2(sum, Vector::load(to + w)) : sum);
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

/// The panel of a sum of B that is wanted next, made piece by piece beside the tiles of the panel before.
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

    /// One piece goes beside the next tile; where that is not enough, because there are few tiles, the rest is made
    /// now.
    template <class Vector>
    void make_piece(BesideTile& beside) {
        const std::int64_t until = done_ + step_ < words_ ? done_ + step_ : words_;
        if (done_ + kPieceWords <= until) {
            beside.add_sum(from_, offset_ + done_, to_ + done_);
            done_ += kPieceWords;
        }
        if (done_ < until) {
            sum_words<Vector>(to_ + done_, from_.data(), static_cast<int>(from_.size()), until - done_,
                              offset_ + done_);
            done_ = until;
        }
    }
    bool is_complete() const { return words_ > 0 && done_ == words_; }

private:
    std::span<const std::uint64_t* const> from_;
    std::int64_t offset_, words_;
    std::uint64_t* to_;
    std::int64_t step_, done_ = 0;
};

/// One product of sums. Those of B are made panel by panel, in the L1 cache; those of A once, group by group; a tile
/// goes from the L1 cache to all its places in C. All of that is made beside tiles: what the next one needs beside the
/// one before, the places in C beside the one after.
template <class Vector>
FirstPanel block_product_fused(const LeafShape& shape, const FusedOperands& operands) {
    constexpr int R = kPanelBlockRows;
    constexpr std::int64_t panel_room = kFusedPanelWords / 2;
    static_assert(panel_room >= kDepthBlocks * 8 * kPanelWords);
    const std::int64_t depth = shape.k / 8, groups = shape.m / kGroupRows;
    const bool sums_a = operands.a.size() > 1, sums_b = operands.b.size() > 1;
    std::uint64_t* summed_a = operands.scratch;
    std::uint64_t* const panels = operands.scratch + shape.m * (shape.k / 64);
    alignas(64) std::uint64_t tiles[2][std::size_t{kPieceWords}];
    std::size_t turn = 0;
    BesideTile beside;
    FirstPanel current = operands.first_panel;
    for (BlockPanel panel(shape, 0, 0); panel.exists(shape); panel = panel.next(shape)) {
        std::uint64_t* summed_panel = panels + current.place * panel_room;
        if (sums_b && !current.made) {
            sum_words<Vector>(summed_panel, operands.b.data(), static_cast<int>(operands.b.size()), panel.words,
                              panel.offset);
        }
        const BlockPanel following = panel.next(shape);
        const bool last = !following.exists(shape);
        const BlockPanel next = last ? BlockPanel(shape, 0, 0) : following;
        const std::span<const std::uint64_t* const> next_b = last ? operands.next_b : operands.b;
        const int next_place = 1 - current.place;
        ComingPanel coming(next_b, next, panels + next_place * panel_room, groups);
        const bool makes_rows = sums_a && panel.tile == 0, rows_in_pieces = panel.count * R % kPieceWords == 0;
        for (std::int64_t group = 0; group < groups; ++group) {
            const std::int64_t rows = (group * depth + panel.from) * R, next_rows = rows + depth * R;
            if (makes_rows && (group == 0 || !rows_in_pieces)) {
                sum_words<Vector>(summed_a + rows, operands.a.data(), static_cast<int>(operands.a.size()),
                                  panel.count * R, rows);
            }
            if (makes_rows && rows_in_pieces && group + 1 < groups) {
                for (std::int64_t i = 0; i < panel.count * R; i += kPieceWords) {
                    beside.add_sum(operands.a, next_rows + i, summed_a + next_rows + i);
                }
            }
            coming.template make_piece<Vector>(beside);
            beside.add_later(operands.later);
            const std::int64_t offset = (panel.tile * shape.m + group * kGroupRows) * kPanelWords;
            const std::uint64_t* const left = (sums_a ? summed_a : operands.a[0]) + rows;
            const std::uint64_t* const right = sums_b ? summed_panel : operands.b[0] + panel.offset;
            std::uint64_t* const tile = tiles[turn];
            const auto adds = [&](std::size_t i) { return panel.from > 0 || ((operands.adds >> i) & 1) != 0; };
            if (panel.width == kPanelWords) {
                beside.template make_with_tile<Vector>(left, right, panel.count, tile);
                for (std::size_t i = 0; i < operands.c.size(); ++i) {
                    beside.add_tile(tile, operands.c[i] + offset, adds(i));
                }
            } else {
                beside.template make_without_tile<Vector>();
                block_tile_of_width<Vector>(panel.width, left, right, panel.count, tile, false);
                const std::int64_t words = std::int64_t{R} * panel.width * 8;
                for (std::size_t i = 0; i < operands.c.size(); ++i) {
                    add_tile<Vector>(tile, words, operands.c[i] + panel.tile * shape.m * kPanelWords + group * words,
                                     adds(i));
                }
            }
            turn = 1 - turn;
        }
        current = {next_place, coming.is_complete()};
    }
    beside.template make_without_tile<Vector>();
    return current;
}

template <class Vector>
void block_product(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a, const std::uint64_t* b,
                   std::uint64_t* c, bool accumulate) {
    constexpr int R = kPanelBlockRows;
    const std::int64_t depth = shape.k / 8;
    for (std::int64_t from = 0; from < depth || (from == 0 && !accumulate); from += kDepthBlocks) {
        const std::int64_t count = depth - from < kDepthBlocks ? depth - from : kDepthBlocks;
        const bool adds = accumulate || from > 0;
        for (std::int64_t tile = part.first_tile; tile < part.last_tile; ++tile) {
            const std::int64_t left = shape.n / 64 - tile * kPanelWords;
            const int width = left < kPanelWords ? static_cast<int>(left) : kPanelWords;
            const std::uint64_t* panel = b + tile * kPanelWords * shape.k + from * 8 * width;
            for (std::int64_t group = part.first_group; group < part.last_group; ++group) {
                const std::uint64_t* rows = a + (group * depth + from) * R;
                std::uint64_t* out = c + tile * kPanelWords * shape.m + group * kGroupRows * width;
                block_tile_of_width<Vector>(width, rows, panel, count, out, adds);
            }
        }
    }
}

}  // namespace
}  // namespace heptad::bits
