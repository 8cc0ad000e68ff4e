// Products of packed bit matrices on a device, many of one size at once: what the host half hands to the kernels.
// No CUDA header is needed to include this.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

/// What becomes of the number of common ones of a row of A and a column of B.
enum class BitOperation : std::uint8_t {
    parity,  // its lowest bit: GF(2)
    any,     // whether it is above zero: Boolean
    count,   // itself, in 32 bits
};

/// Equal bit matrices of 64-bit words, one after another. Bit j of a row is bit j % 64 of word j / 64.
struct BitBlocks {
    const std::uint64_t* data = nullptr;
    std::int64_t row_words = 0;    // from one row to the next
    std::int64_t block_words = 0;  // from one matrix to the next
};

/// c[i] = a[i] * b[i] for i < batch; B comes transposed, so that the bits of k lie side by side in both.
/// a and b begin on 16-byte boundaries, and so do their rows and blocks. Bits of a row of `a` beyond k, up to the end
/// of the last word, may be anything; those of `b` are zero. k < 2^31.
struct BitLeafLaunch {
    BitOperation operation = BitOperation::parity;
    std::int64_t m = 0, k = 0, n = 0, batch = 1;
    BitBlocks a, b;
    void* c = nullptr;              // 64-bit words, or 32-bit counts
    std::int64_t c_row_stride = 0;  // in those
    std::int64_t c_block_stride = 0;
    bool accumulate = false;  // ^=, |= or +=
    /// Where Boolean results are added: room for bit_open_tile_words(m, n) words. Parts of C that are all ones already
    /// may then be left alone. Null: everything is computed.
    std::uint64_t* open_tiles = nullptr;
};

/// Enough for the number of every tile of an m x n matrix, however it is cut, and how many there are.
constexpr std::int64_t bit_open_tile_words(std::int64_t m, std::int64_t n) {
    constexpr std::int64_t kLeastRows = 128, kLeastCols = 256;
    return ((m + kLeastRows - 1) / kLeastRows * ((n + kLeastCols - 1) / kLeastCols) + 2) / 2;
}

/// Warpgroup products of binary tensor cores (compute capability 9.0 only).
DeviceStatus launch_bit_leaf_hopper(const BitLeafLaunch& launch, StreamHandle stream);
/// Was it compiled for the current device? Its instructions need the architecture 90a; code for plain 90 has none.
DeviceStatus find_bit_leaf_hopper(bool& compiled);
/// Warp products of binary tensor cores (compute capability 8.0 and above).
DeviceStatus launch_bit_leaf_mma(const BitLeafLaunch& launch, StreamHandle stream);
/// No tensor cores.
DeviceStatus launch_bit_leaf_words(const BitLeafLaunch& launch, StreamHandle stream);

}  // namespace heptad::cuda
