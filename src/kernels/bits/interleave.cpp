#include "kernels/bits/interleave.hpp"

#include <algorithm>

#include "kernels/bits/word_sums.hpp"

namespace heptad::bits {
namespace {

/// Row and column, in blocks, of block number q.
struct BlockPlace {
    std::int64_t row = 0, col = 0;
};
BlockPlace place_of(std::int64_t q, int levels) {
    BlockPlace place;
    for (int shift = 2 * (levels - 1); shift >= 0; shift -= 2) {
        const std::int64_t quarter = (q >> shift) & 3;
        place.row = 2 * place.row + quarter / 2;
        place.col = 2 * place.col + quarter % 2;
    }
    return place;
}
/// The inverse.
std::int64_t block_at(const BlockPlace& place, int levels) {
    std::int64_t q = 0;
    for (int level = levels - 1; level >= 0; --level) {
        q = 4 * q + 2 * ((place.row >> level) & 1) + ((place.col >> level) & 1);
    }
    return q;
}

/// So many levels at a time: their 256 tiles, two side by side, take a quarter of an L2 cache of 2 MiB.
constexpr int kLevelsTogether = 4;

/// A square of 4^levels blocks from number `first` on, which is a multiple of that.
struct Square {
    std::int64_t first = 0;
    int levels = 0;

