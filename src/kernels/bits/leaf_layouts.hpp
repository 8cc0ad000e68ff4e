// How the leaves pack a block.
//
// SlabLayout, for products by table lookup: slabs of 512 columns, a cache line per row.
//
//   left            for each 32 columns, the 32-bit keys of all rows
//   right, result   slab by slab; in a slab, row by row (the last slab may be narrower)
//
// BlockLayout: 8 x 8 blocks, one per word, for the instruction that multiplies such blocks (GF2P8AFFINEQB).
//
//   left     panels of 32 rows; in a panel, for each 8 columns, the four blocks below each other
//   right    panels of up to 256 columns; in a panel, for each 8 rows, its blocks side by side
//   result   panels of up to 256 columns, as of a right operand; in a panel, tiles of 32 rows: four rows of blocks each
//
// In a block of the left operand and of the result, byte i is row i. In one of the right operand byte 7 - j is
// column j: the order in which the instruction wants the rows of its matrix.
#pragma once

#include "kernels/bits/leaf.hpp"

namespace heptad::bits {

inline constexpr int kSlabWords = 8;

class SlabLayout : public LeafLayout {
public:
    /// `column_unit`: bits of the vector that the slabs are read with.
    explicit SlabLayout(std::int64_t column_unit) : LeafLayout(kSlabWords, column_unit) {}
    TileRange range(Role role, std::int64_t rows, std::int64_t cols, std::int64_t group,
                    std::int64_t tile) const override;
    void pack(Role role, const TileRange& range, int width, const std::uint64_t* tile, std::int64_t stride,
              std::uint64_t* block) const override;
    void unpack(Role role, const TileRange& range, int width, const std::uint64_t* block, std::uint64_t* tile,
                std::int64_t stride) const override;
};

inline constexpr int kPanelBlockRows = kGroupRows / 8;
inline constexpr int kPanelWords = 4;  // vectors of 64 columns that a panel has at most

/// Packs or unpacks a tile of full width, 32 x 256 bits; block_pack.hpp.
using BlockPack = void (*)(Role role, const std::uint64_t* tile, std::int64_t stride, std::uint64_t* packed);
using BlockUnpack = void (*)(Role role, const std::uint64_t* packed, std::uint64_t* tile, std::int64_t stride);

class BlockLayout : public LeafLayout {
public:
    /// Tiles of full width go through these; null: through the general way, as narrower ones do.
    explicit BlockLayout(BlockPack pack_full = nullptr, BlockUnpack unpack_full = nullptr)
        : LeafLayout(kPanelWords, 64), pack_full_(pack_full), unpack_full_(unpack_full) {}
    TileRange range(Role role, std::int64_t rows, std::int64_t cols, std::int64_t group,
                    std::int64_t tile) const override;
    void pack(Role role, const TileRange& range, int width, const std::uint64_t* tile, std::int64_t stride,
              std::uint64_t* block) const override;
    void unpack(Role role, const TileRange& range, int width, const std::uint64_t* block, std::uint64_t* tile,
                std::int64_t stride) const override;

private:
    BlockPack pack_full_;
    BlockUnpack unpack_full_;
};

}  // namespace heptad::bits
