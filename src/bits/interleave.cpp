#include "bits/interleave.hpp"

#include "bits/word_sums.hpp"

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

/// The change of basis of every level, for one tile of all blocks.
void change_tiles(const PackedShape& shape, const TileRange& range, std::span<const Change> change,
                  std::uint64_t* packed) {
    const std::int64_t block_words = shape.block_words();
    const WordSum sum = word_sum();
    for (int level = 0; level < shape.levels; ++level) {
        const std::int64_t step = std::int64_t{1} << (2 * level);  // blocks in a quarter
        for (std::int64_t group = 0; group < std::int64_t{1} << (2 * shape.levels); group += 4 * step) {
            for (std::int64_t q = group; q < group + step; ++q) {
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
    }
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

/// task(group, tile, range, width) for every tile of a block; groups in parallel, because two tiles of one row may
/// share a word of the matrix.
template <class Task>
void for_each_tile(const LeafLayout& layout, const PackedShape& shape, ThreadPool& pool, const Task& task) {
    pool.run(shape.rows / kGroupRows, [&](std::int64_t group) {
        for (std::int64_t tile = 0; tile < layout.tiles(shape.cols); ++tile) {
            task(group, tile, layout.range(shape.role, shape.rows, shape.cols, group, tile),
                 layout.width(shape.cols, tile));
        }
    });
}

}  // namespace

void pack(const LeafLayout& layout, const PackedShape& shape, const ConstBitView& view, std::span<const Change> change,
          std::uint64_t* packed, ThreadPool& pool) {
    const std::int64_t blocks = std::int64_t{1} << (2 * shape.levels);
    for_each_tile(layout, shape, pool, [&](std::int64_t group, std::int64_t tile, const TileRange& range, int width) {
        std::uint64_t rows[kGroupRows * kMostTileWords];
        for (std::int64_t q = 0; q < blocks; ++q) {
            const BlockPlace at = place_of(q, shape.levels);
            const std::int64_t row = at.row * shape.rows + group * kGroupRows;
            const std::int64_t word = at.col * (shape.cols / 64) + tile * layout.tile_words();
            std::uint64_t* block = packed + q * shape.block_words();
            if (is_whole(view, row, word, width)) {
                layout.pack(shape.role, range, width, view.words + row * view.stride + word, view.stride, block);
                continue;
            }
            for (std::int64_t r = 0; r < kGroupRows; ++r) {
                load_words(view, row + r, word, width, rows + r * width);
            }
            layout.pack(shape.role, range, width, rows, width, block);
        }
        change_tiles(shape, range, change, packed);
    });
}

void unpack(const LeafLayout& layout, const PackedShape& shape, std::uint64_t* packed, std::span<const Change> change,
            const BitView& view, Store mode, ThreadPool& pool) {
    const std::int64_t blocks = std::int64_t{1} << (2 * shape.levels);
    for_each_tile(layout, shape, pool, [&](std::int64_t group, std::int64_t tile, const TileRange& range, int width) {
        change_tiles(shape, range, change, packed);
        std::uint64_t rows[kGroupRows * kMostTileWords];
        for (std::int64_t q = 0; q < blocks; ++q) {
            const BlockPlace at = place_of(q, shape.levels);
            const std::int64_t row = at.row * shape.rows + group * kGroupRows;
            const std::int64_t word = at.col * (shape.cols / 64) + tile * layout.tile_words();
            if (row >= view.rows || word >= words_of(view.cols)) {
                continue;
            }
            const std::uint64_t* block = packed + q * shape.block_words();
            if (mode == Store::assign && is_whole(view, row, word, width)) {
                layout.unpack(shape.role, range, width, block, view.words + row * view.stride + word, view.stride);
                continue;
            }
            layout.unpack(shape.role, range, width, block, rows, width);
            switch (mode) {
                case Store::assign:
                    store_tile<Store::assign>(view, row, word, width, rows);
                    break;
                case Store::exclusive_or:
                    store_tile<Store::exclusive_or>(view, row, word, width, rows);
                    break;
                case Store::inclusive_or:
                    store_tile<Store::inclusive_or>(view, row, word, width, rows);
                    break;
            }
        }
    });
}

void repack(const LeafLayout& layout, const PackedShape& from_shape, std::uint64_t* from,
            std::span<const Change> out_of, const PackedShape& to_shape, std::uint64_t* to,
            std::span<const Change> into, ThreadPool& pool) {
    const std::int64_t blocks = std::int64_t{1} << (2 * from_shape.levels);
    for_each_tile(
        layout, from_shape, pool, [&](std::int64_t group, std::int64_t tile, const TileRange& range, int width) {
            change_tiles(from_shape, range, out_of, from);
            std::uint64_t rows[kGroupRows * kMostTileWords];
            const TileRange target = layout.range(to_shape.role, to_shape.rows, to_shape.cols, group, tile);
            for (std::int64_t q = 0; q < blocks; ++q) {
                layout.unpack(from_shape.role, range, width, from + q * from_shape.block_words(), rows, width);
                layout.pack(to_shape.role, target, width, rows, width, to + q * to_shape.block_words());
            }
            change_tiles(to_shape, target, into, to);
        });
}

}  // namespace heptad::bits
