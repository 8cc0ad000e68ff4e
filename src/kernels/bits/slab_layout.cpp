#include "kernels/bits/slab_layout.hpp"

#include <algorithm>

namespace heptad::bits {

TileRange SlabLayout::range(Role role, std::int64_t rows, std::int64_t cols, std::int64_t group,
                            std::int64_t tile) const {
    const int words = width(cols, tile);
    if (role == Role::left) {
        constexpr std::int64_t length = kGroupRows / 2;  // words of 32 keys
        return {tile * kSlabWords * rows + group * length, length, std::int64_t{2} * words, rows / 2};
    }
    const std::int64_t length = std::int64_t{kGroupRows} * words;
    return {tile * kSlabWords * rows + group * length, length, 1, 0};
}

void SlabLayout::pack(Role role, const TileRange& range, int width, const std::uint64_t* tile, std::int64_t stride,
                      std::uint64_t* block) const {
    std::uint64_t* packed = block + range.offset;
    if (role != Role::left) {
        for (std::int64_t r = 0; r < kGroupRows; ++r) {
            std::copy_n(tile + r * stride, width, packed + r * width);
        }
        return;
    }
    for (std::int64_t w = 0; w < width; ++w) {
        std::uint64_t* low = packed + 2 * w * range.stride;
        std::uint64_t* high = low + range.stride;
        for (std::int64_t pair = 0; pair < kGroupRows / 2; ++pair) {
            const std::uint64_t even = tile[2 * pair * stride + w], odd = tile[(2 * pair + 1) * stride + w];
            low[pair] = (even & 0xffffffffU) | (odd << 32);
            high[pair] = (even >> 32) | (odd & 0xffffffff00000000U);
        }
    }
}

void SlabLayout::unpack(Role role, const TileRange& range, int width, const std::uint64_t* block, std::uint64_t* tile,
                        std::int64_t stride) const {
    const std::uint64_t* packed = block + range.offset;
    if (role != Role::left) {
        for (std::int64_t r = 0; r < kGroupRows; ++r) {
            std::copy_n(packed + r * width, width, tile + r * stride);
        }
        return;
    }
    for (std::int64_t w = 0; w < width; ++w) {
        const std::uint64_t* low = packed + 2 * w * range.stride;
        const std::uint64_t* high = low + range.stride;
        for (std::int64_t pair = 0; pair < kGroupRows / 2; ++pair) {
            tile[2 * pair * stride + w] = (low[pair] & 0xffffffffU) | (high[pair] << 32);
            tile[(2 * pair + 1) * stride + w] = (low[pair] >> 32) | (high[pair] & 0xffffffff00000000U);
        }
    }
}

}  // namespace heptad::bits
