// 128 bits of a row of a window, read from or written to a matrix that may end before the window does.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/bits/bit_passes.hpp"

namespace heptad::cuda {

__device__ __forceinline__ uint4 operator^(const uint4& x, const uint4& y) {
    return {x.x ^ y.x, x.y ^ y.y, x.z ^ y.z, x.w ^ y.w};
}
/// x ^ (y & mask)
__device__ __forceinline__ uint4 add_masked(const uint4& x, const uint4& y, std::uint32_t mask) {
    return {x.x ^ (y.x & mask), x.y ^ (y.y & mask), x.z ^ (y.z & mask), x.w ^ (y.w & mask)};
}

/// Windows as a kernel sees them.
struct DeviceWindows {
    BitWindows windows;
    std::int64_t whole_words;  // of a row, all of whose bits count
    std::int64_t used_words;   // and with a last one of which `last_mask` counts
    std::uint64_t last_mask;
    bool wide;  // data and rows lie on 16-byte boundaries
};

inline DeviceWindows device_windows(const BitWindows& windows) {
    const std::int64_t bits = windows.cols % 64;
    return {windows, windows.cols / 64, (windows.cols + 63) / 64, (std::uint64_t{1} << bits) - 1,
            reinterpret_cast<std::uintptr_t>(windows.data) % 16 == 0 && windows.row_words % 2 == 0 &&
                windows.block_words % 2 == 0};
}

__device__ __forceinline__ uint4 to_uint4(std::uint64_t low, std::uint64_t high) {
    return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32), static_cast<std::uint32_t>(high),
            static_cast<std::uint32_t>(high >> 32)};
}

/// Words `word` and `word + 1` of a row of a window; `word` is even. `inside`: they are there, on a 16-byte boundary.
template <bool inside>
__device__ __forceinline__ uint4 load_window(const DeviceWindows& w, int window, std::int64_t block, std::int64_t row,
                                             std::int64_t word) {
    row += w.windows.corner[window].row;
    word += w.windows.corner[window].word;
    const std::uint64_t* const from = w.windows.data + block * w.windows.block_words + row * w.windows.row_words + word;
    if (inside || (w.wide && row < w.windows.rows && word + 1 < w.whole_words)) {
        return *reinterpret_cast<const uint4*>(from);
    }
    if (row >= w.windows.rows || word >= w.used_words) {
        return {0, 0, 0, 0};
    }
    const std::uint64_t low = word < w.whole_words ? from[0] : from[0] & w.last_mask;
    const std::uint64_t high = word + 1 < w.whole_words ? from[1] : word + 1 < w.used_words ? from[1] & w.last_mask : 0;
    return to_uint4(low, high);
}

/// Stores what of them is there; bits beyond the last column stay as they are.
template <bool inside>
__device__ __forceinline__ void store_window(const DeviceWindows& w, int window, std::int64_t block, std::int64_t row,
                                             std::int64_t word, const uint4& value) {
    row += w.windows.corner[window].row;
    word += w.windows.corner[window].word;
    std::uint64_t* const to = w.windows.data + block * w.windows.block_words + row * w.windows.row_words + word;
    if (inside || (w.wide && row < w.windows.rows && word + 1 < w.whole_words)) {
        *reinterpret_cast<uint4*>(to) = value;
        return;
    }
    if (row >= w.windows.rows || word >= w.used_words) {
        return;
    }
    // No other thread writes the last word: windows that are stored into lie apart, whole words each.
    const auto put = [&](int i, std::uint64_t bits) {
        to[i] = word + i < w.whole_words ? bits : (to[i] & ~w.last_mask) | (bits & w.last_mask);
    };
    put(0, std::uint64_t{value.x} | std::uint64_t{value.y} << 32);
    if (word + 1 < w.used_words) {
        put(1, std::uint64_t{value.z} | std::uint64_t{value.w} << 32);
    }
}

}  // namespace heptad::cuda
