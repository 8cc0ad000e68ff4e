// Slabs of 512 columns (a cache line per row), for products by table lookup.
//
//   left            for each 32 columns, the 32-bit keys of all rows
//   right, result   slab by slab; in a slab, row by row (the last slab may be narrower)
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

}  // namespace heptad::bits
