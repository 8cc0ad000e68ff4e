// A matrix of packed bits in memory of a device, where leaves may read it: rows on 16-byte boundaries.
#pragma once

#include <algorithm>

#include <heptad/bits.hpp>

#include "base/bit_words.hpp"
#include "base/size.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad {

struct DeviceBits {
    cuda::DeviceMemory memory;
    BitView view;

    DeviceBits(std::int64_t rows, std::int64_t cols, int device, void* stream)
        : memory(device, std::max<std::int64_t>(bytes(rows, cols), 16), stream),
          view{static_cast<std::uint64_t*>(memory.data()), rows, cols, row_words(cols), 0} {}

    static std::int64_t row_words(std::int64_t cols) { return round_up(bits::words_of(cols), 2); }
    static std::int64_t bytes(std::int64_t rows, std::int64_t cols) {
        return checked_mul(8, checked_mul(rows, row_words(cols)));
    }
};

/// Rows of words between host and device, or on the device; both begin at bit 0 of a word.
inline void copy_bit_rows(const ConstBitView& from, const BitView& to, void* stream) {
    cuda::copy_rows(from.words, 8 * from.stride, to.words, 8 * to.stride, 8 * bits::words_of(from.cols), from.rows,
                    stream);
}

}  // namespace heptad
