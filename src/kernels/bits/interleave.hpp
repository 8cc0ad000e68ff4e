// Between rows of bits and the interleaved layout of the levels (P3 3.5): 4^levels blocks, quarter by quarter (0 1 / 2
// 3 at every level), each packed for the leaf. What the matrix does not reach is zero. The change of basis of all
// levels (P3 3.6) is made on the way, tile by tile, while the tiles of all blocks are in the cache.
#pragma once

#include <span>

#include "base/bit_words.hpp"
#include "base/thread_pool.hpp"
#include "kernels/bits/leaf.hpp"
#include "kernels/bits/level_program.hpp"

namespace heptad::bits {

struct PackedShape {
    Role role = Role::left;
    std::int64_t rows = 0, cols = 0;  // of a block, in bits; multiples of what the layout wants
    int levels = 0;

    std::int64_t block_words() const { return block_stride(rows, cols); }
    std::int64_t words() const { return block_words() << (2 * levels); }
};

/// packed = view, in the basis that `change` leads to.
void pack(const LeafLayout& layout, const PackedShape& shape, const ConstBitView& view, std::span<const Change> change,
          std::uint64_t* packed, ThreadPool& pool);

/// view (+)= packed, after `change`; packed is left changed.
void unpack(const LeafLayout& layout, const PackedShape& shape, std::uint64_t* packed, std::span<const Change> change,
            const BitView& view, Store mode, ThreadPool& pool);

/// A packed matrix that is to be written.
struct PackedTarget {
    PackedShape shape;
    std::uint64_t* words = nullptr;
};

/// From one role to others, block by block: what a chain of products does between two products. `out_of` and `into`
/// change the basis on the way and are empty where the product leaves its result in the basis of the next operands;
/// `from` is left after `out_of`. All shapes have the same rows, columns and levels.
void repack(const LeafLayout& layout, const PackedShape& from_shape, std::uint64_t* from,
            std::span<const Change> out_of, std::span<const PackedTarget> targets, std::span<const Change> into,
            ThreadPool& pool);

}  // namespace heptad::bits