    std::int64_t blocks() const { return std::int64_t{1} << (2 * levels); }
    Square quarter(int i) const { return {first + i * (blocks() / 4), levels - 1}; }
};

/// task(q, below) for every block of the square, row by row: whole rows of the matrix are read one line after another.
/// `below` is the block in the next row, or negative.
template <class Task>
void for_each_block(const Square& square, const Task& task) {
    const std::int64_t side = std::int64_t{1} << square.levels;
    for (std::int64_t row = 0; row < side; ++row) {
        for (std::int64_t col = 0; col < side; ++col) {
            task(square.first + block_at({row, col}, square.levels),
                 row + 1 < side ? square.first + block_at({row + 1, col}, square.levels) : -1);
        }
    }
}

/// The change of basis of the topmost level of a square, for one tile of its blocks.
void change_topmost(const PackedShape& shape, const TileRange& range, std::span<const Change> change,
                    const Square& square, std::uint64_t* packed) {
    const std::int64_t block_words = shape.block_words(), step = square.blocks() / 4;
    const WordSum sum = word_sum();
    for (std::int64_t q = square.first; q < square.first + step; ++q) {
        for (const Change& c : change) {
            for (std::int64_t run = 0; run < range.runs; ++run) {
                const std::int64_t offset = range.offset + run * range.stride;
                std::uint64_t* to = packed + (q + c.to * step) * block_words + offset;
                const std::uint64_t* from = packed + (q + c.from * step) * block_words + offset;
                sum(to, &from, 1, range.length, true);
            }
        }
    }
}

/// The change of every level of a square, for one tile of its blocks. Levels may be changed in any order; quarter by
/// quarter, two of them find their 16 tiles in the L1 cache.
void change_square(const PackedShape& shape, const TileRange& range, std::span<const Change> change,
                   const Square& square, std::uint64_t* packed) {
    if (square.levels == 0 || change.empty()) {
        return;
    }
    for (int i = 0; i < 4; ++i) {
        change_square(shape, range, change, square.quarter(i), packed);
    }
    change_topmost(shape, range, change, square, packed);
}

Square whole_square(const PackedShape& shape) {
    return {0, shape.levels};
}

template <Store mode>
void store_tile(const BitView& view, std::int64_t row, std::int64_t word, int width, const std::uint64_t* tile) {
    for (std::int64_t r = 0; r < kGroupRows; ++r) {
        store_words<mode>(view, row + r, word, width, tile + r * width);
    }
}

/// A tile of the matrix that consists of whole words of whole rows, so that it can be read and written in place.
bool is_whole(const ConstBitView& view, std::int64_t row, std::int64_t word, int width) {
    return view.offset == 0 && row + kGroupRows <= view.rows && (word + width) * kWordBits <= view.cols;
}

/// A tile of all blocks.
struct Tile {
    std::int64_t group, number;
    TileRange range;
    int width;
};

/// task(tiles) for every tile, together with those that share cache lines of the matrix with it; groups in parallel,
/// because two tiles of one row may share a word.
template <class Task>
void for_each_line_of_tiles(const LeafLayout& layout, const PackedShape& shape, ThreadPool& pool, const Task& task) {
    constexpr int line_words = 8;
    const std::int64_t together = std::max(1, line_words / layout.tile_words());
    pool.run(shape.rows / kGroupRows, [&](std::int64_t group) {
        Tile tiles[line_words];
        const std::int64_t count = layout.tiles(shape.cols);
        for (std::int64_t first = 0; first < count; first += together) {
            const std::int64_t last = std::min(first + together, count);
            for (std::int64_t tile = first; tile < last; ++tile) {
                tiles[tile - first] = {group, tile, layout.range(shape.role, shape.rows, shape.cols, group, tile),
                                       layout.width(shape.cols, tile)};
            }
            task(std::span<const Tile>(tiles, static_cast<std::size_t>(last - first)));
        }
    });
}

/// Where tile `tile` of block q lies in the matrix.
struct MatrixPlace {
    std::int64_t row, word;
};
MatrixPlace place_in_matrix(const LeafLayout& layout, const PackedShape& shape, std::int64_t q, const Tile& tile) {
    const BlockPlace at = place_of(q, shape.levels);
    return {at.row * shape.rows + tile.group * kGroupRows,
            at.col * (shape.cols / 64) + tile.number * layout.tile_words()};
}

/// Asks for the lines of a block that is worked on a row of blocks later: the processor does not see by itself that so
/// many rows are read side by side. (Always inline: GCC takes a function that only asks for lines for one without
/// effect, and drops its calls.)
__attribute__((always_inline)) inline void call_in_rows(const ConstBitView& view, const MatrixPlace& at,
                                                        bool to_write) {
    if (at.word >= words_of(view.cols)) {
        return;
    }
    const std::int64_t last = std::min(at.row + kGroupRows, view.rows);
    for (std::int64_t row = at.row; row < last; ++row) {
        const std::uint64_t* line = view.words + row * view.stride + at.word;
        if (to_write) {
            __builtin_prefetch(line, 1, 2);
        } else {
            __builtin_prefetch(line, 0, 2);
        }
    }
}
__attribute__((always_inline)) inline void call_in_packed(std::span<const Tile> tiles, const std::uint64_t* block) {
    constexpr std::int64_t line_words = 8;
    for (const Tile& tile : tiles) {
        for (std::int64_t run = 0; run < tile.range.runs; ++run) {
            const std::uint64_t* words = block + tile.range.offset + run * tile.range.stride;
            for (std::int64_t w = 0; w < tile.range.length; w += line_words) {
                __builtin_prefetch(words + w, 1, 2);
            }
        }
    }
}

void pack_tile(const LeafLayout& layout, Role role, const Tile& tile, const ConstBitView& view, const MatrixPlace& at,
               std::uint64_t* block) {
    if (is_whole(view, at.row, at.word, tile.width)) {
        layout.pack(role, tile.range, tile.width, view.words + at.row * view.stride + at.word, view.stride, block);
        return;
    }
    std::uint64_t rows[kGroupRows * kMostTileWords];
    for (std::int64_t r = 0; r < kGroupRows; ++r) {
        load_words(view, at.row + r, at.word, tile.width, rows + r * tile.width);
    }
    layout.pack(role, tile.range, tile.width, rows, tile.width, block);
}

void unpack_tile(const LeafLayout& layout, Role role, const Tile& tile, const std::uint64_t* block, const BitView& view,
                 const MatrixPlace& at, Store mode) {
    if (at.row >= view.rows || at.word >= words_of(view.cols)) {
        return;
    }
    if (mode == Store::assign && is_whole(view, at.row, at.word, tile.width)) {
        layout.unpack(role, tile.range, tile.width, block, view.words + at.row * view.stride + at.word, view.stride);
        return;
    }
    std::uint64_t rows[kGroupRows * kMostTileWords];
    layout.unpack(role, tile.range, tile.width, block, rows, tile.width);
    switch (mode) {
        case Store::assign:
            return store_tile<Store::assign>(view, at.row, at.word, tile.width, rows);
        case Store::exclusive_or:
            return store_tile<Store::exclusive_or>(view, at.row, at.word, tile.width, rows);
        case Store::inclusive_or:
            return store_tile<Store::inclusive_or>(view, at.row, at.word, tile.width, rows);
    }
}

}  // namespace

void pack(const LeafLayout& layout, const PackedShape& shape, const ConstBitView& view, std::span<const Change> change,
          std::uint64_t* packed, ThreadPool& pool) {
    for_each_line_of_tiles(layout, shape, pool, [&](std::span<const Tile> tiles) {
        const auto pack_square = [&](const auto& self, const Square& square) -> void {
            if (square.levels <= kLevelsTogether) {
                for_each_block(square, [&](std::int64_t q, std::int64_t below) {
                    if (below >= 0) {
                        call_in_rows(view, place_in_matrix(layout, shape, below, tiles[0]), false);
                        call_in_packed(tiles, packed + below * shape.block_words());
                    }
                    for (const Tile& tile : tiles) {
                        pack_tile(layout, shape.role, tile, view, place_in_matrix(layout, shape, q, tile),
                                  packed + q * shape.block_words());
                    }
                });
                for (const Tile& tile : tiles) {
                    change_square(shape, tile.range, change, square, packed);
                }
                return;
            }
            for (int i = 0; i < 4; ++i) {
                self(self, square.quarter(i));
            }
            for (const Tile& tile : tiles) {
                change_topmost(shape, tile.range, change, square, packed);
            }
        };
        pack_square(pack_square, whole_square(shape));
    });
}

void unpack(const LeafLayout& layout, const PackedShape& shape, std::uint64_t* packed, std::span<const Change> change,
            const BitView& view, Store mode, ThreadPool& pool) {
    for_each_line_of_tiles(layout, shape, pool, [&](std::span<const Tile> tiles) {
        const auto unpack_square = [&](const auto& self, const Square& square) -> void {
            if (square.levels <= kLevelsTogether) {
                for (const Tile& tile : tiles) {
                    change_square(shape, tile.range, change, square, packed);
                }
                for_each_block(square, [&](std::int64_t q, std::int64_t below) {
                    if (below >= 0) {
                        call_in_rows(view, place_in_matrix(layout, shape, below, tiles[0]), true);
                    }
                    for (const Tile& tile : tiles) {
                        unpack_tile(layout, shape.role, tile, packed + q * shape.block_words(), view,
                                    place_in_matrix(layout, shape, q, tile), mode);
                    }
                });
                return;
            }
            for (const Tile& tile : tiles) {
                change_topmost(shape, tile.range, change, square, packed);
            }
            for (int i = 0; i < 4; ++i) {
                self(self, square.quarter(i));
            }
        };
        unpack_square(unpack_square, whole_square(shape));
    });
}

void repack(const LeafLayout& layout, const PackedShape& from_shape, std::uint64_t* from,
            std::span<const Change> out_of, std::span<const PackedTarget> targets, std::span<const Change> into,
            ThreadPool& pool) {
    const std::int64_t blocks = std::int64_t{1} << (2 * from_shape.levels);
    for_each_line_of_tiles(layout, from_shape, pool, [&](std::span<const Tile> tiles) {
        for (const Tile& tile : tiles) {
            change_square(from_shape, tile.range, out_of, whole_square(from_shape), from);
            const auto range_in = [&](const PackedTarget& target) {
                return layout.range(target.shape.role, target.shape.rows, target.shape.cols, tile.group, tile.number);
            };
            std::uint64_t rows[kGroupRows * kMostTileWords];
            for (std::int64_t q = 0; q < blocks; ++q) {
                layout.unpack(from_shape.role, tile.range, tile.width, from + q * from_shape.block_words(), rows,
                              tile.width);
                for (const PackedTarget& target : targets) {
                    layout.pack(target.shape.role, range_in(target), tile.width, rows, tile.width,
                                target.words + q * target.shape.block_words());
                }
            }
            for (const PackedTarget& target : targets) {
                change_square(target.shape, range_in(target), into, whole_square(target.shape), target.words);
            }
        }
    });
}

}  // namespace heptad::bits
