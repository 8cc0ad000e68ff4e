#include "kernels/bits/leaf_layouts.hpp"

#include <algorithm>

#include "kernels/bits/transpose.hpp"

namespace heptad::bits {
namespace {

/// A right operand's block as the instruction wants it, from byte i = row i; and back.
std::uint64_t to_matrix_operand(std::uint64_t block) {
    return __builtin_bswap64(transpose_8x8(block));
}
std::uint64_t from_matrix_operand(std::uint64_t block) {
    return transpose_8x8(__builtin_bswap64(block));
}

/// Where the block in row `r` (0 to 3) and column `c` of a tile lies in the packed tile.
std::int64_t place(Role role, int width, std::int64_t r, std::int64_t c) {
    return role == Role::left ? c * kPanelBlockRows + r : r * 8 * width + c;
}

}  // namespace

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

TileRange BlockLayout::range(Role role, std::int64_t rows, std::int64_t cols, std::int64_t group,
                             std::int64_t tile) const {
    const std::int64_t words = cols / 64;
    const std::int64_t length = std::int64_t{kGroupRows} * width(cols, tile);
    if (role != Role::left) {
        return {tile * kPanelWords * rows + group * length, length, 1, 0};
    }
    return {group * kGroupRows * words + tile * kPanelWords * kGroupRows, length, 1, 0};
}

void BlockLayout::pack(Role role, const TileRange& range, int width, const std::uint64_t* tile, std::int64_t stride,
                       std::uint64_t* block) const {
    std::uint64_t* packed = block + range.offset;
    if (width == kPanelWords && pack_full_ != nullptr) {
        pack_full_(role, tile, stride, packed);
        return;
    }
    for (std::int64_t r = 0; r < kPanelBlockRows; ++r) {
        for (std::int64_t w = 0; w < width; ++w) {
            std::uint64_t square[8];
            for (std::int64_t i = 0; i < 8; ++i) {
                square[i] = tile[(8 * r + i) * stride + w];
            }
            transpose_8x8_bytes(square);
            for (std::int64_t c = 0; c < 8; ++c) {
                packed[place(role, width, r, 8 * w + c)] =
                    role == Role::right ? to_matrix_operand(square[c]) : square[c];
            }
        }
    }
}

void BlockLayout::unpack(Role role, const TileRange& range, int width, const std::uint64_t* block, std::uint64_t* tile,
                         std::int64_t stride) const {
    const std::uint64_t* packed = block + range.offset;
    if (width == kPanelWords && unpack_full_ != nullptr) {
        unpack_full_(role, packed, tile, stride);
        return;
    }
    for (std::int64_t r = 0; r < kPanelBlockRows; ++r) {
        for (std::int64_t w = 0; w < width; ++w) {
            std::uint64_t square[8];
            for (std::int64_t c = 0; c < 8; ++c) {
                const std::uint64_t word = packed[place(role, width, r, 8 * w + c)];
                square[c] = role == Role::right ? from_matrix_operand(word) : word;
            }
            transpose_8x8_bytes(square);
            for (std::int64_t i = 0; i < 8; ++i) {
                tile[(8 * r + i) * stride + w] = square[i];
            }
        }
    }
}

}  // namespace heptad::bits
